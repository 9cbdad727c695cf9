"""Programs on a live lab with trunks off, beside their replay from the calls recorded with all trunks on.

    python -m evaluation.accuracy.links_off_loop [PROGRAM ...] [--rate auto] [--runs FOLDER] [--share xhpl]

Brings up a lab that is like `virtual` (12 hosts, 30 trunks) with EEE off, and runs each program three times in lab
time, every call of MPI recorded: over the trees of `eeectl apply --trees-per-switch 2`; with the trunks off that
Koibuchi's selection (`regulation.koibuchi`) leaves out if all hosts send each other the same and each channel may carry
twice what the busiest one does; and over one tree with all other trunks off. The calls of the first run are replayed
over the trees of each.

A message's cost at its hosts is fitted to the first run alone: to the part that is timed, as hosts connect to each
other before, which no replay has. The predicted run time of the others is that of the
first plus what the replay adds. Prints JSON.
"""

import argparse
import itertools
import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from eee_testbed.benchmarks.recorder.table import FOLDER
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.topology import Topology
from eee_testbed.record.trials import Trial, read_trials
from eee_testbed.simulation.replay.jobs import Job
from eee_testbed.simulation.replay.on_network import recorded_job
from eee_testbed.simulation.replay.program import Program, write_program
from eee_testbed.simulation.replay.replayed import replay
from evaluation import quiet, recording
from evaluation.accuracy.closed_loop import recorded, with_costs
from evaluation.accuracy.links_off_replay import Trees, chosen, described
from evaluation.accuracy.loop_parts import fitted_cost, timed, timed_s, wanted_s
from evaluation.accuracy.loop_programs import PROGRAMS, RANKS, LoopProgram, alltoall
from evaluation.accuracy.miwa_live import require_root
from evaluation.records import Figure
from evaluation.running_lab import eeectl, share
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.proportional import proportional_lab

_TREES_PER_SWITCH: Final = 2
_PEAK: Final = 2.001
"""Of what the busiest channel carries with all trunks on: with some off, each may carry twice as much."""

_PROGRAMS: Final = dict(PROGRAMS) | {"alltoall": alltoall(65_536, 500, 60)}


@dataclass(frozen=True, slots=True)
class State:
    """Trees that the live lab has, and the words of `eeectl apply` that install them."""

    trees: Trees
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Off:
    """Seconds of the part of a program that is timed, and what of it links off cost, live and replayed."""

    program: str
    off: int
    live_on_s: float
    live_off_s: float
    host_us: float
    replay_adds_s: float

    @property
    def live_adds_s(self) -> float:
        """By links off."""
        return self.live_off_s - self.live_on_s

    @property
    def run_time_error_percent(self) -> float:
        """Of the run time with links off, by the replay of the run with all on."""
        return 100 * ((self.live_on_s + self.replay_adds_s) / self.live_off_s - 1)


def all_on(topology: Topology) -> State:
    """Shortest paths over all trunks."""
    routes = shortest_routes(topology, sorted(topology.trunks), _TREES_PER_SWITCH)
    trees = [(one.hosts, one.tree.links) for one in routes]
    return State(Trees("all on", trees), ("--trees-per-switch", str(_TREES_PER_SWITCH)))


def some_off(topology: Topology) -> State:
    """Shortest paths over the trunks that Koibuchi's selection leaves on if all hosts send each other the same."""
    same = dict.fromkeys(itertools.permutations(topology.hosts, 2), 1)
    off = frozenset(chosen(topology, same, [_PEAK])[-1].off)
    routes = shortest_routes(topology, sorted(topology.trunks.keys() - off), _TREES_PER_SWITCH)
    trees = Trees(f"{len(off)} off", [(one.hosts, one.tree.links) for one in routes], off)
    return State(trees, ("--trees-per-switch", str(_TREES_PER_SWITCH), *_words(off)))


def all_but_one_tree(topology: Topology) -> State:
    """One tree, and every trunk off that it does not use."""
    (route,) = one_tree(topology, sorted(topology.trunks))
    off = topology.trunks.keys() - route.tree.links
    return State(Trees(f"{len(off)} off", [(route.hosts, route.tree.links)], off), ("--policy", "one", *_words(off)))


def _words(off: Collection[int]) -> list[str]:
    return [f"--off={number}" for number in sorted(off)]


def live(lab: Path, program: LoopProgram, state: State, runs: Path) -> Trial:
    """Install trees, run and record a program; exits with a sentence if it was not valid."""
    eeectl("apply", str(lab), "--yes", *state.words)
    hosts = list(Topology.of(load_lab(lab)).hosts)[: program.hosts]
    where = ["--lab", str(lab), "--hosts", ",".join(hosts), "--runs", str(runs), "--trace", "--json"]
    said = json.loads(eeectl("bench", *_asked(program, where)))
    found = [one for one in read_trials(Path(said["folder"])) if one.valid and (one.folder / FOLDER).is_dir()]
    if not found:
        sys.exit(f"links_off_loop: {program.name} with {state.trees.name} was not valid: try a slower --rate.")
    return found[-1]


def _asked(program: LoopProgram, where: Sequence[str]) -> list[str]:
    if program.name == "command":
        figures = [word for one in program.figures for word in ("--figure", one)]
        return [*where, *figures, "--", *shlex.split(program.parameters["words"])]
    return [
        program.name,
        *where,
        *(word for item in program.parameters.items() for word in ("--set", "{}={}".format(*item))),
    ]


def loops(name: str, lab: Path, runs: Path, scratch: Path) -> list[Off]:
    """Run a program in each state, and replay the first run in all."""
    program, topology = _PROGRAMS[name], Topology.of(load_lab(lab))
    first = all_on(topology)
    base = live(lab, program, first, runs)
    calls = recorded(base)
    jobs = jobs_of(calls.program, scratch)
    live_on_s = base.figures[program.figure].value
    on_s = replayed_s(jobs, first.trees)
    host_ns = fitted_cost(on_s, wanted_s(jobs, live_on_s, calls.took_ns))
    base_s = on_s(host_ns)
    found = []
    for state in (some_off(topology), all_but_one_tree(topology)):
        live_off_s = live(lab, program, state, runs).figures[program.figure].value
        adds_s = replayed_s(jobs, state.trees)(host_ns) - base_s
        found.append(Off(name, len(state.trees.off), live_on_s, live_off_s, host_ns / 1e3, adds_s))
    return found


def jobs_of(program: Program, scratch: Path) -> list[Job]:
    """`loop_parts.timed` as jobs from replay files in a folder."""
    found = []
    for number, part in enumerate(timed(program)):
        file = scratch / f"{program.name}-{number}.replay"
        write_program(file, part)
        found.append(recorded_job(file, 1))
    return found


def replayed_s(jobs: Sequence[Job], trees: Trees) -> Callable[[float], float]:
    """What the replay over trees takes for the part of a program that is timed, by the cost of a message, ns."""
    stored = [described(job, trees, stores=True) for job in jobs]

    def of_cost(host_ns: float) -> float:
        return timed_s(replay(with_costs(one, host_ns), 1, sleeping=False).run_time_s for one in stored)

    return of_cost


def plain(one: Off) -> dict[str, Any]:
    """For JSON."""
    return asdict(one) | {name: getattr(one, name) for name in ("live_adds_s", "run_time_error_percent")}


def main() -> int:
    """Run, replay, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(_PROGRAMS)}; default: alltoall")
    parser.add_argument("--rate", default="auto", help="of lab time (default %(default)s)")
    parser.add_argument("--cpu-ratio", type=float, default=8.0, help="cores of a host (default %(default)s)")
    parser.add_argument("--share", type=Path, nargs="*", default=[], help="files that hosts then have, such as xhpl")
    parser.add_argument("--runs", type=Path, help="folder that the runs are kept in")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    given = parser.parse_args()
    names = given.programs or ["alltoall"]
    unknown = [name for name in names if name not in _PROGRAMS]
    if unknown:
        parser.error(f"there is no program {', '.join(unknown)}: choose of {', '.join(_PROGRAMS)}.")
    require_root()
    records = recording.begin(given)
    found = [one for name in names for one in measured(name, given)]
    print(json.dumps([plain(one) for one in found], indent=1))
    worst = max((one.run_time_error_percent for one in found), key=abs)
    records.append({"run time": Figure(value=worst, n=len(found))})
    return 0


def measured(name: str, given: argparse.Namespace) -> list[Off]:
    """A program on a lab of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, number = Path(scratch), reserve()
        lab = proportional_lab(folder / f"off{number}", number, given.cpu_ratio)
        eeectl("lab", "up", str(lab), "--rate", given.rate)
        try:
            for file in (RANKS, *given.share):
                share(lab.name, file)
            eeectl("eee", "off", "--lab", str(lab), "--all", "--may-flap", "--yes")
            return loops(name, lab, given.runs or folder, folder)
        finally:
            eeectl("lab", "down", lab.name)


if __name__ == "__main__":
    sys.exit(main())
