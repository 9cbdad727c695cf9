"""ping, iperf3 and tcpdump on the data network."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from tests.support.labs.lab_client import PATIENCE_S, LabClient, eeectl


def test_all_pairs_reach_each_other(lab: LabClient) -> None:
    def unreached_from(host: str) -> list[str]:
        others = " ".join(other for other in lab.hosts if other != host)
        loop = f"for other in {others}; do ping -q -n -c 1 -W 5 $other >/dev/null || echo $other; done"
        return [f"{host} to {other}" for other in lab.ssh(host, loop).stdout.split()]

    with ThreadPoolExecutor(4) as pool:
        assert list(chain.from_iterable(pool.map(unreached_from, lab.hosts))) == []


def test_tcp_flows_at_no_more_than_the_links_rate(lab: LabClient) -> None:
    server = subprocess.Popen(
        ["ssh", "-F", str(lab.config), "n12", "iperf3 --server --one-off --forceflush"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        while "listening" not in server.stdout.readline():
            assert server.poll() is None, "iperf3's server has ended"
        shown = json.loads(lab.ssh("n01", "iperf3 --client n12 --time 2 --json").stdout)
        server.stdout.read()
        assert server.wait(PATIENCE_S) == 0
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    received_bps = shown["end"]["sum_received"]["bits_per_second"]
    # 1448 of 1538 bytes are payload. That something arrives depends on the machine, that no more does on the model.
    assert 1e6 < received_bps < 1e9 * 1448 / 1538 * 1.02


def test_status_is_what_the_command_prints(lab: LabClient) -> None:
    printed, asked = json.loads(eeectl("lab", "status", lab.name, "--json").stdout), lab.status()
    assert printed.keys() == asked.keys()
    assert printed["links"] == asked["links"]


def test_no_frame_is_unaccounted_for(lab: LabClient) -> None:
    lab.ssh("n02", "ping -q -n -c 100 -i 0.005 n11")
    frames = lab.status()["engine"]["frames"]
    assert frames["delivered"] > 0
    came = frames["offered"] + frames["copies"]
    assert came == frames["delivered"] + frames["consumed"] + frames["dropped"] + frames["in_flight"]


def test_tags_on_the_trunk_and_none_at_the_hosts(lab: LabClient) -> None:
    """VLAN 30 joins a host of a PowerConnect and one of an M4300 over a tagged link, without their neighbours."""
    with lab.terminal("sw1") as dell, lab.terminal("sw5") as netgear:
        dell.configure("vlan database", "vlan 30", "exit",
                       "interface gi1/0/1", "switchport access vlan 30", "exit",
                       "interface gi1/0/17", "switchport mode trunk",
                       "switchport trunk allowed vlan add 30")  # fmt: skip
        netgear.type("vlan database")
        assert netgear.type("vlan 30") == ""
        netgear.type("exit")
        netgear.configure("interface 1/0/1", "switchport mode access", "switchport access vlan 30", "exit",
                          "interface 1/0/11", "switchport mode trunk",
                          "switchport trunk allowed vlan all")  # fmt: skip
        try:
            with lab.watching("sw1:gi1/0/17") as trunk, lab.watching("n09") as cable:
                lab.await_ping("n01", "n09")
                lab.await_ping("n02", "n10")
                assert not lab.reaches("n01", "n02")
                assert not lab.reaches("n09", "n10")
                assert not lab.reaches("n02", "n09")
        finally:
            dell.configure("interface gi1/0/1", "no switchport access vlan", "exit",
                           "interface gi1/0/17", "no switchport mode", "exit",
                           "vlan database", "no vlan 30")  # fmt: skip
            netgear.configure("interface 1/0/1", "no switchport access vlan", "no switchport mode", "exit",
                              "interface 1/0/11", "no switchport mode")  # fmt: skip
            netgear.type("vlan database")
            netgear.type("no vlan 30")
            netgear.type("exit")
    ours = trunk.seen("vlan 30", f"{lab.address('n01')} > {lab.address('n09')}: ICMP echo request")
    assert ours
    assert all("802.1Q" in line for line in ours)
    assert trunk.seen("vlan 30", f"{lab.address('n09')} > {lab.address('n01')}: ICMP echo reply")
    plain = trunk.seen(f"{lab.address('n02')} > {lab.address('n10')}: ICMP echo request")
    assert plain
    assert not any("802.1Q" in line for line in plain)
    at_host = cable.seen(f"{lab.address('n01')} > {lab.address('n09')}: ICMP echo request")
    assert at_host
    assert not any("802.1Q" in line for line in at_host)
    lab.await_ping("n01", "n10")
