"""A simulation with a calibration: links whose times are the fitted ones, or drawn from their intervals.

Draws are those of predictions (`analysis.predict.sampling`): each parameter by itself, normal on each side of its
value; draw 0 is the values. All links of a simulation have the same times. Times are rounded to cycles, and a cycle is
as long as a flit takes at the calibration's rate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.analysis.calibration import Calibration, Estimate, LinkPolicy, SwitchPower, load_calibration
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.calibration_use import CalibrationUse
from eee_testbed.simulation.description import Description, Links

_CYCLES_MOST: Final = 2**31
"""A longer hold is as good as none that ends."""


class WrongCalibration(LabError):
    """A calibration lacks what a simulation asks of it."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A description, the calibration that it names, and the parts that it takes. None: not measured."""

    description: Description
    calibration: Calibration
    use: CalibrationUse
    policy: LinkPolicy | None
    switch: SwitchPower | None

    @classmethod
    def of(cls, description: Description) -> "Calibrated | None":
        """None without a calibration; CalibrationError or WrongCalibration if it does not fit."""
        use = description.calibration
        if use is None:
            return None
        calibration = load_calibration(Path(use.file))
        links, switches = calibration.links, calibration.power.switches
        for key, name, known in (("link", use.link, links), ("switch", use.switch, switches)):
            if name and name not in known:
                raise WrongCalibration(
                    f"{use.file} has no {key} '{name}': use one of {', '.join(known) or '(it has none)'}."
                )
        policy = links[use.link] if use.link else next(iter(links.values()), None)
        switch = switches[use.switch] if use.switch else next(iter(switches.values()), None)
        calibrated = cls(description, calibration, use, policy, switch)
        if calibrated.times_fitted and policy is None:
            raise WrongCalibration(f"{use.file} has no policy of links: write links: {{mode: off}}, or fit probes.")
        if switch is not None and use.mbps not in switch.ports_of(""):
            raise WrongCalibration(
                f"{use.file} has no power of ports at {use.mbps} Mb/s: write calibration: {{mbps: ...}} with one of "
                f"{', '.join(map(str, switch.ports_of(''))) or '(it has none)'}."
            )
        return calibrated

    @property
    def times_fitted(self) -> bool:
        """Whether the links' times are the calibration's: the file has no `links` of its own."""
        return "links" not in self.description.model_fields_set

    @property
    def cycles_per_us(self) -> float:
        """Flits that a channel sends in a microsecond."""
        return self.use.mbps / self.description.energy.flit_bits

    def variants(self) -> tuple[Description, ...]:
        """What is simulated: with the values, then with each draw; WrongCalibration for coalescing."""
        policy = self.policy
        if policy is None or not self.times_fitted:
            return (self.description,)
        if policy.kind == "coalescing":
            raise WrongCalibration(f"{self.use.file}: links that coalesce are not simulated by their fit: write links.")
        count = 1 if policy.kind == "off" else 1 + self.use.draws
        sampler = Sampler(count)

        def cycles(key: str, draw: int) -> int:
            estimate: Estimate | None = getattr(policy, key)
            drawn_us = float(sampler.of(key, estimate)[draw])
            return min(round(drawn_us * self.cycles_per_us), _CYCLES_MOST)

        return tuple(
            self.description.model_copy(update={"links": _links(policy.kind, cycles, draw)}) for draw in range(count)
        )

    def remarks(self) -> list[str]:
        """What a reader should know."""
        remarks = []
        policy, use = self.policy, self.use
        if policy is not None and self.times_fitted:
            links = self.variants()[0].links
            remarks.append(
                f"Links as fitted ({policy.kind}): hold {links.hold}, Ts {links.sleep}, "
                f"Tw {links.wake or links.fast_wake} cycles of {1e3 / self.cycles_per_us:.3g} ns."
            )
            if not use.draws and policy.kind != "off":
                remarks.append("Their intervals are left out: calibration: {draws: 8} simulates them too.")
            open_ends = [
                name
                for name in ("hold_us", "sleep_us", "wake_us", "fast_wake_us", "deep_after_us")
                if (estimate := getattr(policy, name)) is not None and not estimate.interval.high < float("inf")
            ]
            if open_ends and use.draws:
                remarks.append(
                    f"The measurements set no bound to {', '.join(open_ends)}: draws do not go beyond the value."
                )
        if self.switch is None:
            remarks.append(f"{use.file} has no power of switches: energy is that of the papers' models alone.")
        if self.calibration.power.note:
            remarks.append(self.calibration.power.note)
        return remarks


def _links(kind: str, cycles: Callable[[str, int], int], draw: int) -> Links:
    """The link machine of a fitted policy; a frame that arrives in Ts waits for its end, then for Tw."""
    if kind == "off":
        return Links()
    hold, wake = cycles("hold_us", draw), cycles("wake_us", draw)
    if kind == "fast":
        return Links(mode="fast", hold=hold, fast_wake=wake)
    sleep = cycles("sleep_us", draw)
    if kind == "hybrid":
        fast, after = cycles("fast_wake_us", draw), cycles("deep_after_us", draw)
        return Links(
            mode="hybrid", hold=hold, sleep=sleep, wake=wake, wake_during_sleep=wake, fast_wake=fast, deep_after=after
        )
    return Links(mode="deep", hold=hold, sleep=sleep, wake=wake, wake_during_sleep=wake)
