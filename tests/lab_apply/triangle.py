"""A lab with addresses of its own: three switches of two families, two cables between each two, two hosts at each."""

import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]

_TRUNKS = ((1, 2, (5, 6)), (2, 3, (7, 8)), (1, 3, (9, 10)))
"""Switch, switch, ports at both ends."""

_DELL = {
    "family": "dell_powerconnect_55xx",
    "model": "PowerConnect 5524",
    "ports": '{"gi1/0/[1:24]": 1000, "te1/0/[1:2]": 10000}',
}
_NETGEAR = {"family": "netgear_m4300", "model": "M4300-28G", "ports": '{"1/0/[1:24]": 1000, "1/0/[25:28]": 10000}'}
_SWITCHES = {"sw1": _DELL, "sw2": _NETGEAR, "sw3": _DELL}


def port(switch: str, number: int) -> str:
    """An end as cables.csv writes it."""
    return f"{switch}:{'' if _SWITCHES[switch] is _NETGEAR else 'gi'}1/0/{number}"


def write_lab(parent: Path, number: int) -> Path:
    """Write the folder of a lab in 198.18.`number`.0/24; its switches have a name, and else the factory's settings."""
    name = f"apply{number}"
    folder = parent / name
    (folder / "twin" / "startup").mkdir(parents=True)
    secrets = f"/run/eee-testbed/{name}/secrets"
    switches = "".join(
        f"        {switch}: {{ansible_host: 127.{number}.1.{n}, family: {kind['family']}, model: {kind['model']}, "
        f"ports: {kind['ports']}}}\n"
        for n, (switch, kind) in enumerate(_SWITCHES.items(), 1)
    )
    hosts = "".join(
        f"        n0{n}: {{ansible_host: 198.18.{number}.{n}, data_address: 198.19.{number}.{n}, "
        f'mac: "02:ee:{number:02x}:00:00:0{n}"}}\n'
        for n in range(1, 7)
    )
    (folder / "hosts.yml").write_text(
        f"""all:
  vars:
    management_network: 198.18.{number}.0/24
    data_network: 198.19.0.0/16
  children:
    switches:
      vars:
        password_file: {secrets}/cli_password
        community_file: {secrets}/snmp_write_community
        known_hosts_file: /run/eee-testbed/{name}/known_hosts
      hosts:
{switches}    nodes:
      vars:
        ansible_user: lab
        ansible_ssh_common_args: -F /run/eee-testbed/{name}/ssh_config
      hosts:
{hosts}""",
        encoding="utf-8",
    )
    rows = [f"{port(f'sw{1 + n // 2}', 1 + n % 2)},n0{n + 1}:eth0,1000,copper,no" for n in range(6)]
    rows += [f"{port(f'sw{a}', p)},{port(f'sw{b}', p)},1000,copper,yes" for a, b, ports in _TRUNKS for p in ports]
    head = "end_a,end_b,rate_mbps,kind,switchable\n"
    (folder / "cables.csv").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "twin" / "truth.yaml").write_text(_hasty_truth(), encoding="utf-8")
    for switch, kind in _SWITCHES.items():
        text = f'configure\nhostname "{switch}"\nexit\n' if kind is _NETGEAR else f"hostname {switch}\n"
        (folder / "twin" / "startup" / f"{switch}.cfg").write_text(text, encoding="utf-8")
    return folder


def _hasty_truth() -> str:
    """The virtual lab's truth, with switches that boot, and links that come up, as fast as a test would like."""
    truth = (_ROOT / "inventory" / "virtual" / "twin" / "truth.yaml").read_text(encoding="utf-8")
    kept = [line for line in truth.splitlines() if "sw4:" not in line and line.strip() != "overrides:"]
    hasty = re.sub(r"boot_s: [\d.]+", "boot_s: 2.0", "\n".join(kept))
    hasty = re.sub(r"interruption_s: \{.*\}", "interruption_s: {10: 0.3, 100: 0.3, 1000: 0.4, 10000: 0.4}", hasty)
    return re.sub(r"interruption_s: [\d.]+", "interruption_s: 0.3", hasty) + "\n"
