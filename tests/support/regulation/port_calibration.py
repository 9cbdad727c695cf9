"""Power of switches and ports that is known exactly, as a fit would have it."""

from eee_testbed.analysis.calibration import Calibration, Estimate, PortPower, PowerPart, SwitchPower
from eee_testbed.lab.model import Lab


def _exactly(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def port_calibration(lab: Lab, residual_watt: float | None = 0.1, *, ports: bool = True) -> Calibration:
    """Every switch draws 20 W, and each of its ports 1 W: 0.2 W with a cable, 0.3 W when enabled, 0.5 W linked."""
    gigabit = PortPower(
        cable_watt=_exactly(0.2),
        enabled_watt=_exactly(0.3),
        link_watt=_exactly(0.5),
        lpi_fraction=_exactly(0.25),
        residual_watt=None if residual_watt is None else _exactly(residual_watt),
    )
    power = SwitchPower(
        base_watt=_exactly(20.0),
        port_by_mbps={1000: gigabit} if ports else {},
        drift_watt=0.0,
        noise_watt=0.0,
        explained_fraction=1.0,
        window_count=9,
    )
    switches = {switch.name: power for switch in lab.switches}
    return Calibration(
        lab=lab.name, lab_digest="0" * 64, made="2026-01-01T00:00:00Z", power=PowerPart(switches=switches)
    )
