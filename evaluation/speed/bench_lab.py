"""A lab of its own for speed measurements: one 10 Gb/s switch, hosts on it, no cable asleep, no power strip."""

from pathlib import Path

_HOSTS = """\
all:
  vars:
    management_network: 198.18.200.0/24
    data_network: 198.19.0.0/16
  children:
    switches:
      hosts:
        sw1:
          ansible_host: 127.29.1.1
          ansible_user: admin
          password_file: /run/eee-testbed/{name}/secrets/cli_password
          community_file: /run/eee-testbed/{name}/secrets/snmp_write_community
          family: netgear_m4300
          model: M4300-24X
          ports: {{"1/0/[1:24]": 10000}}
    nodes:
      vars: {{ansible_user: lab, rate_mbps: 10000}}
      hosts:
{nodes}
"""
_TRUTH = """\
seed: 1
switches:
  families:
    netgear_m4300:
      latency_us: 0.0
      interruption_s: {10000: 0.1, 1000: 0.1}
      boot_s: 0.2
      power:
        base_watt: 20.0
        port: {up_watt: {10000: 1.0}}
        supply: {capacity_watt: 90.0}
nodes:
  defaults:
    eee_capable: false
    interruption_s: 0.1
    boot_s: 0.1
    power:
      idle_watt: 50.0
      full_watt: 100.0
      nic: {up_watt: {10000: 1.0}}
      supply: {capacity_watt: 460.0}
"""
HOSTS = ("n01", "n02")


def write_bench_lab(folder: Path) -> Path:
    """Write the lab's files below `folder` and return its folder; the switch's latency is 0, as OVS adds none."""
    lab = folder / "speedbench"
    (lab / "twin" / "startup").mkdir(parents=True)
    nodes = "\n".join(
        f'        {name}: {{ansible_host: 198.18.200.{n}, data_address: 198.19.200.{n}, mac: "02:ee:c8:00:00:0{n}"}}'
        for n, name in enumerate(HOSTS, start=1)
    )
    (lab / "hosts.yml").write_text(_HOSTS.format(name=lab.name, nodes=nodes), encoding="utf-8")
    rows = [f"sw1:1/0/{n},{name}:eth0,10000,copper,no" for n, name in enumerate(HOSTS, start=1)]
    (lab / "cables.csv").write_text(
        "end_a,end_b,rate_mbps,kind,switchable\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8"
    )
    (lab / "twin" / "truth.yaml").write_text(_TRUTH, encoding="utf-8")
    (lab / "twin" / "startup" / "sw1.cfg").write_text('configure\nhostname "sw1"\nno spanning-tree\nexit\n')
    return lab
