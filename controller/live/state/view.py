"""What a live view shows at one moment: frozen values, made by the books, drawn by the panels."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["bad", "odd"]
EeeWord = Literal["on", "off", "one-sided", ""]


@dataclass(frozen=True, slots=True)
class PortView:
    """A port of a switch; shares are of time or of the speed, 0 to 1, None where unknown. `late` since the last row."""

    up: bool | None
    rate_mbps: int
    in_bps: float | None
    out_bps: float | None
    receive_lpi_share: float | None
    transmit_lpi_share: float | None
    down_ns: tuple[int, ...] = ()
    """When it went down, lately."""

    lost_frame: int = 0
    """Frames discarded or in error, lately."""


@dataclass(frozen=True, slots=True)
class LinkView:
    """A cable. "ab" is the direction from end a to end b."""

    name: str
    a: str
    b: str
    trunk: bool
    up: bool | None
    rate_mbps: int
    ab_bps: float | None
    ba_bps: float | None
    ab_lpi_share: float | None
    ba_lpi_share: float | None
    eee: EeeWord
    recent_share: tuple[float, ...] = ()
    """Load of the busier direction at the last beats, the newest at the end."""

    @property
    def load_share(self) -> float | None:
        """Of the busier direction, None where nobody knows."""
        known = [bps for bps in (self.ab_bps, self.ba_bps) if bps is not None]
        return min(1.0, max(known) / (self.rate_mbps * 1e6)) if known and self.rate_mbps else None

    @property
    def lpi_share(self) -> float | None:
        """Of the direction that sleeps less."""
        known = [share for share in (self.ab_lpi_share, self.ba_lpi_share) if share is not None]
        return min(known, default=None)


@dataclass(frozen=True, slots=True)
class DevicePower:
    """What the outlets of a device draw together; `stale`: a meter behind it has stopped."""

    device: str
    power_watt: float
    stale: bool


@dataclass(frozen=True, slots=True)
class PowerView:
    """All strips together. `energy_joule` is the integral of what the meters showed since `begun_ns`.

    `history` are (UTC ns, watts), thinned out where there are many.
    """

    power_watt: float | None = None
    history: tuple[tuple[int, float], ...] = ()
    energy_joule: float = 0.0
    begun_ns: int = 0
    devices: tuple[DevicePower, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialView:
    """A trial that runs, or how it ended."""

    trial: int
    what: str
    levels: str
    state: str
    """ "running", "valid", "invalid" or "failed"."""

    why: str
    figures: str
    took_s: float


@dataclass(frozen=True, slots=True)
class ProbeView:
    """Echoes of the probe that ran last."""

    trial: int
    echo_count: int
    lost_count: int
    median_us: float | None
    p99_us: float | None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run and its trials; `planned_count` 0: nobody said how many there will be."""

    name: str
    state: str
    begun_ns: int
    experiment: str
    planned_count: int
    done_count: int
    valid_count: int
    invalid_count: int
    failed_count: int
    left_s: float | None
    trials: tuple[TrialView, ...]
    """The newest first."""

    probe: ProbeView | None


@dataclass(frozen=True, slots=True)
class Alarm:
    """What a person should look at."""

    severity: Severity
    text: str


@dataclass(frozen=True, slots=True)
class EventView:
    """Something that happened, in words."""

    time_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class LabView:
    """Everything that is shown at `now_ns` (UTC)."""

    lab: str
    now_ns: int
    switches: tuple[str, ...]
    hosts: tuple[str, ...]
    links: tuple[LinkView, ...]
    power: PowerView
    run: RunView | None
    alarms: tuple[Alarm, ...]
    events: tuple[EventView, ...]
    """The newest first."""

    answering: tuple[int, int] = (0, 0)
    """How many sources answered last, of how many."""
