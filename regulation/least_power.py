"""The least power under Koibuchi's bound: trees and levels chosen together. Pure, but for the solver's clock.

Up to `EXACT_SWITCHES` switches a mixed-integer program is solved (HiGHS through scipy). For each stream k, arc a of a
trunk l, and switch v:

    minimise    sum of watt(l, level) z(l, level)
    one level   sum over levels of z(l, level) = 1
    tree        sum over arcs into v of x(k, a) = 1 for each switch v with hosts but the root, <= 1 for others, 0 into
                the root
    joined      g(k, a) <= n x(k, a); a unit of g reaches every switch with hosts from the root
    load        f(k, a) <= D(k) x(k, a); what the stream sends to v is left there by f
    on          x(k, a) <= sum of z(l, level) over levels that are not off
    peak        sum over k of f(k, a) <= sum of capacity(l, level) z(l, level), less a billionth part, as it is
                "less than peak"

Beyond that, and if the time ends first, the best is taken of what was found and of Koibuchi's selection in several
orders; `Choice.gap` states what is not proved. Every choice is checked with whole bytes by `require_kept`.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eee_testbed.lab.errors import PlanError
from eee_testbed.regulation.choice import Choice, choice_of, require_kept
from eee_testbed.regulation.koibuchi import Order, koibuchi
from eee_testbed.regulation.levels import Levels
from eee_testbed.regulation.network import Channel, Network, Stream, Ways, links_of, pruned

EXACT_SWITCHES: Final = 50
EXACT_VARIABLES: Final = 60_000
"""Larger programs are not given to the solver: it would find nothing in the time."""

_TRIALS: Final = 4
_MANY_TRUNKS: Final = 100
_STRICTLY: Final = 1 - 1e-9
_ROUNDING: Final = 1e-6


def least_power(
    network: Network,
    streams: Sequence[Stream],
    trees: Sequence[Ways],
    levels: Levels,
    *,
    time_limit_s: float = 10.0,
    seed: int = 1,
) -> Choice:
    """The choice that draws least, never more than Koibuchi's, with its gap. PlanError as `koibuchi` has it.

    With `time_limit_s` 0, and for large networks, the heuristic alone. A solver that is ended by its clock may find
    different choices on different machines; one that ends by itself, and the heuristic, always find the same.
    """
    bound = lower_bound(network, streams, levels)
    best = replace(koibuchi(network, streams, trees, levels), how="heuristic")
    for order in _orders(network, levels, seed):
        if best.watt > bound + _ROUNDING:
            other = replace(koibuchi(network, streams, trees, levels, order), how="heuristic")
            best = min(best, other, key=lambda choice: choice.watt)
    if best.watt > bound + _ROUNDING and time_limit_s and len(network.switches) <= EXACT_SWITCHES:
        program = _Program(network, streams, levels)
        if program.size <= EXACT_VARIABLES:
            found, shown = program.solve(time_limit_s, best.watt)
            bound = max(bound, min(shown, best.watt))
            if found is not None and found.watt < best.watt - _ROUNDING:
                best = found
    return replace(best, bound_watt=min(bound, best.watt))


def _orders(network: Network, levels: Levels, seed: int) -> list[Order]:
    """Other orders in which Koibuchi's selection may try trunks; of large networks, one."""
    rank = {name: place for place, name in enumerate(network.switches)}

    def outer_first(number: int, _load_byte: int) -> tuple[float, ...]:
        trunk = network.trunks[number]
        ends = sorted((rank[trunk.a], rank[trunk.b]))
        return -ends[0], -ends[1], number

    def dearest_first(number: int, load_byte: int) -> tuple[float, ...]:
        return min(level.watt for level in levels[number]) - levels[number][0].watt, load_byte, number

    if len(network.trunks) > _MANY_TRUNKS:
        return [outer_first]
    orders: list[Order] = [outer_first, dearest_first]
    generator = random.Random(seed)  # noqa: S311 - a reproducible order, not a secret
    for _ in range(_TRIALS):
        shuffled = {number: generator.random() for number in network.trunks}
        orders.append(lambda number, _load_byte, shuffled=shuffled: (shuffled[number], number))  # type: ignore[misc]
    return orders


def lower_bound(network: Network, streams: Sequence[Stream], levels: Levels) -> float:
    """Watts that no choice under the bound falls below.

    Every trunk draws at least its least. On top comes the larger of two bounds. To join n switches
    with hosts takes n - 1 trunks: the cheapest. And each switch's trunks have to carry what its hosts send or receive:
    half of the least that they draw then, as each trunk is at two switches.
    """
    least = {number: min(level.watt for level in own) for number, own in levels.items()}
    joining = sorted(
        min(level.watt for level in own if not level.is_off) - least[number] for number, own in levels.items()
    )
    carrying = sum(_carrying_watt(network, streams, levels, least, home) for home in network.homes) / 2
    return sum(least.values()) + max(sum(joining[: max(0, len(network.homes) - 1)]), carrying)


def _carrying_watt(
    network: Network, streams: Sequence[Stream], levels: Levels, least: Mapping[int, float], switch: str
) -> float:
    """Extra watts of a switch's trunks, at least, if cables could be on in part: the cheapest per byte come first."""
    sent = sum(sum(stream.byte_to.values()) for stream in streams if stream.root == switch)
    received = sum(stream.byte_to.get(switch, 0) for stream in streams)
    rest, watt = float(max(sent, received)), 0.0
    offers = []
    for number, trunk in network.trunks.items():
        if switch in (trunk.a, trunk.b):
            on = [level for level in levels[number] if not level.is_off]
            each = min((level.watt - least[number]) / level.capacity_byte for level in on)
            offers.append((each, max(level.capacity_byte for level in on)))
    for each, capacity_byte in sorted(offers):
        taken = min(rest, capacity_byte)
        watt += each * taken
        rest -= taken
        if rest <= 0:
            break
    return watt


class _Program:
    """The mixed-integer program. Columns: z by trunk and level, then x, g and f by stream and arc."""

    def __init__(self, network: Network, streams: Sequence[Stream], levels: Levels) -> None:
        self._network = network
        self._streams = streams
        self._levels = levels
        self._arcs: list[Channel] = [
            (number, sender) for number, trunk in network.trunks.items() for sender in (trunk.a, trunk.b)
        ]
        self._level_column: dict[tuple[int, int], int] = {}
        for number, own in levels.items():
            for place in range(len(own)):
                self._level_column[number, place] = len(self._level_column)
        self._rows: list[tuple[dict[int, float], float, float]] = []

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self._level_column) + 3 * len(self._streams) * len(self._arcs)

    def solve(self, time_limit_s: float, watt: float) -> tuple[Choice | None, float]:
        """The best choice found, if any, and a lower bound in watts. `watt`: only better choices are of interest."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - half a second to load
        from scipy.sparse import csr_array  # noqa: PLC0415

        self._build(watt)
        costs = np.zeros(self.size)
        for (number, place), column in self._level_column.items():
            costs[column] = self._levels[number][place].watt
        whole = np.zeros(self.size)
        upper = np.full(self.size, np.inf)
        binary = len(self._level_column) + len(self._streams) * len(self._arcs)
        whole[:binary], upper[:binary] = 1, 1
        entries = [
            (row, column, value) for row, (terms, _, _) in enumerate(self._rows) for column, value in terms.items()
        ]
        rows, columns, values = (np.array(each) for each in zip(*entries, strict=True))
        matrix = csr_array((values.astype(float), (rows, columns)), shape=(len(self._rows), self.size))
        low, high = (np.array([row[place] for row in self._rows]) for place in (1, 2))
        result = milp(
            costs,
            integrality=whole,
            bounds=Bounds(np.zeros(self.size), upper),
            constraints=LinearConstraint(matrix, low, high),
            options={"time_limit": time_limit_s, "mip_rel_gap": 0.0},
        )
        shown = getattr(result, "mip_dual_bound", None)
        if result.status == 2:  # infeasible: nothing better than `watt` exists
            return None, watt
        bound = float(shown) if shown is not None and np.isfinite(shown) else 0.0
        return (None if result.x is None else self._choice(result.x)), bound

    def _build(self, watt: float) -> None:
        streams, arcs, count = self._streams, self._arcs, len(self._arcs)
        base = len(self._level_column)
        block = len(streams) * count
        # Amounts in units of the largest capacity that matters, so that no coefficient is far from 1.
        total = sum(sum(stream.byte_to.values()) for stream in streams)
        capacities = [
            min(level.capacity_byte, 2.0 * total + 1) for own in self._levels.values() for level in own if level.cables
        ]
        unit = max(capacities, default=1.0)
        for number, own in self._levels.items():
            self._rows.append(({self._level_column[number, place]: 1.0 for place in range(len(own))}, 1.0, 1.0))
        into: dict[str, list[int]] = {name: [] for name in self._network.switches}
        out: dict[str, list[int]] = {name: [] for name in self._network.switches}
        for place, (number, sender) in enumerate(arcs):
            out[sender].append(place)
            into[self._network.trunks[number].other(sender)].append(place)
        homes = set(self._network.homes)
        for index, stream in enumerate(streams):
            x, g, f = (base + kind * block + index * count for kind in range(3))
            reach = len(homes - {stream.root})
            sent = sum(stream.byte_to.values()) / unit
            for place, (number, _) in enumerate(arcs):
                on = {
                    self._level_column[number, level]: -1.0
                    for level, own in enumerate(self._levels[number])
                    if own.cables
                }
                self._rows.append(({x + place: 1.0, **on}, -np.inf, 0.0))
                self._rows.append(({g + place: 1.0, x + place: -float(reach)}, -np.inf, 0.0))
                self._rows.append(({f + place: 1.0, x + place: -sent}, -np.inf, 0.0))
            for name in self._network.switches:
                if name == stream.root:
                    self._rows.append(({x + place: 1.0 for place in into[name]}, 0.0, 0.0))
                    continue
                least = 1.0 if name in homes else 0.0
                self._rows.append(({x + place: 1.0 for place in into[name]}, least, 1.0))
                for column, left in ((g, least), (f, stream.byte_to.get(name, 0) / unit)):
                    terms = {column + place: 1.0 for place in into[name]}
                    terms |= {column + place: -1.0 for place in out[name]}
                    self._rows.append((terms, left, left))
        first_f = base + 2 * block
        for place, (number, _) in enumerate(arcs):
            terms = {first_f + index * count + place: 1.0 for index in range(len(streams))}
            for level, one in enumerate(self._levels[number]):
                capacity = min(one.capacity_byte, 2.0 * total + 1) / unit
                terms[self._level_column[number, level]] = -capacity * _STRICTLY
            self._rows.append((terms, -np.inf, 0.0))
        costs = {column: self._levels[number][place].watt for (number, place), column in self._level_column.items()}
        self._rows.append((costs, -np.inf, watt))

    def _choice(self, values: NDArray[np.float64]) -> Choice | None:
        """The choice that the columns stand for; None if it is beyond a bound by the solver's tolerance."""
        levels = {
            number: own[max(range(len(own)), key=lambda place: values[self._level_column[number, place]])]
            for number, own in self._levels.items()
        }
        base, count = len(self._level_column), len(self._arcs)
        trees = []
        for index, stream in enumerate(self._streams):
            taken = [arc for place, arc in enumerate(self._arcs) if values[base + index * count + place] > 0.5]
            trees.append(self._tree(stream.root, taken))
        choice = choice_of("least power (HiGHS)", self._streams, trees, levels)
        try:
            require_kept(self._network, self._streams, choice)
        except PlanError:
            return None
        return choice

    def _tree(self, root: str, taken: Sequence[Channel]) -> Mapping[str, tuple[str, int]]:
        ways = {self._network.trunks[number].other(sender): (sender, number) for number, sender in taken}
        return pruned(root, ways, self._network.homes)


def trees_differ(one: Choice, other: Choice) -> int:
    """How many streams have different trunks in two choices."""
    return sum(links_of(a) != links_of(b) for a, b in zip(one.trees, other.trees, strict=True))
