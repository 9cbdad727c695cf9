"""Check one switch: what each of its services delivers, whether or not the other one answers.

A service that is silent or refuses the login is one problem in the report; what the other one shows is in it all the
same. A switch of another maker than the inventory's family is a problem, even if it takes the login.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from eee_testbed.controller.applying.port_proof import PortProofs, prove_ports
from eee_testbed.controller.checking.cabling import QUERIES, read_sight, shown_sight
from eee_testbed.controller.checking.capabilities import Abilities, Trial, probe_switch, read_abilities, spare_port
from eee_testbed.controller.checking.neighbours import Sight
from eee_testbed.controller.drivers import lldp_shows, mac_shows
from eee_testbed.controller.drivers.driver import ASPECTS, Answers, Query, Show, Walk
from eee_testbed.controller.drivers.makers import SYSTEM, said_of, wrong_maker
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.transports.session import Session
from eee_testbed.lab.errors import DeviceError, LabError, Rejected, RollbackFailed
from eee_testbed.lab.model import Lab, Switch

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Contact:
    """One service of a device; `problem` is empty if it answered and accepted the login."""

    device: str
    service: str
    address: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """The findings for one switch; None where it could not be queried."""

    contacts: tuple[Contact, ...]
    abilities: Abilities | None = None
    sight: Sight | None = None
    trials: tuple[Trial, ...] = ()
    problems: tuple[str, ...] = ()
    """What failed after the login."""


def _contact(device: str, service: str, address: str, port: int, attempt: Callable[[], object]) -> Contact:
    """Try one service."""
    try:
        attempt()
    except DeviceError as error:
        return Contact(device, service, f"{address}:{port}", str(error))
    return Contact(device, service, f"{address}:{port}")


def check_switch(lab: Lab, switch: Switch, session: Session, *, probe: PortProofs | None) -> SwitchReport:
    """Query what answers. With `probe`, the lab's proofs of ports, a switch that answers everywhere is written to."""
    reading = _Reading(lab, switch, session)
    contacts = reading.contacts()
    sight = reading.attempt(reading.sight)
    abilities = reading.attempt(reading.abilities)
    trials: tuple[Trial, ...] = ()
    if probe is not None and not reading.problems and reading.whole:
        trials = reading.attempt(lambda: _probed(lab, switch, sight, session, probe)) or ()
    maker = wrong_maker(switch, reading.object_id, reading.description)
    return SwitchReport(
        contacts, abilities, sight, trials, (*((f"{switch.name}: {maker}",) if maker else ()), *reading.problems)
    )


class _Reading:
    """The services of one switch that answer, and what went wrong with them after the login."""

    def __init__(self, lab: Lab, switch: Switch, session: Session) -> None:
        self._lab = lab
        self._switch = switch
        self._session = session
        self._driver = driver_of(switch)
        self._up: set[type[Query]] = set()
        self.problems: list[str] = []
        self.object_id = ""
        self.description = ""

    def contacts(self) -> tuple[Contact, ...]:
        return tuple(self._contacts())

    def _contacts(self) -> Iterator[Contact]:
        """Each service that the switch's driver needs, tried by itself."""
        switch = self._switch
        queries = (*self._driver.identity_queries(switch), *self._driver.queries(switch, frozenset(ASPECTS)))
        shows = [query for query in queries if isinstance(query, Show)]
        self._needed = {type(query) for query in queries}
        if shows:
            found = _contact(switch.name, "ssh", switch.address, switch.ssh_port, lambda: self._show(shows[0]))
            self._up |= set() if found.problem else {Show}
            yield found
        if switch.snmp_user is not None or switch.community:
            found = _contact(switch.name, "snmp", switch.address, switch.snmp_port, self._read_system)
            self._up |= set() if found.problem else {Walk}
            yield found

    def _show(self, show: Show) -> None:
        try:
            self._session.ask([show])
        except Rejected as error:  # it answers, and is of a family that does not know this show
            self.problems.append(str(error))

    def _read_system(self) -> None:
        self.object_id, self.description = said_of(self._session.ask([SYSTEM]))

    @property
    def whole(self) -> bool:
        """Whether every service that the driver needs answers."""
        return self._needed <= self._up

    def attempt(self, act: Callable[[], _Found]) -> _Found | None:
        try:
            return act()
        except RollbackFailed:
            raise
        except LabError as error:
            if str(error) not in self.problems:
                self.problems.append(str(error))
            return None

    def sight(self) -> Sight | None:
        shown = lldp_shows.read(self._switch.family, self._shown(lldp_shows.query(self._switch.family)))
        if Walk in self._up:
            sight = read_sight(self._switch, self._session.ask(QUERIES), shown)
        elif shown:
            sight = shown_sight(self._switch, shown)
        else:
            return None
        if sight.learned:
            return sight
        learned = mac_shows.read(
            self._shown(mac_shows.query(self._switch.family)), [port.name for port in self._switch.ports]
        )
        return replace(sight, learned=learned)

    def _shown(self, query: Show | None) -> str:
        """What the command line shows; empty if it is silent, or has no such command in this firmware."""
        if query is None or Show not in self._up:
            return ""
        try:
            return str(self._session.ask([query])[query])
        except Rejected:
            return ""

    def abilities(self) -> Abilities | None:
        if not self._up:
            return None
        return read_abilities(self._lab, self._switch, self._ask, whole=self.whole, description=self.description)

    def _ask(self, queries: Sequence[Query]) -> Answers:
        """The answers of the services that are up."""
        return self._session.ask([query for query in queries if type(query) in self._up])


def _probed(lab: Lab, switch: Switch, sight: Sight | None, session: Session, proofs: PortProofs) -> tuple[Trial, ...]:
    port = spare_port(lab, switch, sight.link if sight else {})
    if port is None:
        return ()
    prove_ports(switch, session, proofs)
    return probe_switch(switch, port, session)
