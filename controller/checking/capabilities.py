"""What each switch of a lab can do, how full its tables are, and whether it is the model that the inventory says.

Reading shows what the family can do and how full the switch's tables are. Whether a model really accepts what its
family can do is only probed on request (`probe_switch`), as that writes: on a port that has neither a cable in the
inventory nor link, in VLANs that do not exist yet. The settings are read back, undone, and read back once more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eee_testbed.controller.applying.observe import ALL, observe_switch
from eee_testbed.controller.drivers.driver import Answers, Aspect, Driver, Identity, Query, aspects_of
from eee_testbed.controller.drivers.table import capabilities_of, driver_of
from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.state import Change, PortState, State, SwitchState, diff
from eee_testbed.controller.planning.limits import abilities_of
from eee_testbed.controller.transports.session import Session
from eee_testbed.lab.errors import DeviceError, NotExpressible, RollbackFailed, Unreadable
from eee_testbed.lab.model import Lab, Switch

_HOLD_US: Final = 200
_MAC: Final = bytes.fromhex("02eeee000001")  # locally administered, of no device


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a switch reports and can do. Counts are of entries in use now; None where a limit is unknown."""

    identity: Identity
    family: Capabilities
    vlan_count: int | None
    static_count: int | None

    @property
    def vlans_left(self) -> int | None:
        """VLANs that can still be made."""
        limit, count = self.family.vlans, self.vlan_count
        return None if limit is None or count is None else max(0, limit - count)

    @property
    def statics_left(self) -> int | None:
        """Static entries that can still be made."""
        limit, count = self.family.static_entries, self.static_count
        return None if limit is None or count is None else max(0, limit - count)


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting that was tried on a switch: which, whether it worked, and if not, what the switch said or did."""

    what: str
    worked: bool
    said: str = ""


def read_abilities(
    lab: Lab, switch: Switch, ask: Callable[[Sequence[Query]], Answers], *, whole: bool, description: str
) -> Abilities:
    """Read a switch's identity and how full its tables are. Raises what the session and the driver raise.

    `ask` leaves out queries to a service that does not answer; `whole`: there is none. Then what cannot be read without
    it is None, and `description` (sysDescr) stands in for the identity of a command line that is silent.
    """
    driver = driver_of(switch)
    family = abilities_of(replace(lab, switches=(switch,)), capabilities_of)[switch.name]
    if whole:
        identity = driver.identity(switch, ask(driver.identity_queries(switch)))
        state = driver.parse(switch, ALL, ask(driver.queries(switch, ALL)), None)
        return Abilities(identity, family, len(state.vids), sum(map(len, state.statics.values())))
    try:
        identity = driver.identity(switch, ask(driver.identity_queries(switch)))
    except Unreadable:
        identity = Identity(" ".join(description.split()), "", "")
    vids, statics = (_part(driver, switch, ask, aspect) for aspect in ("vlan", "statics"))
    return Abilities(
        identity,
        family,
        None if vids is None else len(vids.vids),
        None if statics is None else sum(map(len, statics.statics.values())),
    )


def _part(
    driver: Driver, switch: Switch, ask: Callable[[Sequence[Query]], Answers], aspect: Aspect
) -> SwitchState | None:
    """One aspect by itself; None if it cannot be read without the service that is silent."""
    aspects = frozenset({aspect})
    try:
        return driver.parse(switch, aspects, ask(driver.queries(switch, aspects)), None)
    except DeviceError:
        return None


def spare_port(lab: Lab, switch: Switch, link: Mapping[str, bool]) -> str | None:
    """A port without cable or link (`link`: ports that are not shut); None if none is free."""
    used = {end.port for cable in lab.links for end in (cable.a, cable.b) if end.device == switch.name}
    free = [port.name for port in switch.ports if port.name not in used and not link.get(port.name, False)]
    return free[-1] if free else None


def probe_switch(switch: Switch, port: str, session: Session) -> tuple[Trial, ...]:
    """Try on a spare port which settings the switch accepts, and undo each.

    RollbackFailed if the switch could not be restored: a person has to check it.
    """
    driver = driver_of(switch)
    before = observe_switch(switch, session)
    free = [vid for vid in range(4000, 1, -1) if vid not in before.vids | driver.capabilities.reserved_vids][:2]
    trials = (_try(driver, switch, session, what, before, after) for what, after in _trial_states(before, port, free))
    return tuple(trial for trial in trials if trial is not None)


def _trial_states(before: SwitchState, port: str, vids: list[int]) -> Iterator[tuple[str, SwitchState]]:
    """The settings to try, each from the state that was found: their name, and the desired state."""
    held = before.ports[port]
    with_vlans = replace(before, vids=before.vids | set(vids))
    # Names of the trials are those of `Capabilities`.
    untagged = replace(held, untagged_vids=frozenset(vids), tagged_vids=frozenset(), pvid=vids[0], acceptance="all")
    yield "multi_untagged", _with_port(with_vlans, port, untagged)
    member = _with_port(with_vlans, port, replace(untagged, untagged_vids=frozenset(vids[:1])))
    yield "static_entries", replace(member, statics={**before.statics, vids[0]: {_MAC: port}})
    yield "eee_settable", _with_port(before, port, replace(held, eee=not held.eee))
    yield "hold_settable", _with_port(before, port, replace(held, eee=True, hold_us=_HOLD_US))
    yield "flow_control_settable", _with_port(before, port, replace(held, flow_control=not held.flow_control))


def _with_port(state: SwitchState, port: str, settings: PortState) -> SwitchState:
    return replace(state, ports={**state.ports, port: settings})


def _try(
    driver: Driver, switch: Switch, session: Session, what: str, before: SwitchState, after: SwitchState
) -> Trial | None:
    changes = _changes(switch, before, after)
    try:
        _send(driver, switch, session, changes)
        found = observe_switch(switch, session, frozenset[Aspect]().union(*map(aspects_of, changes)), before)
        left = _changes(switch, found, after)
        return Trial(what, worked=not left, said="it accepted the change and did something else" if left else "")
    except NotExpressible:
        return None  # the driver cannot express it, so nothing was tried
    except DeviceError as error:
        return Trial(what, worked=False, said=str(error))
    finally:
        _restore(driver, switch, session, before)


def _restore(driver: Driver, switch: Switch, session: Session, before: SwitchState) -> None:
    try:
        _send(driver, switch, session, _changes(switch, observe_switch(switch, session), before))
        left = _changes(switch, observe_switch(switch, session), before)
    except DeviceError as error:
        raise RollbackFailed(
            f"{switch.name} could not be restored after the probe ({error}): check it by hand."
        ) from error
    if left:
        raise RollbackFailed(
            f"{switch.name} keeps {len(left)} settings of the probe: check its VLANs and its spare port."
        )


def _changes(switch: Switch, before: SwitchState, after: SwitchState) -> tuple[Change, ...]:
    return diff(State({switch.name: before}), State({switch.name: after}))


def _send(driver: Driver, switch: Switch, session: Session, changes: tuple[Change, ...]) -> None:
    for command in driver.render(switch, changes):
        session.send(command)
