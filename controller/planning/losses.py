"""What a change takes from a lab that may have been found with faults: compared by place and pair, not by words. Pure.

A lab that is rolled back may be found with a loop in one place and with hosts apart in another. That does not permit a
loop or a cut elsewhere: each fault is compared with what was found of the same cables, hosts and switches.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

from eee_testbed.controller.model.state import Change
from eee_testbed.controller.planning.broadcast import Edge, find_loop, without_loops
from eee_testbed.controller.planning.check import LOOP, Crossing, Fault, Watch
from eee_testbed.controller.planning.management import ManagementPaths

HostPair = tuple[str, str]
"""Two hosts, ordered by name."""


class Losses:
    """Compares each state of a watch with the one that it has when this is made."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._guards = {(crossing.number, crossing.pair): crossing.guards for crossing in watch.crossings}
        self._half = frozenset(watch.half_members)
        receivers = {host: watch.receivers(host) for host in watch.hosts}
        self._joined = {
            host: frozenset(other for other in own if other != host and host in receivers[other])
            for host, own in receivers.items()
        }
        self._paths = ManagementPaths(watch)

    def apply(self, change: Change) -> Fault | None:
        """Apply a change to the watch; a loop or a loss of management that it makes and that was not there at first."""
        lost = self._paths.apply(change)
        half = next((fault for fault in self._watch.half_members if fault not in self._half), None)
        return half or (self._loop() if self._watch.has_loop else None) or lost

    def rewind(self, changes: Sequence[Change]) -> None:
        """Take back the last changes that were applied, given in their order."""
        self._paths.rewind(changes)

    def parted(self) -> frozenset[HostPair]:
        """Hosts that surely reached each other at first, and do not now."""
        if not self._watch.faults:
            return frozenset()
        return frozenset(
            (min(host, other), max(host, other))
            for host, others in self._joined.items()
            for other in others - self._watch.receivers(host)
        )

    def _loop(self) -> Fault | None:
        """A loop over a crossing that was not there at first, or that a spanning tree watched over then."""
        now = sorted(self._watch.crossings, key=lambda crossing: (crossing.number, crossing.pair))
        is_mixing = any(one != other for one, other in (crossing.pair for crossing in now))
        parts: defaultdict[int, list[Crossing]] = defaultdict(list)
        for crossing in now:
            parts[0 if is_mixing else crossing.pair[0]].append(crossing)
        for vid, part in sorted(parts.items()):
            if loop := self._new_loop(part):
                return Fault(f"{LOOP} in VLAN {vid}" if vid else f"{LOOP} over cables that join VLANs", loop)
        return None

    def _new_loop(self, crossings: list[Crossing]) -> tuple[str, ...] | None:
        edges = {crossing: self._edge(crossing) for crossing in crossings}
        old = {crossing: edge for crossing, edge in edges.items() if self._was_there(crossing)}
        guarded = [edge for crossing, edge in edges.items() if crossing.is_guarded]
        old_guarded = [edge for crossing, edge in old.items() if crossing.is_guarded]
        old_bare = without_loops(old_guarded, [edge for crossing, edge in old.items() if not crossing.is_guarded])
        fresh = [edge for crossing, edge in edges.items() if crossing not in old and not crossing.is_guarded]
        return find_loop(guarded, [*old_bare, *fresh])

    def _was_there(self, crossing: Crossing) -> bool:
        """Whether frames could pass at first, with no more spanning tree than now."""
        guards = self._guards.get((crossing.number, crossing.pair))
        return guards is not None and guards <= crossing.guards

    def _edge(self, crossing: Crossing) -> Edge:
        link = self._watch.topology.trunks[crossing.number]
        places: tuple[Hashable, Hashable] = (link.a.device, crossing.pair[0]), (link.b.device, crossing.pair[1])
        return *places, link
