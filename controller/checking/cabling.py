"""Compare the cables of the inventory with what switches see of their neighbours. Pure.

Three sources of evidence, the most reliable first. LLDP names the neighbour's port (LLDP-MIB, IEEE 802.1AB, or a table
of the command line, `controller.drivers.lldp_shows`). The FDB has a node's MAC address at the port where the node is
plugged in (Q-BRIDGE-MIB, dot1qTpFdbTable). A cable with link at one end has link at the other. A cable without evidence
is unseen, which is not a fault: the address of an idle node is not learned, and a shut port has no neighbour.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from eee_testbed.controller.checking.neighbours import Directory, Sight, as_text
from eee_testbed.controller.drivers.driver import Answers, SnmpValue, Walk
from eee_testbed.controller.drivers.interface_names import interface_key
from eee_testbed.controller.drivers.lldp_shows import Neighbour, by_port
from eee_testbed.controller.drivers.mib_rows import octets_of, rows_of
from eee_testbed.controller.drivers.places import FINDERS, IF_ADMIN_STATUS, IF_NAME, IF_OPER_STATUS, Place, places
from eee_testbed.lab.model import End, Lab, Link, Switch
from eee_testbed.lab.plain_text import decoded

FDB_PORT: Final = Walk("1.3.6.1.2.1.17.7.1.2.2.1.2")
FDB_STATUS: Final = Walk("1.3.6.1.2.1.17.7.1.2.2.1.3")
LLDP_OWN_CHASSIS: Final = Walk("1.0.8802.1.1.2.1.3.2")
LLDP_OWN_PORT: Final = Walk("1.0.8802.1.1.2.1.3.7.1.3")
LLDP_CHASSIS: Final = Walk("1.0.8802.1.1.2.1.4.1.1.5")
LLDP_PORT: Final = Walk("1.0.8802.1.1.2.1.4.1.1.7")
LLDP_NAME: Final = Walk("1.0.8802.1.1.2.1.4.1.1.9")

QUERIES: Final = (
    *FINDERS,
    *(IF_ADMIN_STATUS, IF_OPER_STATUS, FDB_PORT, FDB_STATUS),
    *(LLDP_OWN_CHASSIS, LLDP_OWN_PORT, LLDP_CHASSIS, LLDP_PORT, LLDP_NAME),
)

_UP, _LEARNED = 1, 3

Witness = Literal["lldp", "address", "link", ""]
Finding = Literal["confirmed", "wrong", "unclear", "unseen"]
"""unclear: a port hears several neighbours, so none of them is proved to be at the other end of its cable."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The finding for one cable; `sentence` says what is wrong or unclear, empty otherwise."""

    link: Link
    finding: Finding
    witness: Witness
    sentence: str = ""


def read_sight(switch: Switch, answers: Answers, shown: Mapping[str, Neighbour] | None = None) -> Sight:
    """Parse a switch's answers to `QUERIES`; Unreadable if its ports cannot be distinguished.

    `shown` are neighbours as its command line shows them, for ports without a neighbour in the LLDP-MIB.
    """
    at = places(switch, answers)
    admin, oper = rows_of(answers, IF_ADMIN_STATUS), rows_of(answers, IF_OPER_STATUS)
    link = {place.name: oper.get(str(place.if_index)) == _UP for place in at if admin.get(str(place.if_index)) == _UP}
    own_ports = {index: octets_of(value) for index, value in rows_of(answers, LLDP_OWN_PORT).items()}
    local = _lldp_ports(at, own_ports, rows_of(answers, IF_NAME))
    return Sight(
        link=link,
        learned=_learned(at, answers),
        neighbours={**_named([place.name for place in at], shown or {}), **by_port(_neighbours(answers, local))},
        chassis=next(
            (octets_of(value) for index, value in rows_of(answers, LLDP_OWN_CHASSIS).items() if index == "0"), b""
        ),
        port_ids={
            **{place.name.encode(): place.name for place in at},
            **{own_ports[number]: port for number, port in local.items() if number in own_ports},
        },
    )


def shown_sight(switch: Switch, shown: Mapping[str, Neighbour]) -> Sight:
    """What the command line shows of a switch; used where its SNMP agent is silent."""
    names = [port.name for port in switch.ports]
    return Sight({}, {}, _named(names, shown), b"", {name.encode(): name for name in names})


def _named(ports: Iterable[str], shown: Mapping[str, Neighbour]) -> dict[str, Neighbour]:
    """Neighbours by the inventory's names of ports, which a table may spell otherwise."""
    names = {interface_key(port) or ("", port): port for port in ports}
    found = ((names.get(interface_key(port) or ("", port)), neighbour) for port, neighbour in shown.items())
    return {name: neighbour for name, neighbour in found if name is not None}


def compare(lab: Lab, sights: Mapping[str, Sight]) -> tuple[Verdict, ...]:
    """A verdict on each cable, in the order of cables.csv. Switches that could not be queried are not in `sights`."""
    cables = {end: link for link in lab.links for end in (link.a, link.b)}
    directory = Directory(lab.hosts, sights)
    return tuple(_verdict(lab, link, sights, cables, directory) for link in lab.links)


def unlisted(lab: Lab, sights: Mapping[str, Sight]) -> tuple[End, ...]:
    """Ports with link that have no cable in the inventory."""
    listed = {end for link in lab.links for end in (link.a, link.b)}
    ends = (End(name, port) for name, sight in sights.items() for port, up in sight.link.items() if up)
    return tuple(end for end in ends if end not in listed)


def without_link(lab: Lab, sights: Mapping[str, Sight]) -> tuple[End, ...]:
    """Ports of the inventory's cables that are enabled and have no link: a cut cable, or a device that is off."""
    ends = (end for link in lab.links for end in (link.a, link.b))
    return tuple(end for end in ends if end.device in sights and sights[end.device].link.get(end.port) is False)


def _verdict(
    lab: Lab, link: Link, sights: Mapping[str, Sight], cables: Mapping[End, Link], directory: Directory
) -> Verdict:
    heard = [_by_lldp(link, end, other, sights, directory) for end, other in ((link.a, link.b), (link.b, link.a))]
    for finding in ("wrong", "unclear", "confirmed"):
        for verdict in heard:
            if verdict is not None and verdict.finding == finding:
                return verdict
    for end, other in ((link.a, link.b), (link.b, link.a)):
        judged = _by_address(lab, link, end, other, sights, cables)
        if judged:
            return judged
    up = [sights[end.device].link.get(end.port) for end in (link.a, link.b) if end.device in sights]
    if set(up) == {True, False}:
        return Verdict(link, "wrong", "link", f"{link.name} has link at one end only")
    return Verdict(link, "unseen", "")


def _by_lldp(link: Link, end: End, other: End, sights: Mapping[str, Sight], directory: Directory) -> Verdict | None:
    if end.device not in sights or end.port not in sights[end.device].neighbours:
        return None
    heard = sights[end.device].neighbours[end.port]
    if heard.several:
        return _by_several(link, end, other, heard, directory)
    there = directory.who(heard)
    if there is not None and there.device == other.device and there.port in ("", other.port):
        return Verdict(link, "confirmed", "lldp")
    if there is None and other.device not in sights:
        return None  # a node that speaks LLDP, under a name of its own choice
    device, port = (there.device, there.port) if there is not None else (heard.name or as_text(heard.chassis), "")
    where = f"{device}:{port or as_text(heard.port)}"
    return Verdict(link, "wrong", "lldp", f"{end} is plugged into {where} (LLDP), not into {other}")


def _by_several(link: Link, end: End, other: End, heard: Neighbour, directory: Directory) -> Verdict:
    """A port that hears several: wrong if none of them can be the other end."""
    devices = [directory.who(one) for one in heard.several]
    names = [
        str(who) if who is not None and who.port else f"{one.name or as_text(one.chassis)}:{as_text(one.port)}"
        for who, one in zip(devices, heard.several, strict=True)
    ]
    said = f"{end} hears {' and '.join(names)} (LLDP)"
    if any(who is None or (who.device == other.device and who.port in ("", other.port)) for who in devices):
        sentence = f"{said}, so {link.name} is not proved: find what is between, or wait until an old entry is gone"
        return Verdict(link, "unclear", "lldp", sentence)
    return Verdict(link, "wrong", "lldp", f"{said}, not {other}")


def _by_address(
    lab: Lab, link: Link, end: End, other: End, sights: Mapping[str, Sight], cables: Mapping[End, Link]
) -> Verdict | None:
    host = next((host for host in lab.hosts if host.name == other.device), None)
    if host is None:
        return None
    switches = {switch.name for switch in lab.switches}
    seen_at = [End(name, port) for name, sight in sights.items() for port in sorted(sight.learned.get(host.mac, ()))]
    if end in seen_at:
        return Verdict(link, "confirmed", "address")
    for place in seen_at:
        cable = cables.get(place)
        if cable is None or not {cable.a.device, cable.b.device} <= switches:  # trunks learn the addresses of all hosts
            return Verdict(link, "wrong", "address", f"{host.name} was seen at {place}, not at {end}")
    return None


def _learned(at: tuple[Place, ...], answers: Answers) -> dict[bytes, frozenset[str]]:
    names = {place.bridge_port: place.name for place in at if place.bridge_port is not None}
    status = rows_of(answers, FDB_STATUS)
    learned: dict[bytes, set[str]] = {}
    for index, number in rows_of(answers, FDB_PORT).items():
        if status.get(index) == _LEARNED and isinstance(number, int) and number in names:
            mac = bytes(int(part) & 0xFF for part in index.split(".")[-6:])
            learned.setdefault(mac, set()).add(names[number])
    return {mac: frozenset(ports) for mac, ports in learned.items()}


def _lldp_ports(at: tuple[Place, ...], own: Mapping[str, bytes], names: Mapping[str, SnmpValue]) -> dict[str, str]:
    """LLDP's port numbers to the inventory's names: by what LLDP calls the port, else as an ifIndex.

    IEEE 802.1AB leaves the numbering to the agent; most use ifIndex.
    """
    by_index = {str(place.if_index): place.name for place in at}
    by_name = {octets_of(names[str(place.if_index)]): place.name for place in at if str(place.if_index) in names}
    numbers = {*own, *by_index}
    found = {number: by_name.get(own.get(number, b""), by_index.get(number, "")) for number in numbers}
    return {number: port for number, port in found.items() if port}


def _neighbours(answers: Answers, local: Mapping[str, str]) -> Iterator[tuple[str, Neighbour]]:
    """By local port. A TimeMark may change between the walks of two columns."""
    ports, names = by_neighbour(answers, LLDP_PORT), by_neighbour(answers, LLDP_NAME)
    for at, chassis in by_neighbour(answers, LLDP_CHASSIS).items():
        if at[0] in local:
            yield local[at[0]], Neighbour(chassis, ports.get(at, b""), decoded(names.get(at, b"")))


def by_neighbour(answers: Answers, walk: Walk) -> dict[tuple[str, str], bytes]:
    """A column of lldpRemTable (index: TimeMark, local port number, neighbour's number) by the last two."""
    rows = ((index.split("."), value) for index, value in rows_of(answers, walk).items())
    return {(parts[1], parts[2]): octets_of(value) for parts, value in rows if len(parts) == 3}
