"""Processor time to choose trees, order a plan and prove it: ``python -m evaluation.speed.planning``.

Two labs from factory state to a shortest-path tree per switch: the 66-host lab, and 50 switches with 20 hosts each on
a random graph of degree 6. For comparison, the proof that checks every prefix from scratch, on the 66-host lab. And to
choose links to switch off, by Koibuchi's selection and by the heuristic, in a complete graph of 45 switches with 990
links and all-to-all traffic; planning for 1,000 links should take at most 1 s. One process, median of some runs; prints
one JSON object. Memory is the process's peak so far.
"""

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable

import networkx as nx

from eee_testbed.controller.model.state import factory_state
from eee_testbed.controller.planning.check import check
from eee_testbed.controller.planning.plan import order_changes
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.regulation.koibuchi import koibuchi
from eee_testbed.regulation.least_power import least_power
from evaluation import quiet, recording
from evaluation.records import Figure
from tests.support import ROOT
from tests.support.graph_lab import graph_lab
from tests.support.plain_check import check_plainly
from tests.support.regulation.networks import complete, levels_for, shortest, streams_for


def large_lab() -> Lab:
    """50 switches with six trunks each, and 1,000 hosts."""
    graph = nx.random_regular_graph(6, 50, seed=1)
    return graph_lab(50, sorted(tuple(sorted(edge)) for edge in graph.edges), [20] * 50)


def _median_s(runs: int, work: Callable[[], object]) -> float:
    took_s = []
    for _ in range(runs):
        begin = time.process_time()
        work()
        took_s.append(time.process_time() - begin)
    return round(statistics.median(took_s), 3)


def measure(lab: Lab, runs: int, *, plainly: bool) -> dict[str, object]:
    """Sizes of a lab's plan and median times; `plainly` also times the check that is written for reading."""
    start = factory_state(lab)
    vlans, after = multi_tree(lab, start, shortest_routes)
    plan = order_changes(lab, start, after)
    figures: dict[str, object] = {
        "switch_count": len(lab.switches),
        "host_count": len(lab.hosts),
        "vlan_count": len(vlans.vlans),
        "step_count": len(plan.steps),
        "choose_s": _median_s(runs, lambda: multi_tree(lab, start, shortest_routes)),
        "order_s": _median_s(runs, lambda: order_changes(lab, start, after)),
        "check_s": _median_s(runs, lambda: check(lab, start, plan.changes)),
        "peak_memory_kibibyte": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    if plainly:
        figures["check_plainly_s"] = _median_s(1, lambda: check_plainly(lab, start, plan.changes))
    return figures


def regulation(runs: int) -> dict[str, object]:
    """Times to choose links of 45 switches, by peak."""
    network = complete(45)
    streams = streams_for(network, {(a, b): 1 for a in network.homes for b in network.homes if a != b})
    trees = shortest(network, streams)
    figures: dict[str, object] = {"link_count": len(network.trunks)}
    for peak in (3, 20, 100):
        levels = levels_for(network, peak)
        figures[f"peak_{peak}"] = {
            "off_count": len(koibuchi(network, streams, trees, levels).off),
            "koibuchi_s": _median_s(runs, lambda levels=levels: koibuchi(network, streams, trees, levels)),  # type: ignore[misc]
            "heuristic_s": _median_s(
                runs,
                lambda levels=levels: least_power(network, streams, trees, levels, time_limit_s=0),  # type: ignore[misc]
            ),
        }
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    quiet.add_argument(parser)
    recording.add_argument(parser)
    arguments = parser.parse_args()
    records = recording.begin(arguments)
    paper = load_lab(find_lab(str(ROOT / "inventory" / "koibuchi")))
    labs = {"koibuchi": (paper, True), "large": (large_lab(), False)}
    figures = {name: measure(lab, arguments.runs, plainly=plainly) for name, (lab, plainly) in labs.items()}
    chosen = regulation(arguments.runs)
    print(json.dumps({**figures, "regulation": chosen}, indent=1))
    plan_s = sum(float(str(figures["large"][name])) for name in ("choose_s", "order_s", "check_s"))
    koibuchi_s = max(float(peak["koibuchi_s"]) for peak in chosen.values() if isinstance(peak, dict))
    records.append({name: Figure(value=s, n=arguments.runs) for name, s in (("plan", plan_s), ("links", koibuchi_s))})


if __name__ == "__main__":
    main()
