"""What the decisions of a closed loop look at: shares of links' time, by minimal and by other traffic. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eee_testbed.regulation.network import Channel, Network, Stream, Ways, path_of


@dataclass(frozen=True, slots=True)
class Used:
    """Shares of a link's time, 0 to 1 and above if more was sent than it can carry, in its busier direction.

    `minimal` is by traffic that runs as it would with all links on, `detour` by other traffic. `virtual` is what the
    link would carry of minimally routed traffic if it were active: TCEP's virtual utilization (section IV-B).
    """

    minimal: float = 0.0
    detour: float = 0.0
    virtual: float = 0.0

    @property
    def total(self) -> float:
        """By all traffic."""
        return self.minimal + self.detour


def used_by(
    network: Network, streams: Sequence[Stream], all_on: Sequence[Ways], now: Sequence[Ways], time_s: float
) -> dict[int, Used]:
    """Of each trunk, from what the streams sent in `time_s` seconds, their trees with all links on and their trees now.

    A path is minimal if it has as many trunks as with all links on (Kim, Choi and Kim 2018, III-D: other traffic could
    take another detour, and needs no more bandwidth then).
    """
    minimal: defaultdict[Channel, int] = defaultdict(int)
    detour: defaultdict[Channel, int] = defaultdict(int)
    virtual: defaultdict[Channel, int] = defaultdict(int)
    for stream, reference, ways in zip(streams, all_on, now, strict=True):
        for target, amount_byte in stream.byte_to.items():
            wanted, path = path_of(reference, stream.root, target), path_of(ways, stream.root, target)
            for channel in wanted:
                virtual[channel] += amount_byte
            counter = minimal if len(path) <= len(wanted) else detour
            for channel in path:
                counter[channel] += amount_byte
    found = {}
    for number, trunk in network.trunks.items():
        most_byte = trunk.rate_mbps * trunk.width * 1e6 / 8 * time_s
        ends: tuple[Channel, Channel] = ((number, trunk.a), (number, trunk.b))
        busier = max(ends, key=lambda channel: minimal[channel] + detour[channel])
        most = max(virtual[channel] for channel in ends)
        found[number] = Used(minimal[busier] / most_byte, detour[busier] / most_byte, most / most_byte)
    return found


def as_counted(estimated: Mapping[int, Used], shares: Mapping[int, float]) -> dict[int, Used]:
    """What links carried as their ports counted it, divided into minimal and other traffic as it was estimated.

    What no estimate explains, such as floods, is divided alike; without any estimate it is minimal.
    """
    found = {}
    for number, used in estimated.items():
        total = shares.get(number, used.total)
        minimal = total * used.minimal / used.total if used.total else total
        found[number] = Used(minimal, total - minimal, used.virtual)
    return found
