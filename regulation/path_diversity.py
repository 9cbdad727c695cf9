"""Closed forms of TCEP (Kim, Choi and Kim 2018): path counts, and the least share of links that must be active. Pure.

A network here is a complete graph of routers, the one-dimensional flattened butterfly, of which some links are active.
Router 0 is the central hub: its links, the root network, are active always (section III-B). A path has one link, which
is minimal, or two, over an intermediate router (section III-C).

The paper's Figure 3 has 56 paths for 7 root links and 6 more that are concentrated on one router of 8, and 40 for 6
that are spread. Counted in full, the first has 61, and no placement of 13 links has fewer than 51. 56 and 40 come out
if a pair counts with at most two paths and the spread links form two triangles; the figure's links are not in the text.
Figure 4's largest gain, 1.93, is met (1.94) by paths of two links against the fewest of 10,000 placements; against
their mean it is 1.86, and 1.77 with the minimal paths that the figure's caption includes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Pair = tuple[int, int]


def root_links(routers: int) -> tuple[Pair, ...]:
    """The links of the central hub."""
    return tuple((0, other) for other in range(1, routers))


def other_links(routers: int) -> tuple[Pair, ...]:
    """All links but those of the hub, in the order in which concentration activates them: router 1's first."""
    return tuple(combinations(range(1, routers), 2))


def path_count(routers: int, links: Collection[Pair], most_per_pair: int | None = None) -> int:
    """Paths of one or two links over all pairs of routers; of each pair `most_per_pair` at most."""
    active = np.zeros((routers, routers), dtype=np.int64)
    for one, other in links:
        active[one, other] = active[other, one] = 1
    each = (active + active @ active)[np.triu_indices(routers, 1)]
    return int(each.sum() if most_per_pair is None else np.minimum(each, most_per_pair).sum())


@dataclass(frozen=True, slots=True)
class PathGain:
    """Of a number of links besides the root network: paths if they are concentrated, and over random placements.

    `share` of all links is active. Of the placements the mean, fewest and most paths.
    """

    extra: int
    share: float
    concentrated: int
    mean: float
    fewest: int
    most: int


def path_gains(
    routers: int, extras: Sequence[int], *, samples: int = 10_000, seed: int = 1, minimal: bool = True
) -> tuple[PathGain, ...]:
    """Figure 4: paths with concentrated links and with links at random. `minimal` False: paths of two links alone.

    A router of degree d is intermediate on d (d - 1) / 2 paths, so the degrees alone give the number.
    """
    generator = np.random.default_rng(seed)
    others = np.array(other_links(routers))
    total = len(others) + routers - 1

    def paths(degrees: NDArray[np.int64], extra: int) -> NDArray[np.int64]:
        full = degrees + 1  # of each router but the hub, which is linked to all
        full[:, 0] = routers - 1
        counts: NDArray[np.int64] = (full * (full - 1) // 2).sum(axis=1)
        return counts + (routers - 1 + extra if minimal else 0)

    def degrees_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
        ends = others[places].reshape(len(places), -1)
        found = np.zeros((len(places), routers), dtype=np.int64)
        np.add.at(found, (np.arange(len(places))[:, None], ends), 1)
        return found

    gains = []
    for extra in extras:
        first = np.arange(extra)[None, :]
        drawn = np.argsort(generator.random((samples, len(others))), axis=1)[:, :extra]
        (concentrated,) = paths(degrees_of(first), extra)
        counts = paths(degrees_of(drawn), extra)
        share = (routers - 1 + extra) / total
        gains.append(
            PathGain(extra, share, int(concentrated), float(counts.mean()), int(counts.min()), int(counts.max()))
        )
    return tuple(gains)


def least_active_share(routers: int, nodes: int, load: float) -> float:
    """The least share of links that must be active under uniform traffic (section VI-A, Fig. 12).

    `load`: flits a node and cycle, 0 to 1. What crosses the bisection has to fit into the links that are active, and a
    packet without a link of its own takes two:

        N l/2 (c + 2 (1 - c)) <= R^2/2 c,  so  c >= 2 N l / (R^2 + N l);  and c >= (R - 1) / (R (R - 1) / 2) = 2/R.
    """
    crossing = nodes * load
    return min(1.0, max(2 * crossing / (routers**2 + crossing), 2 / routers))
