"""A lab as its closed loop sees it: links, hosts' trees, their use in an epoch, and the setting that a state asks for.

Pure. The trees that the lab has when the loop begins are those "with all links on": hosts whose tree has all its links
in use send over it, others over a shortest-path tree of the links in use. So when all links are active again, the lab
is as it was found.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.plan import Place
from eee_testbed.controller.planning.regulated import regulable_network, senders_of
from eee_testbed.controller.planning.wishes import Regulated
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.measuring.regulating.epoch_counters import EpochCounts
from eee_testbed.regulation.closed_loop import Fabric, LoopState, Predict
from eee_testbed.regulation.network import Network, Stream, Ways, channel_loads, links_of, pruned, tree_ways
from eee_testbed.regulation.traffic import Counted, HostBytes, Senders, from_counters, streams_of
from eee_testbed.regulation.utilization import Used, as_counted, used_by

_BIT_PER_BYTE: Final = 8
_MEGA: Final = 1e6


@dataclass(frozen=True, slots=True)
class EpochTraffic:
    """What was used in an epoch, by trunk; the trunks that were up; what hosts sent in it, as estimated."""

    used: Mapping[int, Used]
    up: frozenset[int]
    byte_by_pair: HostBytes

    @property
    def busiest_share(self) -> float:
        """The share of time in use of the busiest trunk's busier direction."""
        return max((one.total for one in self.used.values()), default=0.0)


@dataclass(frozen=True, slots=True)
class LoopedNetwork:
    """The trunks that were on when the loop began. `senders` and `trees` are the hosts' of that time."""

    lab: Lab
    topology: Topology
    fabric: Fabric
    senders: tuple[Senders, ...]
    trees: tuple[Ways, ...]

    @classmethod
    def of(cls, lab: Lab, home: State, hub: str = "") -> "LoopedNetwork":
        """From the state that the lab is found in; PlanError if it has no trees, or hosts are apart."""
        network = regulable_network(lab, home)
        senders = senders_of(lab, home)
        trees = tuple(tree_ways(network, group.root, group.links) for group in senders)
        return cls(lab, Topology.of(lab), Fabric.of(network, hub), senders, trees)

    @property
    def network(self) -> Network:
        """Switches and trunks."""
        return self.fabric.network

    def places(self) -> tuple[Place, ...]:
        """Ports that the loop reads counters of: those of hosts, and both ends of every cable of a trunk."""
        hosts = self.topology.homes.values()
        cables = [cable for number in self.network.trunks for cable in self.topology.cables[number]]
        ends = [*hosts, *(end for cable in cables for end in (cable.a, cable.b))]
        return tuple(dict.fromkeys((end.device, end.port) for end in ends))

    def require_counters(self, sampled: Collection[str]) -> None:
        """LabError if a switch of the network is not among the sources that are sampled: it has no SNMP agent."""
        missing = sorted({switch for switch, _ in self.places()}.difference(sampled))
        if missing:
            raise LabError(
                f"{', '.join(missing)} cannot be read by SNMP, and the loop needs the counters of every switch: set up "
                "its agent, or use `eeectl regulate run`."
            )

    def senders_over(self, links: frozenset[int]) -> tuple[Senders, ...]:
        """The hosts' trees if some trunks are in use; PlanError if those do not reach all switches with hosts."""
        return tuple(
            group if group.links <= links else Senders(group.root, group.hosts, self._shortest(group.root, links))
            for group in self.senders
        )

    def regulation(self, state: LoopState, now: frozenset[int]) -> Regulated:
        """What the lab is set to in a state: trees over active links; links that are off are shut, others are on.

        While active links do not join all hosts, trees stay as they are now, over the links `now`: links that join them
        have to come up first.
        """
        off, active = state.having("off"), state.having("active")
        links = active if self.network.connects(active) else now
        routes = tuple((group.hosts, group.links) for group in self.senders_over(links))
        on = frozenset(self.network.trunks) - off
        return Regulated(
            routes, on, off, cables={number: self.network.trunks[number].width for number in self._partly & on}
        )

    @property
    def _partly(self) -> frozenset[int]:
        """LAGs that were found with some of their cables off, which stay off."""
        trunks = self.network.trunks.items()
        return frozenset(number for number, trunk in trunks if trunk.width < len(self.topology.cables[number]))

    def traffic(self, counts: EpochCounts, links: frozenset[int], epoch_s: float) -> EpochTraffic:
        """What was used in an epoch of `epoch_s` seconds in which the trees ran over `links`.

        Ports count bytes, and not who sent them to whom. So the division into minimal traffic and detours is estimated
        (`regulation.traffic.from_counters`), while a trunk's total is that of its ports.
        """
        senders = self.senders_over(links)
        now = self._ways(senders)
        hosts = {host: (end.device, end.port) for host, end in self.topology.homes.items()}
        homes = {host: end.device for host, end in self.topology.homes.items()}
        channels = {
            (number, switch): self._sent_byte_s(counts, number, switch) * epoch_s
            for number, trunk in self.network.trunks.items()
            for switch in (trunk.a, trunk.b)
        }
        counted = Counted(
            {host: counts.ports[place].in_byte_s * epoch_s for host, place in hosts.items()},
            {host: counts.ports[place].out_byte_s * epoch_s for host, place in hosts.items()},
            channels,
        )
        estimate = from_counters(senders, now, homes, counted)
        streams = streams_of(self.senders, homes, estimate.byte_by_pair)
        estimated = used_by(self.network, streams, self.trees, now, epoch_s)
        shares = {
            number: max(channels[number, trunk.a], channels[number, trunk.b]) / self._most_byte(number, epoch_s)
            for number, trunk in self.network.trunks.items()
        }
        return EpochTraffic(as_counted(estimated, shares), self._up(counts), estimate.byte_by_pair)

    def predict(self, sent: Sequence[HostBytes], epoch_s: float) -> Predict:
        """What the busiest channel would be used if only some trunks were, in the busiest of some epochs."""
        homes = {host: end.device for host, end in self.topology.homes.items()}
        epochs = [streams_of(self.senders, homes, epoch) for epoch in sent]

        def predicted(links: frozenset[int]) -> float:
            trees = self._ways(self.senders_over(links))
            return max((self._busiest(streams, trees, epoch_s) for streams in epochs), default=0.0)

        return predicted

    def _busiest(self, streams: Sequence[Stream], trees: Sequence[Ways], epoch_s: float) -> float:
        loads = channel_loads(streams, trees)
        return max((byte / self._most_byte(number, epoch_s) for (number, _), byte in loads.items()), default=0.0)

    def _ways(self, senders: Sequence[Senders]) -> tuple[Ways, ...]:
        return tuple(tree_ways(self.network, group.root, group.links) for group in senders)

    def _shortest(self, root: str, links: frozenset[int]) -> frozenset[int]:
        ways = pruned(root, self.network.ways(root, links), self.network.homes)
        tree_ways(self.network, root, links_of(ways))
        return links_of(ways)

    def _most_byte(self, number: int, epoch_s: float) -> float:
        trunk = self.network.trunks[number]
        return trunk.rate_mbps * trunk.width * _MEGA / _BIT_PER_BYTE * epoch_s

    def _sent_byte_s(self, counts: EpochCounts, number: int, switch: str) -> float:
        """What a switch sent into a trunk: of an aggregate the sum of its cables."""
        ends = (end for cable in self.topology.cables[number] for end in (cable.a, cable.b) if end.device == switch)
        return sum(counts.ports[end.device, end.port].out_byte_s for end in ends)

    def _up(self, counts: EpochCounts) -> frozenset[int]:
        """Trunks of which a cable is up at both ends."""
        return frozenset(
            number
            for number in self.network.trunks
            if any(
                counts.ports[cable.a.device, cable.a.port].up and counts.ports[cable.b.device, cable.b.port].up
                for cable in self.topology.cables[number]
            )
        )
