"""The first hour with a switch of a new model: what of it is proven, what rests on memory, what is refused.

Only reads. An ability to read is proven if the switch's own answers were understood, and refused with the reason if
not. An ability to set something is never proven by reading: it rests on the family's manuals and simulations until
`eeectl lab check --probe` has tried it on a spare port; what the family cannot do is refused.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.checking.cabling import QUERIES, read_sight
from eee_testbed.controller.drivers import lldp_shows
from eee_testbed.controller.drivers.driver import ASPECTS, Answers, Aspect, Describing, Driver, Query, Show, Walk
from eee_testbed.controller.drivers.makers import SYSTEM, said_of, wrong_maker
from eee_testbed.controller.drivers.mib_rows import names, rows_of
from eee_testbed.controller.drivers.places import FINDERS, IF_ALIAS, Place, places
from eee_testbed.controller.drivers.table import FAMILIES, capabilities_of, driver_of
from eee_testbed.controller.planning.limits import abilities_of
from eee_testbed.controller.transports.session import Session
from eee_testbed.lab.errors import LabError, PortMismatch
from eee_testbed.lab.model import Lab, Switch

Standing = Literal["proven", "from memory", "refused"]

_IN_BYTE: Final = Walk("1.3.6.1.2.1.31.1.1.1.6", "ifHCInOctets")

_READINGS: Final[Mapping[Aspect, str]] = {
    "link": "read admin status, speed and flow control",
    "vlan": "read VLANs and memberships",
    "statics": "read static addresses",
    "stp": "read spanning tree",
    "energy": "read EEE settings",
}
_SETTINGS: Final[Mapping[str, str]] = {
    "multi_untagged": "untag a port in many VLANs",
    "eee_settable": "set EEE",
    "hold_settable": "set the hold time",
    "flow_control_settable": "set flow control",
}


@dataclass(frozen=True, slots=True)
class Ability:
    """One ability, its standing, and what that rests on."""

    name: str
    standing: Standing
    by: str


def first_hour(lab: Lab, switch: Switch, session: Session) -> tuple[Ability, ...]:
    """Every ability of one switch, in the order in which a lab needs them."""
    return tuple(_Hour(lab, switch, session).abilities())


class _Hour:
    """One switch, and what it answers."""

    def __init__(self, lab: Lab, switch: Switch, session: Session) -> None:
        self._lab = lab
        self._switch = switch
        self._session = session
        self._driver: Driver = driver_of(switch)

    def abilities(self) -> Iterator[Ability]:
        yield from self._services()
        yield self._try("say who it is", self._identity)
        yield self._try("tell its ports apart", self._ports)
        for aspect in ASPECTS:
            yield self._try(_READINGS[aspect], lambda one=aspect: self._aspect(one))  # type: ignore[misc]
        yield self._try("read EEE in force", self._eee)
        yield self._try("count bytes of ports", self._counters)
        yield self._try("see its neighbours", self._neighbours)
        yield from self._settings()

    def _try(self, name: str, act: Callable[[], Ability | str]) -> Ability:
        """`act` gives what an ability rests on, or the ability; an error in words refuses it."""
        try:
            reading = act()
        except LabError as error:
            return Ability(name, "refused", " ".join(str(error).split()))
        return reading if isinstance(reading, Ability) else Ability(name, "proven", reading)

    def _ask(self, *queries: Query) -> Answers:
        return self._session.ask(queries)

    def _services(self) -> Iterator[Ability]:
        shows = [query for query in self._driver.identity_queries(self._switch) if isinstance(query, Show)]
        if shows:
            yield self._try("log in", lambda: f"`{shows[0].command}` was answered" if self._ask(shows[0]) else "")
        if self._switch.snmp_user is not None or self._switch.community:
            yield self._try("answer over SNMP", self._maker)

    def _maker(self) -> Ability | str:
        object_id, description = said_of(self._ask(SYSTEM))
        wrong = wrong_maker(self._switch, object_id, description)
        if wrong:
            return Ability("answer over SNMP", "refused", f"{self._switch.name}: {wrong}")
        return f"sysObjectID {object_id or 'missing'}, '{description[:60]}'"

    def _identity(self) -> str:
        found = self._driver.identity(self._switch, self._ask(*self._driver.identity_queries(self._switch)))
        return f"{found.model or 'no model'}, firmware {found.firmware}, serial number {found.serial or 'not shown'}"

    def _ports(self) -> Ability | str:
        driver = self._driver
        name = "tell its ports apart"
        if not isinstance(driver, Describing):
            return f"{len(self._switch.ports)} ports, by one service"
        answers = self._ask(*FINDERS, driver.description_query)
        at = places(self._switch, answers)
        if {place.name: place.if_index for place in at} == PortProofs(StateFolder.of(self._lab).port_proofs).proved(
            self._switch.name
        ):
            return f"{len(at)} ports, proved by descriptions"
        same = _same_descriptions(self._switch, driver, at, answers)
        if same == len(at):
            return f"{len(at)} ports, by their descriptions"
        said = f"{len(at)} ports by name, {same} of them by their descriptions; the first apply proves the others"
        return Ability(name, "from memory", said)

    def _aspect(self, aspect: Aspect) -> str:
        aspects = frozenset({aspect})
        self._driver.parse(self._switch, aspects, self._ask(*self._driver.queries(self._switch, aspects)), None)
        return "its answers were understood"

    def _eee(self) -> Ability | str:
        queries = self._driver.eee_queries(self._switch)
        if not queries:
            return Ability("read EEE in force", "refused", f"a {self._switch.family} has no EEE")
        found = self._driver.eee(self._switch, self._ask(*queries))
        said = sum(status.active is not None for status in found.values())
        if said:
            return f"{said} of {len(found)} ports say whether it is in force"
        return Ability("read EEE in force", "from memory", "no port says whether EEE is in force")

    def _counters(self) -> Ability | str:
        if self._switch.snmp_user is None and not self._switch.community:
            return Ability("count bytes of ports", "refused", "the inventory gives no SNMP access")
        at = places(self._switch, self._ask(*FINDERS))
        counted = rows_of(self._ask(_IN_BYTE), _IN_BYTE)
        wide = sum(str(place.if_index) in counted for place in at)
        if wide < len(at):
            return Ability("count bytes of ports", "from memory", f"{wide} of {len(at)} ports have 64-bit counters")
        return f"{wide} ports have 64-bit counters"

    def _neighbours(self) -> Ability | str:
        query = lldp_shows.query(self._switch.family)
        shown = lldp_shows.read(self._switch.family, str(self._ask(query)[query])) if query is not None else {}
        if self._switch.snmp_user is not None or self._switch.community:
            sight = read_sight(self._switch, self._ask(*QUERIES), shown)
            if sight.neighbours:
                return f"LLDP neighbours at {', '.join(sorted(sight.neighbours))}"
        return Ability("see its neighbours", "from memory", "no port of the inventory has an LLDP neighbour now")

    def _settings(self) -> Iterator[Ability]:
        alone = replace(self._lab, switches=(self._switch,))
        can = abilities_of(alone, capabilities_of)[self._switch.name]
        row = FAMILIES[self._switch.family]
        basis = f"tried on {row.verified}" + (f"; from memory: {row.from_memory}" if row.from_memory else "")
        for field, name in _SETTINGS.items():
            if getattr(can, field):
                yield Ability(name, "from memory", "`eeectl lab check --probe` tries it on a spare port")
            else:
                yield Ability(name, "refused", "this family, or the quirks of this switch, say that it cannot")
        yield Ability("set VLANs, static addresses, spanning tree, and save", "from memory", basis)


def _same_descriptions(switch: Switch, driver: Describing, at: tuple[Place, ...], answers: Answers) -> int:
    """How many ports have a description of their own that both services show; PortMismatch if two differ."""
    lines = driver.descriptions(switch, answers)
    shown = names(switch, IF_ALIAS, answers)
    texts = {place.name: _text(lines.get(place.name, "")) for place in at}
    same = 0
    for place in at:
        by_snmp = shown.get(place.if_index, "").strip()
        if texts[place.name] != by_snmp:
            here = f"{place.name} is described as '{texts[place.name]}'"
            said = f"{here}, and SNMP has '{by_snmp}' at ifIndex {place.if_index}"
            raise PortMismatch(switch.name, "ifAlias", said)
        same += bool(by_snmp) and list(texts.values()).count(by_snmp) == 1
    return same


def _text(line: str) -> str:
    """The description in its line, without quotes."""
    return line.removeprefix("description").strip().strip("\"'").strip()
