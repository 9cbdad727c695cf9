"""How well policies with random truth are recovered: `python -m tests.accuracy.blind_recovery --repetitions 200`.

Each repetition draws hold, Ts and Tw, probes two ports of a switch in the engine in two stages, and fits. It prints
the share of 95 % intervals that contain the truth, with its own 95 % interval (Clopper-Pearson), and the relative
errors.
"""

import argparse
import json
import sys

import numpy as np
from scipy import stats

from analysis.links.eee_policy import PolicyFit, fit_policy
from analysis.links.probe_design import first_gaps, next_gaps
from analysis.links.probes import Probes
from tests.support.measured.echo_bench import Bench

LOW_US, HIGH_US = 50.0, 8000.0
NAMES = ("hold_us", "sleep_us", "wake_us")


def draw_truth(random: np.random.Generator) -> dict[str, float]:
    """A policy typical of 1 Gb/s devices: hold 0.1 to 5 ms, Ts 150 to 250 us, Tw 10 to 100 us."""
    wake_us = float(np.exp(random.uniform(np.log(10), np.log(100))))
    return {
        "hold_us": float(np.exp(random.uniform(np.log(100), np.log(5000)))),
        "sleep_us": float(random.uniform(150, 250)),
        "wake_us": wake_us,
        "wake_during_sleep_us": wake_us,
    }


def recover(truth: dict[str, float], random: np.random.Generator, *, echoes: tuple[int, int]) -> PolicyFit:
    """Probe twice and fit both together; late interrupts add Student-t errors of some microseconds."""
    bench = Bench("deep", truth)
    sent, rtt = bench.echoes(first_gaps(echoes[0], LOW_US, HIGH_US, random))
    rtt = rtt + 1.5 * np.abs(random.standard_t(3, size=len(rtt)))
    first = fit_policy(Probes.of(sent, rtt), sleepers=2)
    more_sent, more_rtt = bench.echoes(next_gaps(first, echoes[1], LOW_US, HIGH_US, random))
    more_rtt = more_rtt + 1.5 * np.abs(random.standard_t(3, size=len(more_rtt)))
    return fit_policy(Probes.of(np.concatenate((sent, more_sent)), np.concatenate((rtt, more_rtt))), sleepers=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    held = dict.fromkeys(NAMES, 0)
    errors: dict[str, list[float]] = {name: [] for name in NAMES}
    kinds: list[str] = []
    for number in range(asked.repetitions):
        random = np.random.default_rng([asked.seed, number])
        truth = draw_truth(random)
        fit = recover(truth, random, echoes=(500, 1000))
        kinds.append(fit.kind)
        for name in NAMES:
            found = getattr(fit, name)
            if found is not None:
                held[name] += found.holds(truth[name])
                errors[name].append(abs(found.value / truth[name] - 1))
        print(f"{number + 1}/{asked.repetitions}", file=sys.stderr, end="\r")
    result = {"repetitions": asked.repetitions, "told_as_hold": kinds.count("hold")}
    for name in NAMES:
        low, high = stats.binomtest(held[name], asked.repetitions).proportion_ci(0.95)
        result[name] = {
            "held": held[name] / asked.repetitions,
            "held_low": float(low),
            "held_high": float(high),
            **{f"error_p{q}": float(np.percentile(errors[name], q)) for q in (50, 90, 99)},
            "within_2_percent": float(np.mean(np.asarray(errors[name]) <= 0.02)),
        }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
