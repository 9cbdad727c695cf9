"""What only the twin knows: a lab's ``twin/truth.yaml``, with the true timing, power and meter errors.

The controller never opens this file, so that its calibration can be compared with the truth. Switches and strips have
one complete truth per family and partial overrides per device; nodes have defaults and overrides. Overrides are merged
key by key. Watts are on the output side of a device's supply unless stated otherwise; `SupplyTruth` converts them into
the power that an outlet delivers.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from eee_testbed.lab.errors import LabError

if TYPE_CHECKING:
    from eee_engine import LpiTiming

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1)]
_SPEEDS_MBPS = (10, 100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000)


def _known_speed(mbps: int) -> int:
    if mbps not in _SPEEDS_MBPS:
        raise ValueError(f"{mbps} Mb/s is not an Ethernet speed; use one of {_SPEEDS_MBPS}")
    return mbps


Speed = Annotated[int, AfterValidator(_known_speed)]
"""Mb/s"""


class TruthError(LabError):
    """A truth that lacks a device's family, or has an invalid override of a device."""


class _Truth(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class LpiTruth(_Truth):
    """LPI policy of a transmitter: overrides of its PHY's profile; a key that is left out takes the profile's value.

    `hold_us` is also the factory value where a command line can set it (``green-mode eee tx-idle-time`` of
    FASTPATH), within `hold_limit_us`; beyond a limit the hardware clips. The same holds for the wake time.
    """

    mode: Literal["off", "deep", "fast", "hybrid"] = Field(
        default="deep", description="depth of LPI; hybrid: fast wake first, deep sleep after deep_after_us"
    )
    hold_us: NotNegative = Field(default=0.0, description="idle time before it asks for LPI")
    sleep_us: NotNegative | None = Field(default=None, description="Ts")
    quiet_us: NotNegative | None = Field(default=None, description="Tq")
    refresh_us: NotNegative | None = Field(default=None, description="Tr")
    wake_us: NotNegative | None = Field(default=None, description="Tw from deep sleep")
    wake_during_sleep_us: NotNegative | None = Field(
        default=None, description="Tw after Ts, if a frame comes within Ts"
    )
    fast_wake_us: NotNegative | None = Field(default=None, description="Tw from fast wake")
    deep_after_us: NotNegative | None = Field(default=None, description="hybrid: time in fast wake before deep sleep")
    coalesce_byte: int = Field(
        default=0, ge=0, description="a sleeping transmitter waits for so many bytes; 0: for none"
    )
    coalesce_us: NotNegative = Field(default=0.0, description="and at most so long")
    hold_limit_us: tuple[NotNegative, NotNegative] = Field(
        default=(0.0, 4_294_977_295.0), description="lowest and highest hold that the hardware takes"
    )
    wake_limit_us: tuple[NotNegative, NotNegative] = Field(
        default=(0.0, 65_535.0), description="the same of the wake time"
    )

    @model_validator(mode="after")
    def _limits_in_order(self) -> Self:
        for low_us, high_us in (self.hold_limit_us, self.wake_limit_us):
            if low_us > high_us:
                raise ValueError(f"a limit is [lowest, highest], and {low_us} is above {high_us}")
        return self

    def timing(self) -> "LpiTiming":
        """Return what differs from the PHY's profile, in µs and bytes, for the engine."""
        times = self.model_dump(exclude={"mode", "hold_limit_us", "wake_limit_us"}, exclude_none=True)
        return cast("LpiTiming", times)


class PortPowerTruth(_Truth):
    """Watts of one port (MAC, PHY and transceiver) on the supply's output side.

    `up_watt` by speed in Mb/s holds while the link is up and not in LPI, both directions together; each direction
    has its own LPI. Fractions are of `up_watt`.
    """

    up_watt: dict[Speed, NotNegative] = Field(description="by speed in Mb/s: link up, no LPI")
    deep_fraction: Fraction = Field(default=1.0, description="of up_watt, in deep sleep")
    fast_fraction: Fraction = Field(default=1.0, description="of up_watt, in fast wake")
    sleep_fraction: Fraction = Field(
        default=1.0, description="of up_watt, in Ts; the papers count transitions as active"
    )
    wake_fraction: Fraction = Field(default=1.0, description="of up_watt, in Tw")
    refresh_fraction: Fraction = Field(default=1.0, description="of up_watt, in Tr")
    transmit_fraction: Fraction = Field(
        default=0.5, description="share of up_watt that follows the transmit direction's LPI"
    )
    unlinked_watt: NotNegative = Field(default=0.0, description="enabled, without link")
    shutdown_watt: NotNegative = Field(default=0.0, description="administratively down: the transceiver's draw")
    wake_joule: NotNegative = Field(default=0.0, description="per wake, on top of wake_fraction")
    bit_joule: NotNegative = Field(default=0.0, description="per bit sent")
    frame_joule: NotNegative = Field(default=0.0, description="per frame sent")

    def up_at_watt(self, speed_mbps: int) -> float:
        """Watts of a link that is up; an unlisted speed takes the next lower one, else the lowest."""
        lower = [speed for speed in self.up_watt if speed <= speed_mbps]
        return self.up_watt[max(lower)] if lower else self.up_watt[min(self.up_watt)]

    @model_validator(mode="after")
    def _some_speed(self) -> Self:
        if not self.up_watt:
            raise ValueError("up_watt needs at least one speed, such as {1000: 0.6}")
        return self


class SupplyTruth(_Truth):
    """A power supply: efficiency over load (output watts over `capacity_watt`), linear between the points.

    Below the first and above the last point the efficiency is constant. AC watts must rise with the load.
    """

    capacity_watt: float = Field(gt=0, description="rated output")
    efficiency: tuple[tuple[Fraction, Annotated[float, Field(gt=0, le=1)]], ...] = ((0.0, 1.0),)

    @model_validator(mode="after")
    def _monotone(self) -> Self:
        if not self.efficiency:
            raise ValueError("efficiency needs at least one point [load, efficiency]")
        for (load_a, eff_a), (load_b, eff_b) in zip(self.efficiency, self.efficiency[1:], strict=False):
            if load_b <= load_a:
                raise ValueError(f"efficiency loads must rise: {load_b} follows {load_a}")
            if eff_a * load_b <= eff_b * load_a:  # then load/efficiency falls on the segment
                raise ValueError(f"between loads {load_a} and {load_b} more load would draw less AC power")
        return self


class WanderTruth(_Truth):
    """Variation of AC watts without a visible cause: slow drift and second-to-second ripple."""

    drift_watt: NotNegative = Field(default=0.0, description="standard deviation of an Ornstein-Uhlenbeck process")
    drift_tau_s: float = Field(default=600.0, gt=0, description="its time constant")
    ripple_watt: NotNegative = Field(default=0.0, description="standard deviation of the mean over one second")


class SwitchPowerTruth(_Truth):
    """Watts of a switch; `boot_watt` comes on top of the base while it boots."""

    base_watt: NotNegative = Field(description="all but the ports")
    boot_watt: NotNegative = Field(default=0.0, description="on top while it boots")
    port: PortPowerTruth
    supply: SupplyTruth
    wander: WanderTruth = WanderTruth()


class SensorTruth(_Truth):
    """A switch's own power sensor, shown in ENTITY-SENSOR-MIB: it measures AC watts at the inlet."""

    refresh_s: float = Field(default=5.0, gt=0)
    noise_watt: NotNegative = 0.0
    gain_ratio: float = Field(default=1.0, gt=0)
    offset_watt: float = 0.0
    resolution_watt: float = Field(default=1.0, gt=0)


class SlowCliTruth(_Truth):
    """Realistic slowness of a command line."""

    command_s: NotNegative = Field(default=0.0, description="before each answer")
    character_s: NotNegative = Field(default=0.0, description="for each character of an answer")


class SwitchTruth(_Truth):
    """One switch."""

    latency_us: NotNegative = Field(
        default=2.0, description="of a frame inside the switch, from its last bit received on"
    )
    lag_rehash_s: NotNegative = Field(
        default=0.0,
        description="from the loss of a LAG's member until its flows go over the others; they are lost meanwhile",
    )
    interruption_s: dict[Speed, NotNegative] = Field(
        default={1000: 2.0}, description="by speed in Mb/s: from signal to link after an enable or a speed change"
    )
    boot_s: NotNegative = Field(default=5.0, description="from power on until it is ready")
    slow_cli: SlowCliTruth = SlowCliTruth()
    lpi: LpiTruth = LpiTruth()
    power: SwitchPowerTruth
    power_sensor: SensorTruth | None = Field(default=None, description="its own power sensor; left out: it has none")

    def interruption_at_s(self, speed_mbps: int) -> float:
        """Seconds for a speed; an unlisted one takes the longest listed."""
        return self.interruption_s.get(speed_mbps, max(self.interruption_s.values(), default=0.0))


class NodePowerTruth(_Truth):
    """Watts of a node without its data NIC: idle to full as `full_cpu_count` CPUs become busy."""

    idle_watt: NotNegative = Field(description="no CPU busy")
    full_watt: NotNegative = Field(description="full_cpu_count CPUs busy, or more")
    full_cpu_count: float = Field(default=1.0, gt=0, description="busy CPUs at full_watt")
    nic: PortPowerTruth
    supply: SupplyTruth
    wander: WanderTruth = WanderTruth()

    @model_validator(mode="after")
    def _idle_below_full(self) -> Self:
        if self.full_watt < self.idle_watt:
            raise ValueError(f"full_watt {self.full_watt} is below idle_watt {self.idle_watt}")
        return self


class NodeTruth(_Truth):
    """One node; `lpi` is the policy of its NIC's transmitter.

    With `cpu_ratio` its ranks get equal parts of what the node computes. Without it a node is faster in lab time, the
    slower the rate of the clock is.
    """

    cpu_ratio: Annotated[float, Field(gt=0, le=1024)] | None = Field(
        default=None,
        description="cores of this machine, in lab time, that it computes like; left out: as fast as the machine can",
    )
    eee_capable: bool = Field(default=True, description="its data NIC supports EEE")
    lldp: bool = Field(
        default=True,
        description="the NIC announces the host; false: the host has an LLDP daemon of its own",
    )
    interruption_s: NotNegative = Field(default=1.0, description="from signal to link")
    boot_s: NotNegative = Field(default=1.0, description="from power on until it is ready")
    lpi: LpiTruth = LpiTruth()
    power: NodePowerTruth


class StripTruth(_Truth):
    """How a power strip measures."""

    refresh_s: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="interval between new readings; left out: the family's"
    )
    lag_s: NotNegative | None = Field(
        default=None, description="time constant of the meter's low-pass filter; left out: the family's"
    )
    noise_watt: NotNegative = Field(default=0.0, description="standard deviation of one reading")
    gain_ratio: float = Field(default=1.0, gt=0, description="shown over true")
    offset_watt: float = 0.0
    resolution_watt: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="step of a reading; left out: the family's"
    )
    skipped_fraction: Fraction = Field(default=0.0, description="share of refreshes at which the old reading stays")
    voltage_volt: float = Field(default=230.0, gt=0)
    power_factor_ratio: float = Field(default=0.95, gt=0, le=1)
    own_watt: NotNegative = Field(default=0.0, description="the strip's own draw, counted by whole-strip meters")
    on_delay_s: NotNegative = Field(default=0.0, description="from the order to power on")
    off_delay_s: NotNegative = Field(default=0.0, description="from the order to power off")


def _merged(default: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(default)
    for key, value in override.items():
        below = result.get(key)
        both_nest = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(cast("Mapping[str, Any]", below), value) if both_nest else value
    return result


class SwitchTruths(_Truth):
    """Truth per family, and overrides of single switches."""

    families: dict[str, SwitchTruth]
    overrides: dict[str, dict[str, Any]] = Field(default_factory=dict)


class NodeTruths(_Truth):
    """Truth of all nodes, and overrides of single nodes."""

    defaults: NodeTruth
    overrides: dict[str, dict[str, Any]] = Field(default_factory=dict)


class StripTruths(_Truth):
    """Truth per family (left out: the family's own), and overrides of single strips."""

    families: dict[str, StripTruth] = Field(default_factory=dict)
    overrides: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Truth(_Truth):
    """A lab's truth. `seed` determines all randomness in the twin (drift, noise, jitter)."""

    seed: int = Field(default=1, ge=0)
    switches: SwitchTruths
    nodes: NodeTruths
    strips: StripTruths = StripTruths()

    def switch(self, name: str, family: str) -> SwitchTruth:
        """Truth of a switch of a family; `TruthError` if the file lacks the family."""
        default = self.switches.families.get(family)
        if default is None:
            names = ", ".join(sorted(self.switches.families)) or "none"
            raise TruthError(f"switch {name}: truth.yaml lacks switches.families.{family} (it has {names}); add it")
        return _overridden(default, self.switches.overrides.get(name), f"switches.overrides.{name}")

    def node(self, name: str) -> NodeTruth:
        """Truth of a node."""
        return _overridden(self.nodes.defaults, self.nodes.overrides.get(name), f"nodes.overrides.{name}")

    def strip(self, name: str, family: str) -> StripTruth:
        """Truth of a strip; a family without a section has the values of `twin.strips`."""
        default = self.strips.families.get(family, StripTruth())
        return _overridden(default, self.strips.overrides.get(name), f"strips.overrides.{name}")

    def unknown_overrides(self, *, switches: set[str], nodes: set[str], strips: set[str]) -> list[str]:
        """List the overrides that name unknown devices, as keys of the file."""
        unknown = {
            "switches": self.switches.overrides.keys() - switches,
            "nodes": self.nodes.overrides.keys() - nodes,
            "strips": self.strips.overrides.keys() - strips,
        }
        return [f"{part}.overrides.{name}" for part, names in unknown.items() for name in sorted(names)]


_AnyTruth = TypeVar("_AnyTruth", bound=_Truth)


def _overridden(default: _AnyTruth, override: Mapping[str, Any] | None, key: str) -> _AnyTruth:
    if not override:
        return default
    try:
        return overridden(default, override)
    except ValidationError as error:
        raise TruthError(f"{key}: {error.errors()[0]['msg']}") from error


def overridden(default: _AnyTruth, override: Mapping[str, Any]) -> _AnyTruth:
    """A truth with some keys replaced, merged key by key; pydantic's ValidationError if the result is none."""
    return type(default).model_validate(_merged(default.model_dump(), override))
