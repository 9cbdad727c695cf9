"""Fits a program's grain of computing, so that it runs as long as wanted on links that never sleep.

A program's messages are known from its source; of its computing only the run time is public. All computing is a
multiple of one grain. Simulate a first guess, fit, simulate again; one or two rounds suffice, as the run time is
nearly a straight line of the grain.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from eee_testbed.simulation.programs.part import Generated

_NS: Final = 1e9

Parameters = TypeVar("Parameters", bound=Generated)


class Guess(NamedTuple):
    """A grain, and the run time that was simulated or measured with it."""

    grain_ns: float
    run_time_s: float


def fit_grain(parameters: Parameters, run_time_s: float, guesses: Sequence[Guess], grains: float = 0) -> Parameters:
    """The parameters with another grain; the last guess is corrected.

    Two guesses give the slope of run time over grain. With one it is `grains`, the grains that the busiest rank
    computes (`counts.busiest_ns` over the grain): a lower bound, as other ranks may be waited for.
    ValueError if no grain gives the run time.
    """
    last = guesses[-1]
    if len(guesses) > 1:
        before = guesses[-2]
        apart_ns = last.grain_ns - before.grain_ns
        slope = (last.run_time_s - before.run_time_s) * _NS / apart_ns if apart_ns else 0.0
    else:
        slope = grains
    if slope <= 0:
        raise ValueError("run time does not grow with the grain: give the grains of the busiest rank, or two guesses")
    grain_ns = last.grain_ns + (run_time_s - last.run_time_s) * _NS / slope
    if grain_ns < 0:
        raise ValueError(
            f"messages alone take longer than {run_time_s:g} s: with a grain of {last.grain_ns:g} ns it took "
            f"{last.run_time_s:g} s"
        )
    return parameters.model_copy(update={"grain_ns": grain_ns})
