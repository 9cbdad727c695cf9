"""Switch-tagged multi-tree routing (Koibuchi) on switches of two families, typed in as its authors would.

Three switches in a triangle, each the root of a tree of its own: host ports are untagged members of every tree's VLAN
with their own switch's as PVID, trunks are tagged members of the trees that use them. Frames of a VLAN travel only away
from its root, so with independent learning no destination is ever learned, and unicast floods until static entries end
it.
"""

from collections.abc import Iterator

import eee_engine
import pytest

from tests.support.labs.lab_client import IF_OUT_UCAST, LabClient, Terminal, eventually

TREES = {"sw1": 11, "sw2": 12, "sw5": 15}
TRUNKS = {
    "sw1": {"gi1/0/11": "11,12", "gi1/0/17": "11,15"},
    "sw2": {"gi1/0/11": "11,12", "gi1/0/17": "12,15"},
    "sw5": {"1/0/11": "11,15", "1/0/13": "12,15"},
}
# idle hosts, which receive no unicast frames, and the ports that they are cabled to
IDLE = {"n02": ("sw1", "gi1/0/2"), "n04": ("sw2", "gi1/0/2"), "n10": ("sw5", "1/0/2")}
PAIRS = (("n01", "n03"), ("n03", "n09"), ("n09", "n01"))
ECHOES = 20


def _dell(terminal: Terminal, vid: int, trunks: dict[str, str]) -> None:
    terminal.configure("vlan database", "vlan 11,12,15", "exit")
    for port, vids in trunks.items():
        terminal.configure(
            f"interface {port}", "switchport mode general", f"switchport general allowed vlan add {vids} tagged",
            "switchport forbidden default-vlan", "switchport general acceptable-frame-type tagged-only",
        )  # fmt: skip
    terminal.configure(
        "interface range gi1/0/1-2", "switchport mode general",
        "switchport general allowed vlan add 11,12,15 untagged", f"switchport general pvid {vid}",
    )  # fmt: skip


def _netgear(terminal: Terminal, vid: int, trunks: dict[str, str]) -> None:
    for line in ("vlan database", "vlan 11,12,15", "exit"):
        assert terminal.type(line) == ""
    for port, vids in trunks.items():
        terminal.configure(
            f"interface {port}", "switchport mode general", f"vlan participation include {vids}",
            f"vlan tagging {vids}", "vlan participation exclude 1", "vlan acceptframe vlanonly", "vlan ingressfilter",
        )  # fmt: skip
    terminal.configure(
        "interface 1/0/1-1/0/2", "switchport mode general", "vlan participation include 11,12,15", f"vlan pvid {vid}"
    )


@pytest.fixture(scope="module")
def terminals(lab: LabClient) -> Iterator[dict[str, Terminal]]:
    """The trees as configured; the switches are reset afterwards."""
    opened = {switch: lab.terminal(switch) for switch in TREES}
    try:
        for switch, vid in TREES.items():
            (_netgear if switch == "sw5" else _dell)(opened[switch], vid, TRUNKS[switch])
        # The third side of the triangle was shut; in VLAN 1 it would close a loop.
        opened["sw2"].configure("interface gi1/0/17", "no shutdown")
        opened["sw5"].configure("interface 1/0/13", "no shutdown")
        lab.await_link("sw5:1/0/13", "up")
        yield opened
    finally:
        for terminal in opened.values():
            terminal.close()
        lab.reboot(*TREES)


def _flooded(lab: LabClient) -> dict[str, int]:
    """Number of unicast frames that reached each idle host while others talked."""

    def sent() -> dict[str, int]:
        found = {}
        for host, (switch, port) in IDLE.items():
            found[host] = int(lab.get(switch, f"{IF_OUT_UCAST}.{lab.if_index(switch, port)}"))
        return found

    before = sent()
    for a, b in PAIRS:
        assert " 0% packet loss" in lab.ssh(a, f"ping -q -n -c {ECHOES} -i 0.01 {b}").stdout
    return {host: count - before[host] for host, count in sent().items()}


def _static(lab: LabClient, terminals: dict[str, Terminal]) -> None:
    """Where each talking host is, in the two VLANs in which frames for it travel."""
    home = {"n01": "sw1", "n03": "sw2", "n09": "sw5"}
    port = {"n01": "gi1/0/1", "n03": "gi1/0/1", "n09": "1/0/1"}
    towards = {
        ("sw1", "sw2"): "gi1/0/11", ("sw1", "sw5"): "gi1/0/17", ("sw2", "sw1"): "gi1/0/11",
        ("sw2", "sw5"): "gi1/0/17", ("sw5", "sw1"): "1/0/11", ("sw5", "sw2"): "1/0/13",
    }  # fmt: skip
    # A packet from host a leaves a's switch in its tree, and at b's switch it is still in that tree.
    for a, b in [(a, b) for a in home for b in home if a != b]:
        vid, mac = TREES[home[a]], lab.mac(b)
        for switch, out in ((home[a], towards[home[a], home[b]]), (home[b], port[b])):
            if switch != "sw5":
                terminals[switch].configure(f"mac address-table static {mac} vlan {vid} interface {out} permanent")
            else:
                terminals[switch].configure(
                    f"interface {out}", "port-security", "port-security max-static 8",
                    f"port-security mac-address {mac} {vid}",
                )  # fmt: skip
    # Only while port security is on does an M4300 hold to its static addresses.
    terminals["sw5"].configure("port-security")


def test_an_idle_host_hears_the_flood(lab: LabClient, terminals: dict[str, Terminal]) -> None:
    assert terminals
    lab.await_ping("n01", "n03")
    source, target = lab.address("n01"), lab.address("n03")
    heard = "cd /tmp; timeout 20 tcpdump -nn -i eth0 -c 5 --immediate-mode -w heard.pcap "
    lab.ssh("n04", f"{heard} 'icmp and src {source} and dst {target}' >/dev/null 2>&1 & echo started", root=True)

    def heard_enough() -> bool:
        lab.ssh("n01", "ping -q -n -c 5 -i 0.01 n03")
        return lab.ssh("n04", "tcpdump -nn -r /tmp/heard.pcap 2>/dev/null | wc -l", root=True).stdout.strip() == "5"

    eventually("five echoes for another host were heard", heard_enough, patience_s=20)


def test_unicast_floods_only_without_static_entries(lab: LabClient, terminals: dict[str, Terminal]) -> None:
    for a, b in PAIRS:
        lab.await_ping(a, b)
    # Six directions of ECHOES frames each pass every idle host.
    flooded = _flooded(lab)
    assert all(count >= 4 * ECHOES for count in flooded.values()), flooded
    table = terminals["sw2"].type("show mac address-table vlan 11")
    assert lab.mac("n01") in table.lower()
    assert lab.mac("n03") not in table.lower()  # independent learning: it speaks in VLAN 12
    with lab.watching("sw1:gi1/0/11") as trunk:
        lab.ssh("n01", "ping -q -n -c 3 n03")
    _static(lab, terminals)
    quiet = _flooded(lab)
    assert quiet == dict.fromkeys(IDLE, 0)
    # There and back are in different trees.
    assert trunk.seen("vlan 11", f"{lab.address('n01')} > {lab.address('n03')}: ICMP echo request")
    assert trunk.seen("vlan 12", f"{lab.address('n03')} > {lab.address('n01')}: ICMP echo reply")


@pytest.mark.parametrize("shared", [False, True])
def test_shared_learning_needs_no_static_entries(shared: bool) -> None:  # noqa: FBT001
    """No family offers it, so the engine shows it: one switch, two hosts in a VLAN each, a third that listens."""
    engine = eee_engine.VirtualEngine(seed=1)
    switch = engine.add_switch(
        "sw", phys=["1000BASE-T"] * 3, port_names=["1", "2", "3"], base_mac=bytes(5) + b"\x10", shared_learning=shared
    )
    macs = [bytes([2, 0, 0, 0, 0, number]) for number in (1, 2, 3)]
    nics = [engine.add_host(f"h{number}", mac=mac) for number, mac in enumerate(macs)]
    for nic, port in zip(nics, switch["ports"], strict=True):
        engine.connect(nic, port)
    for vid in (11, 12):
        engine.set_vlan(switch["switch"], vid, members=switch["ports"], untagged=switch["ports"])
    for port, vid in zip(switch["ports"], (11, 12, 11), strict=True):
        engine.set_port_vlan(port, pvid=vid)
    second_ps = 10**12
    engine.run_until(10 * second_ps)

    def frame(source: int, target: int) -> bytes:
        return macs[target] + macs[source] + b"\x08\x00" + bytes(50)

    engine.send(nics[1], 11 * second_ps, frame(1, 0))
    engine.send(nics[0], 12 * second_ps, frame(0, 1))
    engine.run_until(13 * second_ps)
    engine.send(nics[1], 14 * second_ps, frame(1, 0))
    engine.send(nics[0], 15 * second_ps, frame(0, 1))
    met = [nic for nic, _, _ in engine.run_until(16 * second_ps)]
    idle = [] if shared else [nics[2]] * 2
    assert sorted(met) == sorted([nics[0], nics[1], *idle])
