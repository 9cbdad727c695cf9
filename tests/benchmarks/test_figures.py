"""Figures by regular expressions: rules as users write them, and the sets that ship, on what real programs print."""

from collections.abc import Callable

import pytest

from eee_testbed.benchmarks.figure_sets import FIGURE_SETS, FigureReader
from eee_testbed.benchmarks.figures import FigureRule
from eee_testbed.benchmarks.program import Answer, Figure

_NOTHING = Answer(right=None)


def _read(rule: str, text: str) -> tuple[str, float, str]:
    (found,) = FigureReader.of([rule]).added_to(_NOTHING, text).figures
    return found.name, found.value, found.unit


@pytest.mark.parametrize(
    ("rule", "text", "figure"),
    [
        (r"time=Time = ([\d.]+) s", "Time = 1.0 s\nTime = 1.23 s\n", ("time", 1.23, "s")),
        (r"time=took ([\d.]+)ms", "took 250ms", ("time", 0.25, "s")),
        (r"time=took\s+([\d.]+)\s*\(ms\)", "took 250 (ms)", ("time", 0.25, "s")),
        (r"time[s]=^ Time in seconds *= *(\S+)", " Time in seconds = 0.5D+01", ("time", 5.0, "s")),
        (r"rate=([\d.]+) Gflop/s", "12.5 Gflop/s", ("rate", 12.5e9, "flop/s")),
        (r"moved=([\d.]+) MB", "3 MB", ("moved", 3e6, "byte")),
        (r"wait=([\d.]+) ns", "1500 ns", ("wait", 1.5, "us")),
        (r"steps[1]=steps: (\d+)", "steps: 7", ("steps", 7.0, "1")),
    ],
)
def test_a_rule_finds_the_last_value_in_base_units(rule: str, text: str, figure: tuple[str, float, str]) -> None:
    assert _read(rule, text) == figure


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("lamps", "unknown set of figures 'lamps': use one of npb, osu"),
        (r"Time=(\d+) s", "is not NAME=EXPRESSION"),
        (r"time=Time = ([\d.]+", "is not a regular expression"),
        (r"time=Time = [\d.]+ s", "has 0 groups"),
        (r"time=(\d+):(\d+) s", "has 2 groups"),
        (r"time=Time: ([\d.]+)", "figure time has no unit after its value: write time[s]=..."),
        (r"time=([\d.]+) parsecs", "unknown unit 'parsecs'"),
        (r"time=([\d.]+) W", "figure time is the run time"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_in_a_sentence(rule: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as error:
        FigureReader.of([rule])
    assert sentence in str(error.value)


def test_an_output_without_the_figure_is_wrong() -> None:
    answer = FigureReader.of([r"time=Time = ([\d.]+) s"]).added_to(_NOTHING, "Time = nan s")
    assert answer.right is False
    assert "figure time is missing" in answer.why
    wrong = Answer(right=False, why="it lost a cell.", loop_ns=(1, 2))
    kept = FigureReader.of([r"time=Time = ([\d.]+) s"]).added_to(wrong, "Time = 2 s")
    assert kept == Answer(False, "it lost a cell.", (Figure("time", 2.0, "s"),), (1, 2))


def test_what_a_user_asks_for_replaces_what_the_program_reports() -> None:
    reported = Answer(right=True, figures=(Figure("time", 9.0, "s"), Figure("rate", 1.0, "1")))
    answer = FigureReader.of([r"time=Solve: ([\d.]+) s"]).added_to(reported, "Solve: 3 s")
    assert {one.name: one.value for one in answer.figures} == {"time": 3.0, "rate": 1.0}
    assert answer.right is True


_LAMMPS = """\
Loop time of 0.1200 on 4 procs for 10 steps with 4000 atoms
Performance: 35994.6 tau/day, 83.321 timesteps/s, 333.283 katom-step/s
Loop time of 0.3146 on 4 procs for 100 steps with 4000 atoms

Performance: 137317.218 tau/day, 317.864 timesteps/s, 1.271 Matom-step/s
Total wall time: 0:00:00
"""
_GROMACS = """\
               Core t (s)   Wall t (s)        (%)
       Time:       12.345        3.086      400.0
                 (ns/day)    (hour/ns)
Performance:       28.021        0.856
Finished mdrun on rank 0 Mon Nov 23 10:00:00 2026
"""
_OPENFOAM = """\
Time = 0.5
ExecutionTime = 0.11 s  ClockTime = 0 s

Time = 1
ExecutionTime = 0.23 s  ClockTime = 1 s

End
"""
_ESPRESSO = """\
     convergence has been achieved in   7 iterations

     init_run     :      0.00s CPU      0.03s WALL (       1 calls)
     electrons    :      0.10s CPU      0.68s WALL (       1 calls)

     Called by electrons:
     c_bands      :      0.09s CPU      0.65s WALL (       8 calls)

     PWSCF        :      0.11s CPU      0.84s WALL


   This run was terminated on:   9:39:58  28Nov2026

=------------------------------------------------------------------------------=
   JOB DONE.
=------------------------------------------------------------------------------=
"""
_HPCG = """\
Benchmark Time Summary::Optimization phase=0
Benchmark Time Summary::Total=61.25
Final Summary::HPCG result is VALID with a GFLOP/s rating of=0.834
"""

_EXPECTED = {
    "lammps": (_LAMMPS, {"time": 0.3146, "steps": 317.864}),
    "gromacs": (_GROMACS, {"time": 3.086, "simulated": 28.021}),
    "openfoam": (_OPENFOAM, {"time": 0.23}),
    "quantum-espresso": (_ESPRESSO, {"time": 0.68, "iterations": 7.0}),
    "hpcg": (_HPCG, {"time": 61.25, "hpcg": 0.834e9}),
}
_RECORDED = {
    "npb": ("npb_cg_S_4", {"time": 0.88, "operations": 75.91e6}),
    "hpl": ("hpl_4_ranks", {"time": 0.13, "hpl": 5.271e9}),
    "osu": ("osu_latency", {"latency_1": 0.66, "latency_4": 0.72}),
    "hpcc": ("hpcc_4_ranks", {"hpl": 0.390155e9, "ptrans": 0.300897e9, "fft": 0.448537e9, "random_access": 620908.0}),
}


@pytest.mark.parametrize("name", FIGURE_SETS)
def test_a_set_reads_what_its_program_prints(name: str, recorded: Callable[[str], str]) -> None:
    text, expected = _EXPECTED[name] if name in _EXPECTED else (recorded(_RECORDED[name][0]), _RECORDED[name][1])
    answer = FigureReader.of([name]).added_to(_NOTHING, text)
    found = {one.name: one.value for one in answer.figures}
    assert answer.right is True, answer.why
    assert found
    for figure, value in expected.items():
        assert found[figure] == pytest.approx(value)
    assert FigureReader.of([name]).added_to(_NOTHING, text[: len(text) // 20]).right is False


def test_osu_has_bandwidths_and_what_has_no_sizes(recorded: Callable[[str], str]) -> None:
    bandwidth = FigureReader.of(["osu"]).added_to(_NOTHING, recorded("osu_bw"))
    assert bandwidth.figure("bandwidth_1") == Figure("bandwidth_1", 7.56e6, "byte/s")
    barrier = FigureReader.of(["osu"]).added_to(_NOTHING, recorded("osu_barrier"))
    assert barrier.figures == (Figure("latency", 4.26, "us"),)


def test_a_rule_of_a_set_may_lack_in_an_output() -> None:
    rule = FigureRule("steps", "1", r"steps (\d+)", optional=True)
    assert FigureReader((rule,)).added_to(_NOTHING, "nothing") == _NOTHING


def test_a_missing_figure_shows_what_was_printed_last() -> None:
    reader = FigureReader.of([r"time=Time = ([\d.]+) s"])
    answer = reader.added_to(Answer(right=None), "steps 200\nelapsed: 0.41 seconds\n\n")
    assert answer.right is False
    assert answer.why.endswith("so figure time is missing; its last line is 'elapsed: 0.41 seconds'.")
    assert reader.added_to(Answer(right=None), "\n").why.endswith("it printed nothing.")
