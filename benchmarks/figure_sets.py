"""Sets of figures of well-known programs, by name: `--figure lammps`. One visible table, at the end."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Self

from eee_testbed.benchmarks.figures import FigureRule, last_line
from eee_testbed.benchmarks.program import Answer


@dataclass(frozen=True, slots=True)
class FigureSet:
    """What a well-known program prints. `right`: what a right answer has; "" if it has no check of its own.

    `result`: the file of its own that its figures are in, as a pattern, beside what it prints.
    """

    about: str
    rules: tuple[FigureRule, ...]
    right: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class FigureReader:
    """Everything that is to be read of a program's output."""

    rules: tuple[FigureRule, ...] = ()
    rights: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """From names of sets and rules; ValueError in one sentence."""
        sets = [FIGURE_SETS[text] for text in texts if text in FIGURE_SETS]
        unknown = [text for text in texts if text not in FIGURE_SETS and "=" not in text]
        if unknown:
            known = ", ".join(FIGURE_SETS)
            raise ValueError(f"unknown set of figures '{unknown[0]}': use one of {known}, or NAME=EXPRESSION")
        own = [FigureRule.parse(text) for text in texts if text not in FIGURE_SETS]
        rules = (*(rule for one in sets for rule in one.rules), *own)
        rights = tuple(one.right for one in sets if one.right)
        return cls(rules, rights, tuple(one.result for one in sets if one.result))

    def added_to(self, answer: Answer, text: str) -> Answer:
        """An answer with the figures of the output; one that lacks a figure, or what a right one prints, is wrong."""
        figures = {one.name: one for one in answer.figures}
        right, why, unmatched = answer.right, answer.why, answer.unmatched
        for rule in self.rules:
            found = rule.read(text)
            figures |= {one.name: one for one in found}
            if not found and not rule.optional and not rule.where and right is not False:
                printed = f"it printed nothing like '{rule.expression}'"
                right, why = False, f"{printed}, so figure {rule.name} is missing; {last_line(text)}."
                unmatched = rule.expression
        for pattern in self.rights:
            if right is False:
                break
            right = bool(re.search(pattern, text, re.MULTILINE))
            why, unmatched = ("", "") if right else (f"it did not print '{pattern}'; {last_line(text)}.", pattern)
        return Answer(right, why, tuple(figures.values()), answer.loop_ns, unmatched)


NOTHING_MORE: Final = FigureReader()
"""Of programs that say themselves what is to be read."""

_NUMBER: Final = r"([-+\d.eE]+)"

FIGURE_SETS: Final[Mapping[str, FigureSet]] = MappingProxyType(
    {
        "npb": FigureSet(
            "NAS Parallel Benchmarks 3.3 and 3.4",
            (
                FigureRule("time", "s", rf"^ Time in seconds *= *{_NUMBER}"),
                FigureRule("operations", "Mop/s", rf"^ Mop/s total *= *{_NUMBER}"),
            ),
            right=r"^ Verification *= *SUCCESSFUL",
        ),
        "osu": FigureSet(
            "OSU micro-benchmarks, by size of the messages",
            (
                FigureRule(
                    "latency_{size}",
                    "us",
                    r"^ *(?P<size>\d+) +(?P<value>\d+\.\d+)",
                    where=r"^# Size.*Latency",
                ),
                FigureRule("latency", "us", r"^ *(\d+\.\d+) *$", where=r"^# Avg Latency"),
                FigureRule(
                    "bandwidth_{size}",
                    "MB/s",
                    r"^ *(?P<size>\d+) +(?P<value>\d+\.\d+)",
                    where=r"^# Size +Bandwidth",
                ),
            ),
            right=r"^# OSU MPI.*Test[\s\S]*^ *\d+[ .]",
        ),
        "hpl": FigureSet(
            "High-Performance Linpack",
            (
                FigureRule("time", "s", rf"^W\w+ +\d+ +\d+ +\d+ +\d+ +{_NUMBER} +[\d.]+e[+-]\d+"),
                FigureRule("hpl", "Gflop/s", r"^W\w+ +\d+ +\d+ +\d+ +\d+ +[\d.]+ +([\d.]+e[+-]\d+)"),
            ),
            right=r"^\|\|Ax-b\|\|.*\.\.\.\.\.\. +PASSED$",
        ),
        "hpcg": FigureSet(
            "HPCG 3.1, from the file that it writes",
            (
                FigureRule("time", "s", rf"^Benchmark Time Summary::Total={_NUMBER}"),
                FigureRule("hpcg", "Gflop/s", rf"VALID with a GFLOP/s rating of={_NUMBER}"),
            ),
            right=r"result is VALID",
            result="HPCG-Benchmark*.txt",
        ),
        "lammps": FigureSet(
            "LAMMPS, the last run of its input",
            (
                FigureRule("time", "s", rf"^Loop time of {_NUMBER} on \d+ procs"),
                FigureRule("steps", "step/s", rf"^Performance: .*, {_NUMBER} timesteps/s", optional=True),
            ),
            right=r"^Total wall time:",
        ),
        "gromacs": FigureSet(
            "GROMACS, from md.log",
            (
                FigureRule("time", "s", rf"^ +Time: +[\d.]+ +{_NUMBER}"),
                FigureRule("simulated", "ns/day", rf"^Performance: +{_NUMBER}"),
            ),
            right=r"^Finished mdrun",
            result="md.log",
        ),
        "openfoam": FigureSet(
            "OpenFOAM's solvers, the last time step",
            (FigureRule("time", "s", rf"^ExecutionTime = {_NUMBER} s"),),
            right=r"^End$",
        ),
        "quantum-espresso": FigureSet(
            "Quantum ESPRESSO's pw.x: its iterations, without start and end",
            (
                FigureRule("time", "s", rf"^ +electrons +:.*CPU +{_NUMBER}s WALL"),
                FigureRule("iterations", "1", r"^ +convergence has been achieved in +(\d+) iterations", optional=True),
            ),
            right=r"^ +JOB DONE\.",
        ),
        "hpcc": FigureSet(
            "HPC Challenge, from the file that it writes",
            (
                FigureRule("hpl", "Tflop/s", rf"^HPL_Tflops={_NUMBER}"),
                FigureRule("hpl_time", "s", rf"^HPL_time={_NUMBER}"),
                FigureRule("ptrans", "GB/s", rf"^PTRANS_GBs={_NUMBER}"),
                FigureRule("random_access", "Gupdate/s", rf"^MPIRandomAccess_GUPs={_NUMBER}"),
                FigureRule("fft", "Gflop/s", rf"^MPIFFT_Gflops={_NUMBER}"),
            ),
            right=r"^Success=1",
            result="hpccoutf.txt",
        ),
    }
)
"""All sets by their name, as --figure and `figures` take it. A new one is an entry here, and a line of its test."""
