"""Who sends how much to whom: from what a program counted between its ranks, or from counters of ports. Pure.

Bytes that a program counts are those of MPI messages, as in the paper (Koibuchi 2011, V.D: "byte, in MPI level
communication"): without headers, acknowledgements and retransmissions. Counters of ports have all of that in them.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from eee_testbed.regulation.network import Channel, Stream, Ways

HostBytes = Mapping[tuple[str, str], int]
"""Bytes by source and destination host."""

_ROUNDS: Final = 500
_CLOSE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Senders:
    """Hosts at one switch that send over one tree, the trunks of which are `links`."""

    root: str
    hosts: tuple[str, ...]
    links: frozenset[int]


def between_hosts(size_byte: Sequence[Sequence[int]], host_of: Callable[[int], str]) -> dict[tuple[str, str], int]:
    """Bytes between hosts from bytes between ranks; what ranks of one host send each other reaches no link."""
    found: defaultdict[tuple[str, str], int] = defaultdict(int)
    for source, row in enumerate(size_byte):
        for target, amount_byte in enumerate(row):
            pair = host_of(source), host_of(target)
            if amount_byte and pair[0] != pair[1]:
                found[pair] += amount_byte
    return dict(found)


def streams_of(senders: Sequence[Senders], home_of: Mapping[str, str], byte_by_pair: HostBytes) -> tuple[Stream, ...]:
    """What each group of senders sends to each other switch. `home_of`: the switch of each host."""
    stream_of = {host: place for place, group in enumerate(senders) for host in group.hosts}
    amounts: list[defaultdict[str, int]] = [defaultdict(int) for _ in senders]
    for (source, target), amount_byte in byte_by_pair.items():
        if home_of[source] != home_of[target] and amount_byte:
            amounts[stream_of[source]][home_of[target]] += amount_byte
    return tuple(Stream(group.root, group.hosts, dict(amount)) for group, amount in zip(senders, amounts, strict=True))


@dataclass(frozen=True, slots=True)
class Estimate:
    """Traffic estimated from counters. `worst_share`: how far the worst counter is from the estimate, as a share of it.

    Counters do not show pairs. Of all matrices that fit them, this is the one nearest to the gravity model, in which
    each host sends to the others in proportion to what they receive. It is exact where a counter is of one pair.
    """

    byte_by_pair: HostBytes
    worst_share: float


@dataclass(frozen=True, slots=True)
class Counted:
    """Bytes counted over one time: sent and received by hosts at their ports, and by channel of trunks if known."""

    sent_byte: Mapping[str, float]
    received_byte: Mapping[str, float]
    channel_byte: Mapping[Channel, float]


def from_counters(
    senders: Sequence[Senders], trees: Sequence[Ways], home_of: Mapping[str, str], counted: Counted
) -> Estimate:
    """Traffic between hosts by iterative proportional fitting to the counters.

    A matrix of ones is scaled to each counter in turn, again and again, until no entry changes by more than a millionth
    part (Csiszar 1975: this converges to the matrix nearest to the first one, in the sense of relative entropy, if the
    counters agree with each other). Counters that contradict each other, as those of floods do, leave `worst_share`.
    """
    import numpy as np  # noqa: PLC0415 - plans take the types of this module, and no numbers

    pairs, rows = _rows(senders, trees, home_of, counted)
    usable = [(np.array(places), amount_byte) for places, amount_byte in rows]
    values = np.ones(len(pairs))
    for _ in range(_ROUNDS):
        before = values.copy()
        for places, amount_byte in usable:
            total = values[places].sum()
            values[places] *= amount_byte / total if total else 0.0
        if np.allclose(values, before, rtol=_CLOSE, atol=0.5 / max(1, len(pairs))):
            break
    worst = max((abs(values[places].sum() - amount) / max(amount, 1.0) for places, amount in usable), default=0.0)
    found = {pair: round(value) for pair, value in zip(pairs, values.tolist(), strict=True) if round(value)}
    return Estimate(found, float(worst))


def _rows(
    senders: Sequence[Senders], trees: Sequence[Ways], home_of: Mapping[str, str], counted: Counted
) -> tuple[list[tuple[str, str]], list[tuple[list[int], float]]]:
    """The pairs of hosts that were counted; and of each counter the pairs that are in it, and its bytes."""
    amounts: dict[Hashable, float] = {
        **{("sent", host): amount_byte for host, amount_byte in counted.sent_byte.items()},
        **{("received", host): amount_byte for host, amount_byte in counted.received_byte.items()},
        **dict(counted.channel_byte.items()),
    }
    pairs: list[tuple[str, str]] = []
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for group, ways in zip(senders, trees, strict=True):
        sources = [host for host in group.hosts if host in counted.sent_byte]
        for source, target in product(sources, counted.received_byte):
            if source == target:
                continue
            keys: list[Hashable] = [("sent", source), ("received", target)]
            at = home_of[target]
            while at != group.root:
                at, number = ways[at]
                keys.append((number, at))
            for key in keys:
                places[key].append(len(pairs))
            pairs.append((source, target))
    return pairs, [(found, amounts[key]) for key, found in places.items() if key in amounts]
