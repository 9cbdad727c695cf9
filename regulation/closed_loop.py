"""TCEP's decisions (Kim, Choi and Kim 2018, III-IV) for a network of switches: what changes after an epoch. Pure.

::

           deactivation agreed          a deactivation epoch without need
    active ───────────────────> shadow ──────────────────────────────────> off
      ^                           │                                         │
      ├───────────────────────────┘ needed after all                        │ needed
      └───────────────────────────── waking <───────────────────────────────┘
                        link is up

A shadow link is up and carries nothing. The root network, shortest paths from a hub, is never switched off (III-B).
`decide` sees all switches at once, where TCEP's routers ask each other; what their requests settle is settled here in
the same order (IV-C): reactivations, then activations by virtual utilization, then deactivations by minimally routed
traffic. A switch changes one link physically in an epoch at most, and has one shadow link at most.

What is decided here, and is not in the paper:

* Algorithm 1 follows the paper's text (IV-A.1), not its line 9: the budget of the first link is what it has unused
  below U_hwm, and the first link alone may be the inner set.
* The neighbours of a switch are ranked by their distance from the hub over the root network, then by their order. In a
  complete graph that is the paper's rank.
* Outside complete graphs the inner links of one switch need not be able to carry what its outer links carried. So
  `predict` may be given: the utilization of the busiest channel if only some links were in use. A link is not
  deactivated if that would be above U_hwm.
* A link that is needed again soon after it was deactivated has to be active twice as long before the next time. So load
  that rises and falls does not switch it forever. "Soon" is within a hundred deactivation epochs, or four times as long
  as it had to be active if that is more. So of N epochs, at most log2(N) are those in which it goes, and as many
  more as there are such long rests.
* If the program is slower than the bound allows, all links that are not active are activated, and none is deactivated
  for two deactivation epochs. Then at most half as many as were off may go, for a time that doubles whenever this
  happens again: so the loop finds how many it may switch off, and stays there. (Half of one is one the first time, as
  programs scatter, and none the second.)
* A link that is down though it should be up, or does not come up in a deactivation epoch, is "down" until it is up.
  If hosts are apart then, links that join them come first.
* After an epoch that was not counted as a whole there is `no_decision`, and no shadow link comes nearer to going off.
  If that goes on for a deactivation epoch, nobody knows what the links carry, and all are activated.
* Changes that could not be made are `refused`: their links stay as they were, and are left alone for a while.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from eee_testbed.lab.errors import PlanError
from eee_testbed.regulation.network import Network, links_of, pruned
from eee_testbed.regulation.utilization import Used

LinkState = Literal["active", "shadow", "off", "waking", "down"]
Predict = Callable[[frozenset[int]], float]
"""From the links in use, the utilization of the busiest channel."""

_SOON_EPOCHS: Final = 100
_SOON_HOLDS: Final = 4


@dataclass(frozen=True, slots=True)
class Settings:
    """`high_water_mark`: U_hwm. A deactivation epoch is so many activation epochs, IV-D.

    `max_slowdown`: share of run time, above which the loop backs off. `longest_hold_epochs` bounds how long a link that
    was needed again has to be active, and how long fewer may be off after the loop backed off.
    """

    high_water_mark: float = 0.75
    deactivation_epochs: int = 10
    max_slowdown: float = 0.05
    longest_hold_epochs: int = 100_000

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if not 0 < self.high_water_mark < 1 or self.deactivation_epochs < 1 or self.max_slowdown < 0:
            raise PlanError(
                "the loop needs 0 < U_hwm < 1, an epoch of 1 or more, and a bound of 0 or more: correct it."
            )


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network with its root network: the `root` links, and those `at` each switch, root links first.

    The others are in order of the rank of the switch at the other end, counted from the hub.
    """

    network: Network
    root: frozenset[int]
    at: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, network: Network, hub: str = "") -> "Fabric":
        """The shortest-path tree of a hub, which is the first of the switches with most neighbours if not named.

        Links that are not switchable are in use always, and so as good as root links.
        """
        near: defaultdict[str, set[str]] = defaultdict(set)
        for trunk in network.trunks.values():
            near[trunk.a].add(trunk.b)
            near[trunk.b].add(trunk.a)
        hub = hub or max(network.switches, key=lambda name: len(near[name]))
        ways = network.ways(hub, network.trunks)
        missing = [name for name in network.homes if name != hub and name not in ways]
        if missing:
            raise PlanError(f"no path leads from {hub} to {', '.join(missing)}: name another hub, or repair the lab.")
        fixed = {number for number, trunk in network.trunks.items() if not trunk.switchable}
        root = links_of(pruned(hub, ways, network.homes)) | fixed
        rank = {name: place for place, name in enumerate((hub, *ways))}
        at: dict[str, list[tuple[bool, int, int]]] = {name: [] for name in network.switches}
        for number, trunk in network.trunks.items():
            for one, other in ((trunk.a, trunk.b), (trunk.b, trunk.a)):
                at[one].append((number not in root, rank.get(other, len(rank)), number))
        return cls(network, root, {name: tuple(key[-1] for key in sorted(keys)) for name, keys in at.items()})

    def ends(self, number: int) -> tuple[str, str]:
        """The two switches of a link."""
        trunk = self.network.trunks[number]
        return trunk.a, trunk.b


@dataclass(frozen=True, slots=True)
class LinkMemory:
    """A link's state and the epoch of its last change; what it carried in the deactivation epoch so far, as sums.

    `hold_epochs`: how long it has to be active before it may be deactivated. `left`: when it last ceased to be active.
    `barred_until`: not switched or deactivated before this epoch, as that could not be done.
    """

    state: LinkState = "active"
    since: int = 0
    minimal: float = 0.0
    total: float = 0.0
    hold_epochs: int = 0
    left: int | None = None
    barred_until: int = 0


@dataclass(frozen=True, slots=True)
class LoopState:
    """What the loop knows at the end of an epoch. `last_activated` by switch; `quiet_until`: no deactivation before.

    `most_off`: before the epoch `few_until` no more links may be off, as the program was too slow; `few_epochs` is how
    long that was the last time. `blind_epochs`: how many epochs in a row were not counted.
    """

    links: Mapping[int, LinkMemory]
    epoch: int = 0
    counted_epochs: int = 0
    last_activated: Mapping[str, int] = field(default_factory=dict)
    quiet_until: int = 0
    most_off: int = 0
    few_until: int = 0
    few_epochs: int = 0
    blind_epochs: int = 0

    @classmethod
    def begin(cls, fabric: Fabric, off: Collection[int] = ()) -> "LoopState":
        """All links active, but those in `off`."""
        return cls({number: LinkMemory("off" if number in off else "active") for number in fabric.network.trunks})

    def having(self, *states: LinkState) -> frozenset[int]:
        """The links in some states."""
        return frozenset(number for number, memory in self.links.items() if memory.state in states)


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link gets another state, and why. Physical: from off to waking, and from shadow to off."""

    link: int
    before: LinkState
    after: LinkState
    reason: str

    @property
    def is_physical(self) -> bool:
        """Whether the link is switched on or off."""
        return (self.before, self.after) in (("off", "waking"), ("shadow", "off"))


@dataclass(frozen=True, slots=True)
class Decision:
    """The changes to be made, in order, and the state after them."""

    state: LoopState
    changes: tuple[LinkChange, ...]


def decide(
    fabric: Fabric,
    state: LoopState,
    used: Mapping[int, Used],
    *,
    up: Collection[int],
    slowdown: float | None = None,
    predict: Predict | None = None,
    settings: Settings = Settings(),
) -> Decision:
    """The end of an activation epoch.

    `used` is what was counted in it, `up` are the links that are physically up, `slowdown` the program's, if known, as
    a share (0.05: 5 % slower than with all links on).
    """
    epoch = _Epoch(fabric, state, used, settings, predict)
    epoch.take_note_of(up)
    epoch.join_hosts()
    epoch.back_off(slowdown)
    epoch.reactivate()
    epoch.activate()
    epoch.switch_off()
    epoch.deactivate()
    return epoch.decision()


def no_decision(fabric: Fabric, state: LoopState, settings: Settings = Settings()) -> Decision:
    """The end of an epoch of which not all was counted: a poll failed, a counter was reset, a switch restarted.

    Sums of the deactivation epoch begin anew. Links are only activated, if this is the last of a deactivation epoch's
    number of such epochs, or a later one.
    """
    blind = state.blind_epochs + 1
    links = {
        number: replace(one, minimal=0.0, total=0.0, since=one.since + (one.state in ("shadow", "waking")))
        for number, one in state.links.items()
    }
    epoch = _Epoch(fabric, replace(state, links=links, counted_epochs=0), {}, settings, None)
    if blind >= settings.deactivation_epochs:
        epoch.activate_all(f"nothing was counted for {blind} epochs")
    decision = epoch.decision()
    return replace(decision, state=replace(decision.state, counted_epochs=0, blind_epochs=blind))


def refused(before: LoopState, decision: Decision, settings: Settings = Settings()) -> LoopState:
    """The state after an epoch whose changes could not be made: `before` is the state that was decided from.

    Links stay as they were, and their state is not changed for two deactivation epochs, unless hosts are apart without
    them. That a link came up or went down is no choice and stays.
    """
    until = decision.state.epoch + 2 * settings.deactivation_epochs
    links = dict(decision.state.links)
    for change in decision.changes:
        number, memory = change.link, before.links[change.link]
        if memory.state != "down" and change.after != "down" and (memory.state, change.after) != ("waking", "active"):
            links[number] = replace(memory, barred_until=until)
    return replace(decision.state, links=links, last_activated=before.last_activated)


def all_on(state: LoopState, settings: Settings = Settings()) -> LoopState:
    """The state after all links were switched on by somebody else than the loop: none is deactivated for a while."""
    links = {
        number: LinkMemory("active", state.epoch, hold_epochs=one.hold_epochs) for number, one in state.links.items()
    }
    quiet_until = max(state.quiet_until, state.epoch + 2 * settings.deactivation_epochs)
    return replace(state, links=links, counted_epochs=0, quiet_until=quiet_until)


def inner_count(utilizations: Sequence[float], high_water_mark: float) -> int:
    """How many of a switch's links are inner links: Algorithm 1, lines 9-21, with the budget of section IV-A.1.

    Links are taken in their order until what they have unused below U_hwm is as much as the others carry. One above
    U_hwm has nothing to give.
    """
    rest, budget = sum(utilizations), 0.0
    for count, used in enumerate(utilizations, start=1):
        budget += max(0.0, high_water_mark - used)
        rest -= used
        if budget >= rest:
            return count
    return len(utilizations)


class _Epoch:
    """The end of one epoch, step by step."""

    def __init__(
        self, fabric: Fabric, state: LoopState, used: Mapping[int, Used], settings: Settings, predict: Predict | None
    ) -> None:
        self._fabric = fabric
        self._before = state
        self._used = used
        self._settings = settings
        self._predict = predict
        self._now = state.epoch + 1
        self._counted = state.counted_epochs + 1
        self._changes: list[LinkChange] = []
        self._last = dict(state.last_activated)
        self._quiet_until = state.quiet_until
        self._most_off, self._few_until, self._few_epochs = state.most_off, state.few_until, state.few_epochs
        self._switched: set[str] = set()
        self._relieved: set[str] = set()
        nothing = Used()
        self._links = {
            number: replace(
                memory,
                minimal=memory.minimal + used.get(number, nothing).minimal,
                total=memory.total + used.get(number, nothing).total,
            )
            for number, memory in state.links.items()
        }

    def decision(self) -> Decision:
        """What was decided."""
        due = self._counted >= self._settings.deactivation_epochs
        links = {n: replace(one, minimal=0.0, total=0.0) for n, one in self._links.items()} if due else self._links
        counted = 0 if due else self._counted
        few = (self._most_off, self._few_until, self._few_epochs)
        state = LoopState(links, self._now, counted, self._last, self._quiet_until, *few)
        return Decision(state, tuple(self._changes))

    def take_note_of(self, up: Collection[int]) -> None:
        """Links that came up become active; those that are not up though they should be are down."""
        for number, memory in self._links.items():
            late = memory.state == "waking" and self._now - memory.since > self._settings.deactivation_epochs
            if memory.state in ("waking", "down") and number in up:
                self._set(number, "active", "it is up")
                self._relieved.update(self._fabric.ends(number))
                self._last |= dict.fromkeys(self._fabric.ends(number), number)
            elif (memory.state in ("active", "shadow") or late) and number not in up:
                self._set(number, "down", "it is down though it should be up")

    def join_hosts(self) -> None:
        """If active links do not join all hosts, take shadow links back, then switch links on, barred ones last."""
        if self._joined(self._having("active")):
            return
        for number in sorted(self._having("shadow")):
            self._set(number, "active", "hosts are apart without it")
        for number in sorted(self._having("off"), key=lambda number: (self._barred(number), number)):
            if self._joined(self._having("active", "waking")):
                return
            self._wake(number, "hosts are apart", even_barred=True)

    def back_off(self, slowdown: float | None) -> None:
        """If the program is too slow: activate everything, deactivate nothing for a while, and fewer afterwards."""
        period = self._settings.deactivation_epochs
        if slowdown is not None and slowdown > self._settings.max_slowdown:
            if self._now >= self._quiet_until:
                gone, again = self._off(), self._now < self._few_until
                self._most_off = gone // 2 if again else (gone + 1) // 2
                longest = self._settings.longest_hold_epochs
                self._few_epochs = min(longest, max(_SOON_EPOCHS * period, 2 * self._few_epochs))
                self._few_until = self._now + self._few_epochs
            self._quiet_until = max(self._quiet_until, self._now + 2 * period)
        if self._now < self._quiet_until:
            reason = f"the program was slower than the bound; at most {self._most_off} may go off for a while"
            self.activate_all(reason, needed=False)
            if self._having("waking") or not all(self._barred(number) for number in self._having("off")):
                self._quiet_until = max(self._quiet_until, self._now + 2)  # at least until all are active

    def activate_all(self, reason: str, *, needed: bool = True) -> None:
        """Take shadow links back, and switch links on, one at each switch."""
        for number in sorted(self._having("shadow")):
            self._set(number, "active", reason, needed=needed)
        for number in self._by_virtual(self._having("off")):
            self._wake(number, reason, needed=needed)

    def reactivate(self) -> None:
        """A shadow link becomes active at once if a link at either of its ends is above the mark (IV-A.3, Table I)."""
        mark = self._settings.high_water_mark
        for number in sorted(self._having("shadow")):
            ends = self._fabric.ends(number)
            if any(self._use(other).total > mark for end in ends for other in self._at(end, "active")):
                self._set(number, "active", f"links beside it are above {mark * 100:g}%")

    def activate(self) -> None:
        """Links that a switch needs, the highest virtual utilization first (IV-B and IV-C).

        None where one is on its way or has just come: what that will carry was not counted yet.
        """
        mark = self._settings.high_water_mark
        wanted: set[int] = set()
        for switch in self._fabric.network.switches:
            crowded = [
                number
                for number in self._at(switch, "active")
                if self._use(number).total > mark and self._use(number).detour > self._use(number).minimal
            ]
            candidates = self._at(switch, "off")
            if crowded and candidates and not self._at(switch, "waking") and switch not in self._relieved:
                # With no virtual utilization at all, the link to the innermost switch offers another detour.
                best = max(candidates, key=lambda number: self._use(number).virtual)
                wanted.add(best)
        for number in self._by_virtual(wanted):
            self._wake(number, f"links beside it are above {mark * 100:g}%, mostly by detours")

    def switch_off(self) -> None:
        """A shadow link goes off after a deactivation epoch in which it was not needed."""
        for number in sorted(self._having("shadow")):
            memory = self._links[number]
            free = self._switched.isdisjoint(self._fabric.ends(number)) and not self._barred(number)
            if free and self._now - memory.since >= self._settings.deactivation_epochs:
                self._set(number, "off", "it was not needed as a shadow link")
                self._switched.update(self._fabric.ends(number))

    def deactivate(self) -> None:
        """At the end of a deactivation epoch: outer links at both ends, the least minimally routed traffic first."""
        if self._counted < self._settings.deactivation_epochs or self._now < self._quiet_until:
            return
        shadowed = {end for number in self._having("shadow") for end in self._fabric.ends(number)}
        outer = {switch: self._outer(switch) for switch in self._fabric.network.switches}
        chosen = set()
        for links in outer.values():
            agreed = [number for number in links if all(number in outer[end] for end in self._fabric.ends(number))]
            if agreed:
                chosen.add(min(agreed, key=lambda number: self._links[number].minimal))
        for number in sorted(chosen, key=lambda number: (self._links[number].minimal, number)):
            ends = self._fabric.ends(number)
            if self._now < self._few_until and self._off() >= self._most_off:
                return
            if not shadowed.isdisjoint(ends) or not self._switched.isdisjoint(ends):
                continue
            rest = self._having("active") - {number}
            mark = self._settings.high_water_mark
            if not self._joined(rest) or (self._predict is not None and self._predict(rest) > mark):
                continue
            shadowed.update(ends)
            self._set(number, "shadow", "inner links can carry what it carries")

    # -- Algorithm 1

    def _outer(self, switch: str) -> set[int]:
        """Algorithm 1, lines 9-21: the links of a switch whose traffic the others can take, that may go."""
        links = self._at(switch, "active")
        mean = {number: self._links[number].total / self._counted for number in links}
        mark = self._settings.high_water_mark
        inner = inner_count([mean[number] for number in links], mark)
        busy = any(mean[number] > mark / 2 for number in links[:inner])
        return {
            number
            for number in links[inner:]
            if number not in self._fabric.root
            and not self._barred(number)
            and not (busy and self._last.get(switch) == number)
            and self._now - self._links[number].since >= self._links[number].hold_epochs
        }

    # -- links

    def _use(self, number: int) -> Used:
        return self._used.get(number, Used())

    def _having(self, *states: LinkState) -> frozenset[int]:
        return frozenset(number for number, memory in self._links.items() if memory.state in states)

    def _off(self) -> int:
        """How many links are off, or on their way."""
        return len(self._having("shadow", "off"))

    def _at(self, switch: str, state: LinkState) -> list[int]:
        return [number for number in self._fabric.at[switch] if self._links[number].state == state]

    def _by_virtual(self, links: Iterable[int]) -> list[int]:
        return sorted(links, key=lambda number: (-self._use(number).virtual, number))

    def _joined(self, links: Collection[int]) -> bool:
        return self._fabric.network.connects(links)

    def _barred(self, number: int) -> bool:
        return self._now < self._links[number].barred_until

    def _wake(self, number: int, reason: str, *, even_barred: bool = False, needed: bool = True) -> None:
        """Switch a link on, if neither of its ends has switched one in this epoch."""
        ends = self._fabric.ends(number)
        if self._barred(number) and not even_barred:
            return
        if self._links[number].state == "off" and self._switched.isdisjoint(ends):
            self._set(number, "waking", reason, needed=needed)
            self._switched.update(ends)

    def _set(self, number: int, after: LinkState, reason: str, *, needed: bool = True) -> None:
        """Give a link a state. `needed`: one that comes back, comes back because it is missed, not because all do."""
        memory = self._links[number]
        self._changes.append(LinkChange(number, memory.state, after, reason))
        if memory.state == "active":
            memory = replace(memory, left=self._now)
        elif memory.state in ("shadow", "off") and after in ("active", "waking"):
            memory = replace(memory, hold_epochs=self._hold(memory) if needed else memory.hold_epochs, left=None)
        self._links[number] = replace(memory, state=after, since=self._now)

    def _hold(self, memory: LinkMemory) -> int:
        """How long a link that is needed again has to be active: twice as long as before, if it is needed soon."""
        first = self._settings.deactivation_epochs
        held = max(first, memory.hold_epochs)
        longest = max(_SOON_EPOCHS * first, _SOON_HOLDS * held)
        soon = memory.left is not None and self._now - memory.left < longest
        return min(self._settings.longest_hold_epochs, 2 * held) if soon else first
