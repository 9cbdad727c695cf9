"""How well powers with random truth are recovered: `python -m evaluation.accuracy.blind_power --repetitions 200`.

Each repetition draws a switch's powers, a drift and a gain within the meter's class, measures nine stages in five
blocks behind a meter of each family, and fits. It prints the share of 95 % intervals that contain the truth, with its
own 95 % interval (Clopper-Pearson), and the median half widths, in watts, fractions, pJ and nJ.
"""

import argparse
import json
import sys
from dataclasses import replace

import numpy as np
from scipy import stats

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.power.switch_power import SwitchPowerFit, fit_switch_power
from evaluation import recording
from evaluation.records import Figure
from tests.support.measured.power_bench import CLASS_SHARE, FAMILIES, Drift, MeterFamily, Truth, measure


def draw_truth(random: np.random.Generator) -> Truth:
    """Powers of switches with 1 Gb/s ports, from small to large."""
    return Truth(
        base=random.uniform(20, 90),
        enabled=random.uniform(0, 0.3),
        link=random.uniform(0.3, 1.2),
        lpi_fraction=random.uniform(0.1, 0.8),
        left=random.uniform(0, 0.1),
        bit=random.uniform(5, 60),
        packet=random.uniform(10, 100),
    )


def recover(truth: Truth, family: MeterFamily, random: np.random.Generator, seed: int) -> SwitchPowerFit:
    """Measure behind a meter whose gain is off within its class, while the switch drifts."""
    meter = replace(family, gain=1 + random.uniform(-CLASS_SHARE, CLASS_SHARE))
    drift = Drift(random.uniform(0.05, 0.4), float(np.exp(random.uniform(np.log(60), np.log(5000)))))
    return fit_switch_power(measure(truth, meter, random, drift=drift), meter.step, CLASS_SHARE, seed)


def found_of(fit: SwitchPowerFit) -> dict[str, Interval | None]:
    """By the names of `Truth`."""
    port = fit.ports["copper"][1000]
    return {
        "base": fit.base_watt,
        "enabled": port.enabled,
        "link": port.link,
        "lpi_fraction": port.lpi_fraction,
        "left": port.residual,
        "bit": fit.bit_picojoule,
        "packet": fit.packet_nanojoule,
    }


def main() -> None:
    """Draw, measure, fit and count; print one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    recording.add_argument(parser)
    asked = parser.parse_args()
    records, recorded = recording.begin(asked), dict[str, Figure]()
    result: dict[str, object] = {"repetitions": asked.repetitions}
    for family, meter in FAMILIES.items():
        held: dict[str, list[bool]] = {}
        halves: dict[str, list[float]] = {}
        for number in range(asked.repetitions):
            random = np.random.default_rng([asked.seed, number])
            truth = draw_truth(random)
            for name, found in found_of(recover(truth, meter, random, number)).items():
                if found is not None:
                    held.setdefault(name, []).append(found.holds(getattr(truth, name)))
                    halves.setdefault(name, []).append(found.half_width)
            print(f"{family}: {number + 1}/{asked.repetitions}", file=sys.stderr, end="\r")
        figures = {}
        for name, answers in held.items():
            low, high = stats.binomtest(sum(answers), len(answers)).proportion_ci(0.95)
            figures[name] = {
                "held": float(np.mean(answers)),
                "held_low": float(low),
                "held_high": float(high),
                "told": len(answers),
                "median_half_width": float(np.median(halves[name])),
            }
        together = [one for answers in held.values() for one in answers]
        result[family] = {"all": float(np.mean(together)), **figures}
        low, high = stats.binomtest(sum(together), len(together)).proportion_ci(0.95)
        recorded[family] = Figure(
            value=100 * float(np.mean(together)), low=100 * float(low), high=100 * float(high),
            held=f"{sum(together)} of {len(together)}", n=asked.repetitions,
        )  # fmt: skip
    print(json.dumps(result, indent=1))
    records.append(recorded)


if __name__ == "__main__":
    main()
