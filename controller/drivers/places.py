"""Where the MIBs keep a switch's ports: from the inventory's names to ifIndex and bridge port. Pure.

A port is found by its name, never by its position: ifName first (IF-MIB, RFC 2863), then ifDescr, then ifAlias, in
whichever spelling (`interface_names`). ifAlias holds what people wrote, often the name of the port at the other end; so
it counts only if no other column knows any port and it names every port of the inventory. The bridge port is what
dot1dBasePortIfIndex (BRIDGE-MIB, RFC 4188) has for that interface. Agents that show that table for one VLAN only
(Cisco) leave other ports without one; these can be read by ifIndex all the same.

The key `bridge_ports` of hosts.yml states numbers for agents that name no interface. It is refused where it contradicts
a name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eee_testbed.controller.drivers.driver import AdminSet, Answers, SnmpSet, SnmpValue, Walk
from eee_testbed.controller.drivers.interface_names import Ambiguous, NameColumn, interface_key
from eee_testbed.controller.drivers.mib_rows import column, names, rows_of
from eee_testbed.lab.errors import PortMismatch
from eee_testbed.lab.model import Port, Switch

IF_NAME = Walk("1.3.6.1.2.1.31.1.1.1.1", "ifName")
IF_DESCR = Walk("1.3.6.1.2.1.2.2.1.2", "ifDescr")
IF_ALIAS = Walk("1.3.6.1.2.1.31.1.1.1.18", "ifAlias")
IF_ADMIN_STATUS = Walk("1.3.6.1.2.1.2.2.1.7", "ifAdminStatus")
IF_OPER_STATUS = Walk("1.3.6.1.2.1.2.2.1.8", "ifOperStatus")
BASE_PORT_IF_INDEX = Walk("1.3.6.1.2.1.17.1.4.1.2", "dot1dBasePortIfIndex")

FINDERS = (IF_NAME, IF_DESCR, IF_ALIAS, BASE_PORT_IF_INDEX)
"""The columns that `places` reads."""

_UP, _DOWN = 1, 2
_SHOWN_COUNT = 4  # names in an error
_NO_PORTS = frozenset({"vlan", "lag"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where the MIBs keep a port: `name` is the inventory's (or `lagN`), `bridge_port` None if the agent has none."""

    name: str
    bridge_port: int | None
    if_index: int


def places(switch: Switch, answers: Answers, lags: Mapping[str, str] | None = None) -> tuple[Place, ...]:
    """Every port of the inventory, then LAGs: `lags` maps names such as `lag1` to what the switch calls them.

    PortMismatch if a port cannot be found for certain: no interface has its name, several have it, the columns of names
    contradict each other, or a stated number contradicts them.
    """
    return tuple(_Finder(switch, answers).places(lags or {}))


@dataclass(frozen=True, slots=True)
class Resolved:
    """A SET at the ifIndex that the device has for a port, and what ifName and ifDescr hold there, by OID."""

    request: SnmpSet
    names: Mapping[str, SnmpValue]


def resolve(switch: Switch, command: AdminSet, answers: Answers) -> Resolved:
    """Find where a port's admin status is set, in the answers to `FINDERS`; PortMismatch if it cannot be found."""
    (place,) = (place for place in places(switch, answers) if place.name == command.port)
    index = str(place.if_index)
    named = {walk: rows_of(answers, walk).get(index) for walk in (IF_NAME, IF_DESCR)}
    return Resolved(
        SnmpSet(((f"{IF_ADMIN_STATUS.oid}.{index}", _UP if command.up else _DOWN),), command.what),
        {f"{walk.oid}.{index}": value for walk, value in named.items() if value is not None},
    )


class _Finder:
    """The interfaces of one switch."""

    def __init__(self, switch: Switch, answers: Answers) -> None:
        self._switch = switch
        self._index_of = {number: index for (number,), index in column(switch, BASE_PORT_IF_INDEX, answers).items()}
        self._number_of = {index: number for number, index in sorted(self._index_of.items(), reverse=True)}
        read = {walk: NameColumn(names(switch, walk, answers)) for walk in (IF_NAME, IF_DESCR, IF_ALIAS)}
        alias = read.pop(IF_ALIAS)
        self._columns = read
        inventory = [port.name for port in switch.ports]
        if not any(self._found(walk, name) for walk in read for name in inventory) and alias.holds_all(inventory):
            self._columns = {IF_ALIAS: alias}

    def places(self, lags: Mapping[str, str]) -> list[Place]:
        all_places = [self._place(port) for port in self._switch.ports]
        for name, called in lags.items():
            index = self._by_name(called)
            if index is None:
                raise self._missing(called, f"the interface of {name}")
            all_places.append(Place(name, self._number_of.get(index), index))
        owners: dict[int, str] = {}
        for place in all_places:
            other = owners.setdefault(place.if_index, place.name)
            if other != place.name:
                both = f"{other} and {place.name}"
                reason = (
                    f"it has one interface, ifIndex {place.if_index}, for both {both}: correct `ports` in hosts.yml"
                )
                raise self._mismatch(IF_NAME, reason)
        return all_places

    def _place(self, port: Port) -> Place:
        index = self._by_name(port.name)
        if port.numbered:
            return self._stated(port, index)
        if index is None:
            raise self._missing(port.name, "a port of the inventory")
        return Place(port.name, self._number_of.get(index), index)

    def _stated(self, port: Port, by_name: int | None) -> Place:
        at = self._index_of.get(port.number)
        index = at if by_name is None else by_name
        if index is None:
            reason = (
                f"it has no bridge port {port.number}, which `bridge_ports` gives for {port.name}: correct hosts.yml"
            )
            raise self._mismatch(BASE_PORT_IF_INDEX, reason)
        known = self._number_of.get(index, port.number)
        if at not in (None, index) or known != port.number:
            reason = (
                f"it has bridge port {known} for {port.name}, and `bridge_ports` in hosts.yml says {port.number}: "
                "correct or remove it there"
            )
            raise self._mismatch(BASE_PORT_IF_INDEX, reason)
        return Place(port.name, port.number, index)

    def _by_name(self, name: str) -> int | None:
        """The interface of a name, None without one; PortMismatch if columns name two."""
        indices = {walk: index for walk in self._columns if (index := self._found(walk, name)) is not None}
        if len(set(indices.values())) > 1:
            reason = " and ".join(f"{walk.name} has ifIndex {index}" for walk, index in indices.items())
            raise self._mismatch(IF_NAME, f"{name} fits two interfaces ({reason}): correct `ports` in hosts.yml")
        return next(iter(indices.values()), None)

    def _found(self, walk: Walk, name: str) -> int | None:
        try:
            return self._columns[walk].find(name)
        except Ambiguous as several:
            reason = f"it has several interfaces called {name} (ifIndex {several}): state its number as `bridge_ports`"
            raise self._mismatch(walk, reason) from several

    def _mismatch(self, walk: Walk, sentence: str) -> PortMismatch:
        return PortMismatch(self._switch.name, f"a walk of {walk.name}", sentence)

    def _missing(self, name: str, what: str) -> PortMismatch:
        by_index = next((held.names for held in self._columns.values() if held.names), {})
        bridged = [by_index[index] for index in sorted(self._number_of or by_index) if index in by_index]
        bridged = [held for held in bridged if (interface_key(held) or ("vlan", ""))[0] not in _NO_PORTS]
        shown = ", ".join((bridged or list(by_index.values()))[:_SHOWN_COUNT]) or "no names"
        return self._mismatch(
            IF_NAME,
            f"it has no interface {name}, {what} (it has {shown}, ...): write `ports` in hosts.yml as the switch names "
            "them, or state bridge port numbers as `bridge_ports`",
        )
