"""Draw a random, plausible truth: for tests that calibrate blindly and compare with what was drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eee_testbed.twin.truth.truth import Truth


class _Draw:
    """Numbers with few enough digits to read."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def uniform(self, low: float, high: float) -> float:
        return float(f"{self._rng.uniform(low, high):.4g}")

    def log(self, low: float, high: float) -> float:
        """Evenly over the orders of magnitude."""
        return float(f"{np.exp(self._rng.uniform(np.log(low), np.log(high))):.4g}")

    def port(self) -> dict[str, Any]:
        gigabit_watt = self.uniform(0.3, 1.2)
        hundred_watt = gigabit_watt * self.uniform(0.3, 1.0)  # some devices save nothing at lower speed
        return {
            "up_watt": {
                10: hundred_watt * self.uniform(0.8, 1.0),
                100: hundred_watt,
                1000: gigabit_watt,
                10_000: gigabit_watt * self.uniform(1.5, 4.0),
            },
            "deep_fraction": self.uniform(0.05, 0.5),
            "fast_fraction": self.uniform(0.5, 0.8),
            "unlinked_watt": self.uniform(0.05, 0.2),
            "shutdown_watt": self.uniform(0.0, 0.15),
            "wake_joule": self.log(1e-7, 1e-5),
            "bit_joule": self.log(5e-12, 5e-11),
            "frame_joule": self.log(1e-8, 1e-7),
        }

    def supply(self, capacity_watt: float) -> dict[str, Any]:
        low = self.uniform(0.70, 0.80)
        middle = low + self.uniform(0.05, 0.10)
        top = middle + self.uniform(0.02, 0.05)
        curve = [[0.1, low], [0.2, middle], [0.5, top], [1.0, top - 0.01]]
        return {"capacity_watt": capacity_watt, "efficiency": curve}

    def lpi(self) -> dict[str, Any]:
        wake_us = self.log(16.5, 200.0)
        return {
            "mode": "deep",
            "hold_us": self.log(50.0, 3000.0),
            "sleep_us": self.uniform(182.0, 202.0),
            "wake_us": wake_us,
            "wake_during_sleep_us": wake_us,
        }

    def wander(self) -> dict[str, float]:
        return {
            "drift_watt": self.uniform(0.05, 0.4),
            "drift_tau_s": self.log(120.0, 1800.0),
            "ripple_watt": self.uniform(0.01, 0.1),
        }

    def switch(self) -> dict[str, Any]:
        return {
            "latency_us": self.uniform(1.0, 6.0),
            "interruption_s": {
                10: self.uniform(1.0, 3.0),
                100: self.uniform(1.0, 3.0),
                1000: self.uniform(1.5, 4.0),
                10_000: self.uniform(0.3, 4.0),
            },
            "boot_s": self.uniform(4.0, 10.0),
            "lpi": self.lpi(),
            "power": {
                "base_watt": self.uniform(12.0, 45.0),
                "boot_watt": self.uniform(1.0, 5.0),
                "port": self.port(),
                "supply": self.supply(120.0),
                "wander": self.wander(),
            },
        }

    def node(self) -> dict[str, Any]:
        idle_watt = self.uniform(40.0, 160.0)
        return {
            "lpi": self.lpi(),
            "power": {
                "idle_watt": idle_watt,
                "full_watt": idle_watt * self.uniform(1.5, 3.0),
                "nic": self.port(),
                "supply": self.supply(600.0),
                "wander": self.wander(),
            },
        }

    def strip(self) -> dict[str, Any]:
        return {
            "lag_s": self.uniform(0.0, 3.0),
            "noise_watt": self.uniform(0.05, 0.6),
            "gain_ratio": self.uniform(0.985, 1.015),
            "offset_watt": self.uniform(-0.5, 0.5),
            "voltage_volt": self.uniform(222.0, 238.0),
            "power_factor_ratio": self.uniform(0.88, 0.98),
        }


def random_truth(
    seed: int,
    *,
    switch_families: Sequence[str] = ("dell_powerconnect_55xx", "netgear_m4300"),
    strip_families: Sequence[str] = ("apc_rpdu2", "servertech_sentry4", "gude"),
) -> Truth:
    """Draw a truth; the same seed and families give the same one. Ranges are invented."""
    draw = _Draw(seed)
    return Truth.model_validate(
        {
            "seed": seed,
            "switches": {"families": {family: draw.switch() for family in switch_families}},
            "nodes": {"defaults": draw.node()},
            "strips": {"families": {family: draw.strip() for family in strip_families}},
        }
    )
