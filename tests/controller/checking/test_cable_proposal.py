"""Cables proposed from what switches see: never a wrong one, and all of them where everybody announces itself."""

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.checking.cable_proposal import Proposal, cables_csv, propose
from eee_testbed.controller.checking.neighbours import Sight
from eee_testbed.controller.drivers.lldp_shows import Neighbour, by_port
from eee_testbed.lab.cables import read_cables
from eee_testbed.lab.model import End, Host, Lab, Port, Switch

if TYPE_CHECKING:
    from eee_testbed.lab.errors import Problem

_SWITCHES = ("s1", "s2", "s3")
_HOSTS = ("n1", "n2", "n3", "n4")
_PORTS = tuple(f"p{n}" for n in range(1, 7))


def _mac(host: str) -> bytes:
    return bytes.fromhex(f"02ee0000000{host[1:]}")


def _lab() -> Lab:
    switches = tuple(
        Switch(
            name, "cisco_sg", "SG", f"192.0.2.{n}", 22, 161, "admin", "", "",
            tuple(Port(name, port, at, 10_000 if at > 4 else 1000) for at, port in enumerate(_PORTS, 1)),
        )
        for n, name in enumerate(_SWITCHES, 1)
    )  # fmt: skip
    hosts = tuple(Host(name, "lab", "", 22, "", _mac(name), "eth0", 1000, 1500) for name in _HOSTS)
    return Lab("rack", "/", "192.0.2.0/24", "198.51.100.0/24", switches, hosts, (), (), ())


LAB = _lab()
_STRANGER = Neighbour(b"\x07", b"eth7", 'a "printer"')


@dataclass(frozen=True)
class Rack:
    """True cables, the ends that announce nothing, and the hosts whose address was learned."""

    cables: tuple[tuple[End, End], ...]
    mute: frozenset[End]
    learned: frozenset[str]

    def sights(self) -> dict[str, Sight]:
        there = {end: other for a, b in self.cables for end, other in ((a, b), (b, a))}
        found = {}
        for switch in _SWITCHES:
            ports = {end.port: other for end, other in there.items() if end.device == switch}
            learned: dict[bytes, frozenset[str]] = {}
            for host in self.learned:
                learned[_mac(host)] = frozenset(self._towards(switch, host, ports))
            found[switch] = Sight(
                link={port: port in ports for port in _PORTS},
                learned=learned,
                neighbours={port: _announced(other) for port, other in ports.items() if other not in self.mute},
                chassis=switch.encode(),
                port_ids={port.encode(): port for port in _PORTS},
            )
        return found

    def _towards(self, switch: str, host: str, ports: dict[str, End]) -> set[str]:
        """The host's own port, and as on a bridge that was flooded, every port to another switch."""
        own = {port for port, other in ports.items() if other.device == host}
        return own or {port for port, other in ports.items() if other.device in _SWITCHES and other.device != switch}


def _announced(end: End) -> Neighbour:
    if end.device in _SWITCHES:
        return Neighbour(end.device.encode(), end.port.encode(), "")
    return Neighbour(_mac(end.device), _mac(end.device), end.device)


@st.composite
def racks(draw: st.DrawFn) -> Rack:
    ends = draw(st.permutations([End(switch, port) for switch in _SWITCHES for port in _PORTS]))
    free = list(ends)
    plugged = draw(st.lists(st.sampled_from(_HOSTS), unique=True))
    cables = [(free.pop(), End(host, "eth0")) for host in plugged]
    for _ in range(draw(st.integers(0, 5))):
        a = free.pop()
        other = next((end for end in free if end.device != a.device), None)
        if other is not None:
            free.remove(other)
            cables.append((a, other))
    used = [end for cable in cables for end in cable]
    mute = draw(st.frozensets(st.sampled_from(used))) if used else frozenset()
    learned = draw(st.frozensets(st.sampled_from(plugged))) if plugged else frozenset()
    return Rack(tuple(cables), mute, learned)


def _pairs(proposal: Proposal) -> set[frozenset[End]]:
    return {frozenset((cable.a, cable.b)) for cable in proposal.cables}


@given(racks())
def test_nothing_is_proposed_that_is_not_there(rack: Rack) -> None:
    true = {frozenset(cable) for cable in rack.cables}
    proposal = propose(LAB, rack.sights())
    assert _pairs(proposal) <= true
    ways = [(end, other) for a, b in rack.cables for end, other in ((a, b), (b, a))]
    heard = {frozenset(way) for way in ways if way[0].device in _SWITCHES and way[1] not in rack.mute}
    assert heard <= _pairs(proposal)


@given(racks())
def test_every_end_with_link_is_in_a_cable_or_has_a_remark(rack: Rack) -> None:
    proposal = propose(LAB, rack.sights())
    said = {remark.where for remark in proposal.remarks}
    for end in {end for cable in rack.cables for end in cable} | {End(host, "eth0") for host in _HOSTS}:
        assert (str(end) in said) is not any(end in (cable.a, cable.b) for cable in proposal.cables)


@given(racks())
def test_what_is_written_is_a_table_that_a_lab_reads(rack: Rack) -> None:
    proposal = propose(LAB, rack.sights())
    problems: list[Problem] = []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "cables.csv"
        file.write_text(cables_csv(LAB, proposal), encoding="utf-8")
        rows = read_cables(file, problems)
    assert not problems
    assert [(row.end_a, row.end_b, row.rate_mbps) for row in rows] == [
        (str(cable.a), str(cable.b), cable.rate_mbps) for cable in proposal.cables
    ]


def test_a_port_that_hears_whom_others_agree_with_is_in_doubt() -> None:
    s1, s2 = End("s1", "p1"), End("s2", "p1")
    sights = Rack(((s1, s2),), frozenset(), frozenset()).sights()
    deceived = replace(sights["s3"], neighbours={"p2": _announced(s2)}, link={"p2": True})
    proposal = propose(LAB, sights | {"s3": deceived})
    assert _pairs(proposal) == {frozenset((s1, s2))}
    said = {remark.where: remark.sentence for remark in proposal.remarks}
    assert said["s3:p2"] == "hears s2:p1, which is in doubt: s1:p1 hears it too, it hears s1:p1"
    host = replace(sights["s1"], neighbours={"p5": _announced(End("n1", "eth0"))}, link={"p5": True})
    twice = propose(LAB, {"s1": host, "s3": host})
    assert twice.cables == ()
    assert "s1:p5 hears it too" in {remark.where: remark.sentence for remark in twice.remarks}["s3:p5"]


def test_a_port_that_hears_several_neighbours_proves_no_cable() -> None:
    """An unmanaged switch or a media converter passes LLDP on: s1 hears s2 and a stranger, s2 hears s1 alone."""
    s1, s2 = End("s1", "p1"), End("s2", "p1")
    sights = Rack(((s1, s2),), frozenset(), frozenset()).sights()
    both = by_port([("p1", _announced(s2)), ("p1", _STRANGER)])
    proposal = propose(LAB, sights | {"s1": replace(sights["s1"], neighbours=both)})
    assert proposal.cables == ()
    said = {remark.where: remark.sentence for remark in proposal.remarks}
    assert said["s1:p1"].startswith("hears several neighbours")
    assert "eth7" in said["s1:p1"]
    assert said["s2:p1"] == "hears s1:p1, which hears several neighbours"


def test_what_was_seen_and_not_understood_is_a_line_with_a_question_mark() -> None:
    stranger = Sight({"p1": True, "p2": True}, {b"\2\0\0\0\0\1": frozenset({"p2"})}, {"p1": _STRANGER}, b"s1", {})
    text = cables_csv(LAB, propose(LAB, {"s1": stranger}))
    assert "# ? s1:p1 hears a 'printer', port eth7, which hosts.yml does not list\n" in text
    assert "# ? s1:p2 has a link, but no LLDP neighbour; behind it 02:00:00:00:00:01\n" in text
    assert "# ? s1 nothing can be seen of shut ports: p3, p4, p5, p6\n" in text
    assert "# ? s2 was not asked\n" in text
    assert "# ? n1:eth0 no switch sees it\n" in text
