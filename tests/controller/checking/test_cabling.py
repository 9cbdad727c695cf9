"""Cables against what switches see, on a lab of two switches and two nodes."""

from dataclasses import replace

import pytest

from eee_testbed.controller.checking.cabling import (
    FDB_PORT,
    FDB_STATUS,
    LLDP_CHASSIS,
    LLDP_NAME,
    LLDP_OWN_CHASSIS,
    LLDP_OWN_PORT,
    LLDP_PORT,
    compare,
    read_sight,
    unlisted,
    without_link,
)
from eee_testbed.controller.checking.neighbours import Sight
from eee_testbed.controller.drivers.driver import Answers, SnmpValue
from eee_testbed.controller.drivers.lldp_shows import Neighbour
from eee_testbed.controller.drivers.places import (
    BASE_PORT_IF_INDEX,
    IF_ADMIN_STATUS,
    IF_ALIAS,
    IF_DESCR,
    IF_NAME,
    IF_OPER_STATUS,
)
from eee_testbed.lab.model import End, Host, Lab, Link, Port, Switch

_PORTS = ("p1", "p2", "p3", "p4")
_MACS = {name: bytes.fromhex(f"02ee0000000{n}") for n, name in enumerate(("n1", "n2"), 1)}


def _switch(name: str) -> Switch:
    ports = tuple(Port(name, port, n, 1000) for n, port in enumerate(_PORTS, 1))
    return Switch(name, "cisco_sg", "SG", "192.0.2.1", 22, 161, "admin", "", "", ports)


def _host(name: str) -> Host:
    return Host(name, "lab", "192.0.2.9", 22, "198.51.100.9", _MACS[name], "eth0", 1000, 1500)


_ENDS = (("s1", "p1", "n1", "eth0"), ("s2", "p1", "n2", "eth0"), ("s1", "p3", "s2", "p3"))
_LAB = Lab(
    name="two",
    folder="/",
    management_network="192.0.2.0/24",
    data_network="198.51.100.0/24",
    switches=(_switch("s1"), _switch("s2")),
    hosts=(_host("n1"), _host("n2")),
    links=tuple(Link(n, End(a, p), End(b, q), 1000, "copper", True) for n, (a, p, b, q) in enumerate(_ENDS, 1)),
    strips=(),
    outlets=(),
)


def _answers(
    *,
    up: tuple[str, ...] = ("p1", "p3"),
    learned: dict[str, str] | None = None,
    neighbours: dict[str, tuple[bytes, bytes, bytes]] | None = None,
    chassis: bytes = b"",
    status: int = 3,
) -> Answers:
    """Answers of a switch whose bridge ports 1-4 are interfaces 11-14, and whose LLDP ports are numbered 1-4."""
    index = {port: n for n, port in enumerate(_PORTS, 1)}
    fdb = {f"1.{'.'.join(map(str, _MACS[host]))}": index[port] for host, port in (learned or {}).items()}
    heard = {f"0.{index[port]}.1": neighbour for port, neighbour in (neighbours or {}).items()}
    columns: dict[object, dict[str, SnmpValue]] = {
        BASE_PORT_IF_INDEX: {str(n): 10 + n for n in index.values()},
        IF_NAME: {str(10 + n): port.encode() for port, n in index.items()},
        IF_DESCR: {},
        IF_ALIAS: {},
        IF_ADMIN_STATUS: {str(10 + n): 2 if port == "p4" else 1 for port, n in index.items()},
        IF_OPER_STATUS: {str(10 + n): 1 if port in up else 2 for port, n in index.items()},
        FDB_PORT: dict(fdb),
        FDB_STATUS: dict.fromkeys(fdb, status),
        LLDP_OWN_CHASSIS: {"0": chassis} if chassis else {},
        LLDP_OWN_PORT: {str(n): port.encode() for port, n in index.items()} if chassis else {},
        LLDP_CHASSIS: {at: neighbour[0] for at, neighbour in heard.items()},
        LLDP_PORT: {at: neighbour[1] for at, neighbour in heard.items()},
        LLDP_NAME: {at: neighbour[2] for at, neighbour in heard.items()},
    }
    return columns  # type: ignore[return-value]


def _sights(s1: Answers, s2: Answers) -> dict[str, Sight]:
    return {"s1": read_sight(_switch("s1"), s1), "s2": read_sight(_switch("s2"), s2)}


def _found(sights: dict[str, Sight]) -> list[tuple[str, str, str]]:
    return [(verdict.finding, verdict.witness, verdict.sentence) for verdict in compare(_LAB, sights)]


def test_correct_cabling_is_confirmed_with_its_source() -> None:
    s1 = _answers(learned={"n1": "p1", "n2": "p3"}, neighbours={"p3": (b"\2\2", b"p3", b"")}, chassis=b"\1\1")
    s2 = _answers(learned={"n2": "p1", "n1": "p3"}, chassis=b"\2\2")
    assert _found(_sights(s1, s2)) == [
        ("confirmed", "address", ""),
        ("confirmed", "address", ""),
        ("confirmed", "lldp", ""),
    ]


def test_a_port_is_the_same_in_any_spelling() -> None:
    """Neighbours of tables go by the switch's own spelling, and their port IDs by that of the neighbour."""
    spelled = {"P3": Neighbour(b"\2\2", b"P3", "")}
    ports = _answers(chassis=b"\2\2")
    right = {"s1": read_sight(_switch("s1"), _answers(), spelled), "s2": read_sight(_switch("s2"), ports)}
    assert _found(right)[2] == ("confirmed", "lldp", "")
    other = {"P3": Neighbour(b"\2\2", b"P2", "")}
    wrong = {**right, "s1": read_sight(_switch("s1"), _answers(), other)}
    assert _found(wrong)[2] == ("wrong", "lldp", "s1:p3 is plugged into s2:p2 (LLDP), not into s2:p3")


def test_silence_is_not_a_fault() -> None:
    assert _found(_sights(_answers(), _answers())) == [("unseen", "", "")] * 3
    assert _found({}) == [("unseen", "", "")] * 3


def test_enabled_ports_of_cables_without_link_are_named() -> None:
    sights = _sights(_answers(up=()), _answers(up=("p3",)))
    assert [str(end) for end in without_link(_LAB, sights)] == ["s1:p1", "s2:p1", "s1:p3"]
    assert not without_link(_LAB, _sights(_answers(), _answers()))


@pytest.mark.parametrize("place", ["p2", "p4"])
def test_a_node_heard_at_another_edge_port_is_in_the_wrong_place(place: str) -> None:
    found = _found(_sights(_answers(), _answers(learned={"n1": place})))
    assert found[0] == ("wrong", "address", f"n1 was seen at s2:{place}, not at s1:p1")


def test_a_node_heard_between_switches_says_nothing() -> None:
    assert _found(_sights(_answers(learned={"n1": "p3"}), _answers(learned={"n1": "p3"})))[0][0] == "unseen"


def test_static_entries_do_not_locate_a_node() -> None:
    assert _found(_sights(_answers(learned={"n1": "p1"}, status=5), _answers()))[0][0] == "unseen"


@pytest.mark.parametrize(
    ("neighbour", "where"),
    [
        ((b"\2\2", b"p2", b""), "s2:p2"),
        ((b"\1\1", b"p3", b""), "s1:p3"),
        ((b"\1\1", b"?", b""), "s1:?"),
    ],
)
def test_lldp_names_the_port_that_a_cable_is_in(neighbour: tuple[bytes, bytes, bytes], where: str) -> None:
    s1 = _answers(neighbours={"p3": neighbour}, chassis=b"\1\1")
    found = _found(_sights(s1, _answers(chassis=b"\2\2")))[2]
    assert found == ("wrong", "lldp", f"s1:p3 is plugged into {where} (LLDP), not into s2:p3")


def test_lldp_by_system_name_is_enough_where_the_chassis_is_unknown() -> None:
    s1 = _answers(neighbours={"p3": (b"\7", b"Ethernet 3", b"s2")}, chassis=b"\1\1")
    assert _found(_sights(s1, _answers()))[2] == ("confirmed", "lldp", "")


@pytest.mark.parametrize(
    "neighbour",
    [(_MACS["n1"], b"eth0", b""), (b"\7", b"02:ee:00:00:00:01", b"localhost"), (b"\7", b"eth0", b"n1.example.org")],
)
def test_a_node_is_known_by_its_address_or_its_name(neighbour: tuple[bytes, bytes, bytes]) -> None:
    hears = _answers(neighbours={"p1": neighbour}, chassis=b"\1\1")
    assert _found(_sights(hears, _answers()))[0] == ("confirmed", "lldp", "")
    found = _found(_sights(_answers(), hears))[1]
    assert found == ("wrong", "lldp", "s2:p1 is plugged into n1:eth0 (LLDP), not into n2:eth0")


def test_a_node_that_speaks_lldp_under_a_name_of_its_own_says_nothing_about_its_cable() -> None:
    s1 = _answers(neighbours={"p1": (b"\7", b"eth0", b"compute-17")}, chassis=b"\1\1")
    assert _found(_sights(s1, _answers()))[0][0] == "unseen"


def test_link_at_one_end_only_is_wrong_unless_the_other_is_shut() -> None:
    found = _found(_sights(_answers(up=("p3",)), _answers(up=())))
    assert found[2] == ("wrong", "link", "s1:p3--s2:p3 has link at one end only")
    shut = {End("s2", "p3"): End("s2", "p4")}
    lab = replace(_LAB, links=tuple(replace(link, b=shut.get(link.b, link.b)) for link in _LAB.links))
    assert compare(lab, _sights(_answers(up=("p3",)), _answers(up=())))[2].finding == "unseen"


def test_unlisted_ports_with_link_are_named() -> None:
    assert unlisted(_LAB, _sights(_answers(up=("p1", "p2", "p3")), _answers())) == (End("s1", "p2"),)


_STRAY = (b"\2\0\0\0\0\x63", b"port-001", b"stray")
_S2 = (b"s2", b"p3", b"s2.example.org")


@pytest.mark.parametrize("order", [(_S2, _STRAY), (_STRAY, _S2)])
def test_a_port_with_two_neighbours_neither_confirms_nor_refutes_its_cable(
    order: tuple[tuple[bytes, bytes, bytes], ...],
) -> None:
    """Whichever comes last; both are named. That the other end hears s1 alone does not prove the cable either."""
    answers = dict(_answers(chassis=b"s1"))
    for column, field in ((LLDP_CHASSIS, 0), (LLDP_PORT, 1), (LLDP_NAME, 2)):
        answers[column] = {f"{7 * n}.3.{n}": neighbour[field] for n, neighbour in enumerate(order, 1)}
    other = _answers(chassis=b"s2", neighbours={"p3": (b"s1", b"p3", b"s1")})
    sights = {"s1": read_sight(_LAB.switches[0], answers), "s2": read_sight(_LAB.switches[1], other)}
    verdict = compare(_LAB, sights)[2]
    assert (verdict.finding, verdict.witness) == ("unclear", "lldp")
    assert "s1:p3 hears s2:p3 and stray:port-001 (LLDP)" in verdict.sentence


def test_two_neighbours_that_are_both_another_device_refute_a_cable() -> None:
    answers = dict(_answers(chassis=b"s1"))
    known = (b"n1", _MACS["n1"], b"n1"), (b"n2", _MACS["n2"], b"n2")
    for column, field in ((LLDP_CHASSIS, 0), (LLDP_PORT, 1), (LLDP_NAME, 2)):
        answers[column] = {f"0.3.{n}": neighbour[field] for n, neighbour in enumerate(known, 1)}
    verdict = compare(_LAB, {"s1": read_sight(_LAB.switches[0], answers)})[2]
    assert verdict.finding == "wrong"
    assert "s1:p3 hears n1:eth0 and n2:eth0 (LLDP), not s2:p3" in verdict.sentence


def test_one_neighbour_that_is_listed_twice_is_one() -> None:
    answers = dict(_answers(chassis=b"s1"))
    for column, field in ((LLDP_CHASSIS, 0), (LLDP_PORT, 1), (LLDP_NAME, 2)):
        answers[column] = {f"0.3.{n}": _S2[field] for n in (1, 2)}
    other = _answers(chassis=b"s2")
    sights = {"s1": read_sight(_LAB.switches[0], answers), "s2": read_sight(_LAB.switches[1], other)}
    assert compare(_LAB, sights)[2].finding == "confirmed"
