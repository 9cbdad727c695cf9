"""What is chosen for a network: a level for each trunk and a tree for each stream; and whether that keeps the bound."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eee_testbed.lab.errors import PlanError
from eee_testbed.regulation.levels import Level
from eee_testbed.regulation.network import Channel, Network, Stream, Ways, channel_loads, links_of


@dataclass(frozen=True, slots=True)
class Choice:
    """`levels` by trunk, `trees` in the order of the streams, `load_byte` by channel; `watt` is of all trunks.

    `bound_watt`: no choice under the same bound draws less than this, as far as was shown; `gap` is how much less it
    might draw, as a share of `watt`. `how` names the method.
    """

    how: str
    levels: Mapping[int, Level]
    trees: tuple[Ways, ...]
    load_byte: Mapping[Channel, int]
    watt: float
    bound_watt: float = 0.0

    @property
    def off(self) -> frozenset[int]:
        """The trunks that are off."""
        return frozenset(number for number, level in self.levels.items() if level.is_off)

    @property
    def gap(self) -> float:
        """How much less than `watt` another choice might draw at most, as a share of `watt`; 0: nothing is better."""
        return max(0.0, 1 - self.bound_watt / self.watt) if self.watt > 0 else 0.0


def choice_of(
    how: str,
    streams: Sequence[Stream],
    trees: Sequence[Ways],
    levels: Mapping[int, Level],
    bound_watt: float = 0.0,
) -> Choice:
    """A choice with its loads and watts."""
    loads = channel_loads(streams, trees)
    return Choice(how, dict(levels), tuple(trees), loads, sum(level.watt for level in levels.values()), bound_watt)


def require_kept(network: Network, streams: Sequence[Stream], choice: Choice) -> None:
    """PlanError if a channel is not below its capacity, a tree uses a trunk that is off, or hosts are not joined."""
    for (number, sender), load_byte in choice.load_byte.items():
        level = choice.levels[number]
        if level.is_off or not load_byte < level.capacity_byte:
            trunk = network.trunks[number]
            raise PlanError(
                f"from {sender} to {trunk.other(sender)} trunk {number} would carry {load_byte:.6g} bytes, and at "
                f"level '{level.name}' it may carry less than {level.capacity_byte:.6g}: give a larger peak."
            )
    for stream, ways in zip(streams, choice.trees, strict=True):
        if not links_of(ways).isdisjoint(choice.off) or not {*network.homes} <= {stream.root, *ways}:
            raise PlanError(f"the tree of {stream.root} would not reach every host: choose other links.")
