"""The settings of a lab's switches: one type for the desired and the observed state, and changes between two.

A `Change` names one thing, holds its value before and after, and knows its inverse. Values are frozen; the mappings
inside are not to be written to. VIDs are 802.1Q VLAN numbers (1-4094), MAC addresses are six bytes, ports go by the
names that the inventory gives them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

from eee_testbed.controller.model.config_text import ConfigText
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab

Acceptance = Literal["all", "tagged"]
"""Which frames a port accepts: all, or only tagged ones (802.1Q, acceptable frame types)."""


@dataclass(frozen=True, slots=True)
class FoundMode:
    """A mode that no plan sets, such as one that negotiates trunks, as the lines that a switch needs to have it again.

    It goes with the memberships that the port had in it (`form`): a port that gets others leaves the mode.
    """

    lines: tuple[str, ...]
    form: str


@dataclass(frozen=True, slots=True)
class PortState:
    """The settings of one port. `speed_mbps` None: negotiated; `hold_us` None: the device's own, or not settable.

    `lag` is the number of the LAG that the port is a member of, `lag_mode` the family's word for how, empty for its
    static kind. A LAG is a port of its own by the name `lagN`, with the memberships; those of its member ports are as
    from the factory.
    `found_mode` is None on ports in a mode that plans set, and on those whose memberships are others than it goes with.
    """

    admin_up: bool = True
    speed_mbps: int | None = None
    eee: bool = False
    hold_us: int | None = None
    untagged_vids: frozenset[int] = frozenset({1})
    tagged_vids: frozenset[int] = frozenset()
    pvid: int = 1
    acceptance: Acceptance = "all"
    ingress_filtering: bool = True
    stp: bool = True
    flow_control: bool = False
    lag: int | None = None
    lag_mode: str = ""
    found_mode: FoundMode | None = None

    def __post_init__(self) -> None:
        """Leave the mode that the port was found in if its memberships are others."""
        if self.found_mode is not None and self.found_mode.form != self.form:
            object.__setattr__(self, "found_mode", None)

    @property
    def form(self) -> str:
        """Memberships, PVID and filters as text."""
        lists = (",".join(map(str, sorted(vids))) for vids in (self.untagged_vids, self.tagged_vids))
        return "|".join((*lists, str(self.pvid), self.acceptance, str(self.ingress_filtering)))

    @property
    def vids(self) -> frozenset[int]:
        """Every VLAN that the port is a member of."""
        return self.untagged_vids | self.tagged_vids


StaticTable = Mapping[bytes, str]
"""Static forwarding entries of one VLAN on one switch: MAC address to port."""


@dataclass(frozen=True, slots=True)
class SwitchState:
    """The settings of one switch. `statics` has no empty tables; `stp` is the switch-wide setting.

    `text` is known of states that were read as a whole, and says nothing about equality.
    """

    ports: Mapping[str, PortState]
    vids: frozenset[int] = frozenset({1})
    statics: Mapping[int, StaticTable] = field(default_factory=dict)
    stp: bool = True
    text: ConfigText | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class State:
    """The settings of every switch of a lab, by name."""

    switches: Mapping[str, SwitchState]

    def port(self, switch: str, port: str) -> PortState:
        """One port's settings; KeyError if the switch has no such port."""
        return self.switches[switch].ports[port]


@dataclass(frozen=True, slots=True)
class PortChange:
    """A port gets other settings."""

    switch: str
    port: str
    before: PortState
    after: PortState

    @property
    def inverse(self) -> "PortChange":
        """The change that undoes this one."""
        return PortChange(self.switch, self.port, self.after, self.before)


@dataclass(frozen=True, slots=True)
class VlanChange:
    """A VLAN comes to exist on a switch (`after`), or ceases to."""

    switch: str
    vid: int
    before: bool
    after: bool

    @property
    def inverse(self) -> "VlanChange":
        """The change that undoes this one."""
        return VlanChange(self.switch, self.vid, self.after, self.before)


@dataclass(frozen=True, slots=True)
class StaticsChange:
    """A switch's static entries of one VLAN become others; entries that both tables hold are not touched."""

    switch: str
    vid: int
    before: StaticTable
    after: StaticTable

    @property
    def inverse(self) -> "StaticsChange":
        """The change that undoes this one."""
        return StaticsChange(self.switch, self.vid, self.after, self.before)


@dataclass(frozen=True, slots=True)
class StpChange:
    """A switch starts or stops its spanning-tree protocol."""

    switch: str
    before: bool
    after: bool

    @property
    def inverse(self) -> "StpChange":
        """The change that undoes this one."""
        return StpChange(self.switch, self.after, self.before)


Change = PortChange | VlanChange | StaticsChange | StpChange


class Draft:
    """A `State` that changes can be applied to, one after the other; what is not touched is shared with the origin."""

    def __init__(self, state: State) -> None:
        self.ports = {name: dict(switch.ports) for name, switch in state.switches.items()}
        self.vids = {name: set(switch.vids) for name, switch in state.switches.items()}
        self.statics = {name: dict(switch.statics) for name, switch in state.switches.items()}
        self.stp = {name: switch.stp for name, switch in state.switches.items()}

    def apply(self, change: Change) -> Self:
        """Apply the change; PlanError if the setting is not as before it."""
        name = change.switch
        if not self._fits(change):
            raise PlanError(f"{name} is not as this plan expects ({_what(change)}): observe it and plan again.")
        match change:
            case PortChange():
                self.ports[name][change.port] = change.after
            case VlanChange():
                (self.vids[name].add if change.after else self.vids[name].discard)(change.vid)
            case StaticsChange() if change.after:
                self.statics[name][change.vid] = change.after
            case StaticsChange():
                self.statics[name].pop(change.vid, None)
            case StpChange():
                self.stp[name] = change.after
        return self

    def _fits(self, change: Change) -> bool:
        name = change.switch
        if name not in self.ports:
            return False
        match change:
            case PortChange():
                return self.ports[name].get(change.port) == change.before
            case VlanChange():
                return (change.vid in self.vids[name]) == change.before
            case StaticsChange():
                return self.statics[name].get(change.vid, {}) == change.before
            case StpChange():
                return self.stp[name] == change.before

    def freeze(self) -> State:
        """The state reached; later changes to this draft do not alter it."""
        return State(
            {
                name: SwitchState(dict(ports), frozenset(self.vids[name]), dict(self.statics[name]), self.stp[name])
                for name, ports in self.ports.items()
            }
        )


def _what(change: Change) -> str:
    match change:
        case PortChange():
            return f"port {change.port}"
        case VlanChange():
            return f"VLAN {change.vid}"
        case StaticsChange():
            return f"static entries of VLAN {change.vid}"
        case StpChange():
            return "spanning tree"


def replay(changes: Iterable[Change], state: State) -> State:
    """The state after the changes, in their order; PlanError if a setting is not as its change expects."""
    draft = Draft(state)
    for change in changes:
        draft.apply(change)
    return draft.freeze()


def diff(before: State, after: State) -> tuple[Change, ...]:
    """One change for each thing that differs, ordered by name; PlanError if the two are not of the same switches.

    VLANs are created first and destroyed last. This order says nothing about safety: `controller.planning.plan` does.
    """
    shape = {name: set(switch.ports) for name, switch in before.switches.items()}
    if shape != {name: set(switch.ports) for name, switch in after.switches.items()}:
        raise PlanError("the two states are of different switches or ports: compare states of one lab.")
    created: list[Change] = []
    changed: list[Change] = []
    removed: list[Change] = []
    for name, old in before.switches.items():
        new = after.switches[name]
        created += (VlanChange(name, vid, before=False, after=True) for vid in sorted(new.vids - old.vids))
        removed += (VlanChange(name, vid, before=True, after=False) for vid in sorted(old.vids - new.vids))
        for port, state in old.ports.items():
            if state != new.ports[port]:
                changed.append(PortChange(name, port, state, new.ports[port]))
        for vid in sorted(old.statics.keys() | new.statics.keys()):
            entries = old.statics.get(vid, {}), new.statics.get(vid, {})
            if entries[0] != entries[1]:
                changed.append(StaticsChange(name, vid, *entries))
        if old.stp != new.stp:
            changed.append(StpChange(name, old.stp, new.stp))
    return (*created, *changed, *removed)


def factory_state(lab: Lab) -> State:
    """Every switch as switches commonly leave the factory: all ports up, untagged in VLAN 1, spanning tree on.

    This is an assumption, used until a state is observed; recordings and manuals of the families in the inventory agree
    with it. It has the LAGs of the inventory, as those have to be set up before anything else.
    """
    ports = {switch.name: {port.name: PortState() for port in switch.ports} for switch in lab.switches}
    for lag in lab.lags:
        for end in (lag.link.a, lag.link.b):
            ports[end.device] |= dict.fromkeys(lag.ports_at(end.device), PortState(lag=lag.number))
            ports[end.device][lag.port] = PortState()
    return State({name: SwitchState(held) for name, held in ports.items()})
