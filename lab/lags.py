"""Link aggregation groups: which cables of the inventory make up a LAG. Pure.

LAGs are static (IEEE 802.1AX without LACP): one link with the rate of all cables together.
"""

from collections.abc import Callable, Sequence

from eee_testbed.lab.model import End, Lag, Link, lag_port

MOST_MEMBERS = 8
"""What switches of all families at hand can do."""

Complain = Callable[[int, str, str, str], None]
"""Called with each mistake: line, key, sentence, remedy."""


def lags_of(
    cables: Sequence[tuple[Link, int | None, int]], hosts: frozenset[str], complain: Complain
) -> tuple[Lag, ...]:
    """LAGs in the order of their first cables; `cables` are links with the LAG's number and the line in the file."""
    groups: dict[tuple[int, frozenset[str]], list[tuple[Link, int]]] = {}
    for link, number, line in cables:
        if number is None:
            continue
        devices = frozenset((link.a.device, link.b.device))
        if devices & hosts:
            complain(line, "lag", f"{link.name} ends at a node", "only cables between two switches make up a LAG")
            continue
        groups.setdefault((number, devices), []).append((link, line))
    owners: dict[tuple[str, int], frozenset[str]] = {}
    for (number, devices), members in groups.items():
        line = members[0][1]
        for device in sorted(devices):
            if owners.setdefault((device, number), devices) != devices:
                complain(line, "lag", f"{device} has a LAG {number} already", "give this one another number")
        if len({link.rate_mbps for link, _ in members}) > 1:
            complain(line, "lag", f"the cables of LAG {number} run at different rates", "give them one rate")
        if len(members) > MOST_MEMBERS:
            sentence = f"LAG {number} has {len(members)} cables"
            complain(line, "lag", sentence, f"switches take {MOST_MEMBERS} at most; make two of it")
        if len({link.kind for link, _ in members}) > 1:
            complain(line, "lag", f"the cables of LAG {number} are of different kinds", "use one kind")
    return tuple(_lag(number, [link for link, _ in members]) for (number, _), members in groups.items())


def _lag(number: int, members: Sequence[Link]) -> Lag:
    first = members[0]
    switch_a, switch_b = first.a.device, first.b.device
    port = lag_port(number)
    link = Link(
        first.number,
        End(switch_a, port),
        End(switch_b, port),
        sum(cable.rate_mbps for cable in members),
        first.kind,
        all(cable.switchable for cable in members),
    )
    return Lag(number, link, tuple(members))
