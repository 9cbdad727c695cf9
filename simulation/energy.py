"""Energy of channels from the time that they spend in each state.

A channel that is on always sends bits: those of flits, and between them idle patterns that keep both ends in step (TCEP
section II-A), so its energy is that of its bits. In low power it takes a share of the idle power; Ts and Tw are at
full power. A link that is off takes nothing, and one that is turned on is at full power from the beginning. The energy
of a change itself is not known and left out.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from eee_testbed.simulation.description import Energy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_engine import SimulatedChannel


@dataclass(frozen=True, slots=True)
class StateShares:
    """Shares of the time of all channels between routers; they add up to 1, or to 0 without channels."""

    transmit: float = 0.0
    idle: float = 0.0
    """At full power without sending."""

    sleep: float = 0.0
    """Ts."""

    wake: float = 0.0
    """Tw."""

    quiet: float = 0.0
    refresh: float = 0.0
    fast: float = 0.0
    """Fast wake's low power."""

    off: float = 0.0
    """Turned off."""

    turning_on: float = 0.0
    """On the way from off to active."""

    @property
    def low_power(self) -> float:
        """Quiet, refresh and fast wake."""
        return self.quiet + self.refresh + self.fast

    @property
    def on(self) -> float:
        """All that is neither off nor in low power: Ts, Tw and turning on are at full power."""
        return self.transmit + self.idle + self.sleep + self.wake + self.turning_on


def shares_between(before: "Sequence[SimulatedChannel]", after: "Sequence[SimulatedChannel]") -> StateShares:
    """The shares between two moments; the channels are those of one network, in the same order."""
    early, late = _spent(before), _spent(after)
    return _shares({name: late[name] - early[name] for name in late})


def shares_of(channels: "Sequence[SimulatedChannel]") -> StateShares:
    """The shares from the beginning on."""
    return _shares(_spent(channels))


def _spent(channels: "Sequence[SimulatedChannel]") -> dict[str, int]:
    """Cycles in each state, over all channels."""
    names = [field.name for field in fields(StateShares)]
    return {name: sum(one[f"{name}_cycles"] for one in channels) for name in names}  # type: ignore[literal-required]


def _shares(spent: dict[str, int]) -> StateShares:
    time = sum(spent.values())
    return StateShares(**{name: cycles / time for name, cycles in spent.items()}) if time else StateShares()


@dataclass(frozen=True, slots=True)
class EnergyUse:
    """Energy of all channels between routers over a while."""

    picojoule: float
    ratio: float
    """To the energy of the same flits on channels that never sleep; 1 without channels."""

    low_power_share: float
    """Of all channels' time."""

    off_share: float
    """Of all channels' time."""


def energy_use(energy: Energy, before: "Sequence[SimulatedChannel]", after: "Sequence[SimulatedChannel]") -> EnergyUse:
    """The energy between two moments; the channels are those of one network, in the same order.

    A channel that sends for 100 of 1,000 cycles, and is in quiet, at a tenth of idle power, for the rest:

    >>> states = ("transmit", "idle", "sleep", "wake", "quiet", "refresh", "fast", "off", "turning_on")
    >>> before = {f"{state}_cycles": 0 for state in states}
    >>> after = before | {"transmit_cycles": 100, "quiet_cycles": 900}
    >>> used = energy_use(Energy(active_pj_per_bit=30, idle_pj_per_bit=20, flit_bits=48), [before], [after])
    >>> round(used.picojoule), used.low_power_share, round(used.ratio, 4)
    (230400, 0.9, 0.2286)
    """
    sending, full, low, off = (late - early for early, late in zip(_times(before), _times(after), strict=True))
    active = sending * energy.active_pj_per_bit
    total = active + (full + low * energy.low_power_share) * energy.idle_pj_per_bit
    always_on = active + (full + low + off) * energy.idle_pj_per_bit
    time = sending + full + low + off
    return EnergyUse(
        picojoule=total * energy.flit_bits,
        ratio=total / always_on if always_on else 1.0,
        low_power_share=low / time if time else 0.0,
        off_share=off / time if time else 0.0,
    )


def _times(channels: "Sequence[SimulatedChannel]") -> tuple[int, int, int, int]:
    """Cycles of sending, at full power without sending, at low power, and off, over all channels."""
    return (
        sum(one["transmit_cycles"] for one in channels),
        sum(
            one["idle_cycles"] + one["sleep_cycles"] + one["wake_cycles"] + one["turning_on_cycles"] for one in channels
        ),
        sum(one["quiet_cycles"] + one["refresh_cycles"] + one["fast_cycles"] for one in channels),
        sum(one["off_cycles"] for one in channels),
    )
