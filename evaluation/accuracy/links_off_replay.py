"""HPL with links off, replayed: how much of what a live lab lost the links explain, and which of them.

    python -m evaluation.accuracy.links_off_replay [--order 5000] [--chosen-by 2000] [--grain-ns 670000]

HPL as `simulation.programs.hpl` generates it, one rank on each of the 12 hosts of `virtual` in the order of the
inventory, over the trees that `eeectl apply --trees-per-switch 2` installs; then over those of Koibuchi's selection
(`regulation.koibuchi`) for the bytes of a smaller order, from the lowest peak that the busiest channel allows to one
that leaves a single tree. Links never sleep. The grain makes order 5000 take the 6.4 to 6.6 s that the live lab took.

Each is replayed twice: with switches that cut frames through, so that nearly all that is lost is lost by sharing
channels, and with switches that store a frame before they send it on, as those of `virtual` do: longer ways cost then,
too.

Prints a Markdown table. Percentages are of the same trunks with all links on.
"""

import argparse
import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.topology import Topology
from eee_testbed.regulation.koibuchi import koibuchi
from eee_testbed.regulation.levels import assumed_watts, levels_of
from eee_testbed.regulation.network import Network, channel_loads, links_of, tree_ways
from eee_testbed.regulation.traffic import HostBytes, Senders, streams_of
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.replay.jobs import Job, load_program
from eee_testbed.simulation.replay.on_network import network_for
from eee_testbed.simulation.replay.replayed import Replayed, replay
from eee_testbed.simulation.replay.summary import summary_of

_LAB: Final = "virtual"
_MBPS: Final = 1000
_SWITCH_US: Final = 2.7
"""Of the truth's switches, from one port to another."""

_ROUTER_CYCLES: Final = 2
"""Of an empty router, as the engine counts it."""

_ABOVE: Final = 1.001
_SHOWN: Final = 2
"""Of the busiest channels."""


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees to send over, each with the hosts that do, and trunks that are off."""

    name: str
    trees: Sequence[tuple[Sequence[str], Collection[int]]]
    off: Collection[int] = ()


def hpl(order: int, grain_ns: float) -> Job:
    """HPL as the live lab ran it: blocks of 80, 3 by 4 ranks, the broadcast 1ring."""
    program = {"kind": "hpl", "order": order, "block": 80, "rows": 3, "columns": 4, "grain_ns": grain_ns}
    return Job.model_validate({"program": program})


def chosen(topology: Topology, byte_by_pair: HostBytes, peaks: Sequence[float]) -> list[Trees]:
    """All links on, then Koibuchi's selections for bytes: each peak as a multiple of the busiest channel's.

    Selections with the same trunks off count once.
    """
    routes = shortest_routes(topology, sorted(topology.trunks), 2)
    senders = [Senders(one.tree.root, tuple(one.hosts), frozenset(one.tree.links)) for one in routes]
    network = Network.of(topology)
    ways = [tree_ways(network, one.root, one.links) for one in senders]
    homes = {host: end.device for host, end in topology.homes.items()}
    streams = streams_of(senders, homes, byte_by_pair)
    busiest = max(channel_loads(streams, ways).values())
    found = [Trees("all on", [(one.hosts, one.links) for one in senders])]
    for peak in peaks:
        levels = levels_of(network, "off", dict.fromkeys(network.trunks, busiest * peak), assumed_watts)
        choice = koibuchi(network, streams, ways, levels)
        trees = [(one.hosts, links_of(own)) for one, own in zip(senders, choice.trees, strict=True)]
        if all(choice.off != frozenset(one.off) for one in found):
            found.append(Trees(f"{len(choice.off)} off", trees, choice.off))
    return found


def sent_bytes(topology: Topology, job: Job) -> HostBytes:
    """What a program's messages carry from host to host, without those of its collective calls."""
    hosts = list(topology.hosts)
    pairs = summary_of(load_program(job.program)).pairs
    return {(hosts[one.source], hosts[one.target]): int(one.byte) for one in pairs}


def described(job: Job, own: Trees, *, stores: bool) -> Description:
    """A program over these trees; switches store frames and take as long as those of `virtual`, or cut them through."""
    network = network_for(f"lab:{_LAB}", _MBPS, job)
    cycle_us = network.programs.cycle_ns / 1e3 if network.programs is not None else math.inf
    cycles = round(_SWITCH_US / cycle_us) - _ROUTER_CYCLES if stores else 1
    switching = "store_and_forward" if stores else "cut_through"
    plain = network.model_dump(exclude_unset=True, exclude={"programs"}) | {"programs": network.programs}
    trees = [{"hosts": list(hosts), "links": sorted(links)} for hosts, links in own.trees]
    plain["network"] |= {
        "trees": trees, "off": sorted(own.off), "link_latency": cycles
    }  # fmt: skip
    longest = max(len(links) for _, links in own.trees)
    return Description.model_validate(
        plain | {"routing": "trees", "router": plain["router"] | {"vcs": min(longest, 4), "switching": switching}}
    )


def busiest_text(topology: Topology, description: Description, one: Replayed) -> str:
    """The channels that carried most: from which switch to which, and the share of the time that they sent."""
    programs = description.programs
    cycles = 1e9 * one.run_time_s / (programs.cycle_ns if programs is not None else math.inf)
    names = list(topology.switches)
    sent = one.links["transmit_cycles"]
    order = sorted(range(len(sent)), key=lambda index: -sent[index])[:_SHOWN]
    return ", ".join(f"from {names[one.links['from_router'][index]]} {sent[index] / cycles:.0%}" for index in order)


def rows(topology: Topology, job: Job, every: Sequence[Trees]) -> list[Mapping[str, str]]:
    """Of the table."""
    found: list[Mapping[str, str]] = []
    bases: list[float] = []
    for own in every:
        through, stored = (described(job, own, stores=stores) for stores in (False, True))
        done = [replay(one, 1, sleeping=False) for one in (through, stored)]
        bases = bases or [one.run_time_s for one in done]
        slower = [100 * (one.run_time_s / base - 1) for one, base in zip(done, bases, strict=True)]
        found.append(
            {
                "trunks": own.name,
                "run time": f"{done[0].run_time_s:.3f} s",
                "lost by sharing": f"{slower[0]:.1f} %",
                "with longer ways": f"{slower[1]:.1f} %",
                "packets over trunks": f"{done[0].hops}",
                "ranks wait": f"{done[0].wait_share:.1%}",
                "busiest channels": busiest_text(topology, through, done[0]),
            }
        )
    return found


def main() -> int:
    """Replay, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", type=int, default=5000, help="of HPL's matrix (default %(default)s)")
    parser.add_argument("--chosen-by", type=int, default=2000, help="order whose bytes choose (default %(default)s)")
    parser.add_argument("--grain-ns", type=float, default=670_000, help="of a million operations (default %(default)s)")
    parser.add_argument("--peaks", type=float, nargs="+", default=[_ABOVE, 3.0, 100.0], help="default %(default)s")
    given = parser.parse_args()
    if min(given.order, given.chosen_by) < 1 or min(given.peaks) <= 1 or not given.grain_ns > 0:
        parser.error("orders begin with 1, peaks lie above 1, the busiest channel's load, and a grain above 0.")
    topology = Topology.of(load_lab(find_lab(_LAB)))
    every = chosen(topology, sent_bytes(topology, hpl(given.chosen_by, given.grain_ns)), given.peaks)
    table = rows(topology, hpl(given.order, given.grain_ns), every)
    print(f"| {' | '.join(table[0])} |\n|{' --- |' * len(table[0])}")
    for one in table:
        print(f"| {' | '.join(one.values())} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
