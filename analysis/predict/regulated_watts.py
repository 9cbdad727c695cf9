"""Power of a lab's switches with links off, slower or with EEE, from the calibration: to choose links, and to compare.

A port adds to its switch what was fitted stage by stage (`analysis.power.switch_power`): cable, enabled, link up. Shut,
it draws what was seen of shut ports, else what its cable draws. Traffic and the share of time in low power are left
out: EEE is counted as low power all the time, which is the most that it can save.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eee_testbed.analysis.calibration import Calibration, PortPower, SwitchPower
from eee_testbed.analysis.interval import Floats, Interval, of_samples
from eee_testbed.analysis.predict.power import switch_power_of
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import End, Lab, Link
from eee_testbed.regulation.levels import Level
from eee_testbed.regulation.network import Trunk


@dataclass
class NetworkWatts:
    """Watts of all switches of a lab, or of those that are named.

    `warnings` are sentences about what was not measured.
    """

    lab: Lab
    calibration: Calibration
    switches: Collection[str] = ()
    warnings: dict[str, None] = field(default_factory=dict)
    _sampler: Sampler = field(default_factory=Sampler)

    def of_trunk(self, trunk: Trunk, rate_mbps: int, eee: bool) -> float:  # noqa: FBT001 - as regulation.levels has it
        """Both ends of one cable of a trunk: the fitted values, without their intervals."""
        link = next(link for link in self.lab.trunks() if link.number == trunk.number)
        cable = self.lab.cables_of(link)[0]
        return float(self._cable(cable, rate_mbps, eee=eee)[0])

    def ratio(self, levels: Mapping[int, Level], baseline: Mapping[int, Level]) -> Interval:
        """Network power at some levels of trunks, relative to that at other levels, with its interval."""
        return of_samples(self._network(levels) / self._network(baseline))

    def mean_ratio(
        self, phases: Sequence[tuple[float, Mapping[int, Level]]], baseline: Mapping[int, Level]
    ) -> Interval:
        """Mean network power over phases, each a share of the time and its levels, relative to that at other levels."""
        total = sum((share * self._network(levels) for share, levels in phases), np.zeros(self._sampler.count))
        return of_samples(total / self._network(baseline))

    def watt(self, levels: Mapping[int, Level]) -> Interval:
        """Network power at some levels of trunks; those that are not named have no power here."""
        return of_samples(self._network(levels))

    def _network(self, levels: Mapping[int, Level]) -> Floats:
        total = np.zeros(self._sampler.count)
        for name in self._counted():
            total = total + self._sampler.of(f"{name} base_watt", self._known(name).base_watt)
        trunk_cables = {cable.number for cable in self.lab.trunk_cables()}
        for link in self.lab.links:
            if link.number not in trunk_cables:
                total = total + self._cable(link, link.rate_mbps, eee=False)
        for link in self.lab.trunks():
            cables = self.lab.cables_of(link)
            level = levels.get(link.number)
            on = level.cables if level is not None else 0
            for place, cable in enumerate(cables):
                rate = level.rate_mbps if level is not None and place < on else 0
                total = total + self._cable(cable, rate, eee=level is not None and level.eee)
        return total

    def _cable(self, cable: Link, rate_mbps: int, *, eee: bool) -> Floats:
        counted = self._counted()
        ends: Iterable[End] = (end for end in (cable.a, cable.b) if end.device in counted)
        total = np.zeros(self._sampler.count)
        for end in ends:
            total = total + self._port(end, cable, rate_mbps, eee=eee)
        return total

    def _counted(self) -> tuple[str, ...]:
        return tuple(switch.name for switch in self.lab.switches if not self.switches or switch.name in self.switches)

    def _port(self, end: End, cable: Link, rate_mbps: int, *, eee: bool) -> Floats:
        by_mbps = self._known(end.device).ports_of(cable.kind)
        if not by_mbps:
            raise LabError(
                f"the calibration has no power of {end.device}'s ports: fit one to staged power (`eeectl study`)."
            )
        wanted = rate_mbps or cable.rate_mbps
        nearest = min(by_mbps, key=lambda mbps: (abs(mbps - wanted), mbps))
        if nearest != wanted:
            sentence = f"a port at {wanted} Mb/s was not measured: its power at {nearest} Mb/s is assumed."
            self.warnings[sentence] = None
        stages: PortPower = by_mbps[nearest]

        def draws(key: str) -> Floats:
            return self._sampler.of(f"{end.device} {cable.kind} {nearest} {key}", getattr(stages, key))

        if not rate_mbps:
            if stages.residual_watt is None:
                self.warnings["the power of a port that is shut was not measured: that of its cable is assumed."] = None
                return draws("cable_watt")
            return draws("residual_watt")
        up = draws("enabled_watt") + draws("link_watt")
        if eee:
            if stages.lpi_fraction is None:
                self.warnings["power in low-power idle was not measured: EEE is assumed to save nothing."] = None
            key = f"{end.device} lpi_fraction"
            up = up * np.clip(self._sampler.of(key, stages.lpi_fraction, missing=1.0), 0.0, 1.0)
        return draws("cable_watt") + up

    def _known(self, switch: str) -> SwitchPower:
        switch_power = switch_power_of(self.calibration, switch, str(self.lab.switch(switch).family))
        if switch_power is None:
            raise LabError(f"the calibration has no power of {switch} or its family: fit one (`eeectl fit`).")
        return switch_power
