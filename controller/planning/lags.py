"""Link aggregation: which cables of the inventory make up a LAG, and whether the switches are set up so. Pure.

LAGs are static (802.1AX without LACP) and are set up by a person: the testbed takes them as they are found, as one link
with the rate of all cables together, and never changes who is a member.
"""

from collections.abc import Callable, Sequence

from controller.errors import PlanError
from controller.model.lab import End, Lab, Lag, Link, lag_port
from controller.model.state import State

MOST_MEMBERS = 8
"""What switches of all families at hand can do."""

Complain = Callable[[int, str, str, str], None]
"""Told of a mistake: line, key, sentence, remedy."""


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
    one, other = first.a.device, first.b.device
    port = lag_port(number)
    link = Link(
        first.number,
        End(one, port),
        End(other, port),
        sum(cable.rate_mbps for cable in members),
        first.kind,
        all(cable.switchable for cable in members),
    )
    return Lag(number, link, tuple(members))


def require_lags(lab: Lab, state: State) -> None:
    """PlanError if a switch's LAGs are not those of the inventory, with what has to be set up first."""
    for switch in lab.switches:
        ports = state.switches[switch.name].ports
        for lag in lab.lags:
            members = lag.ports_at(switch.name)
            if not members:
                continue
            missing = [port for port in members if ports[port].lag != lag.number]
            if missing or lag.port not in ports:
                raise PlanError(
                    f"{switch.name}: {', '.join(missing or members)} should be members of LAG {lag.number}, as "
                    f"cables.csv has it: set up the static LAG {lag.number} of {', '.join(members)} there first."
                )
        known = {port: lag.number for lag in lab.lags for port in lag.ports_at(switch.name)}
        for port, held in ports.items():
            if held.lag is not None and known.get(port) != held.lag:
                raise PlanError(
                    f"{switch.name}: {port} is a member of LAG {held.lag}, of which cables.csv knows nothing: enter it "
                    "in the column `lag` there, or take the port out of the LAG."
                )
