"""What a live view shows at one moment: frozen values that the histories make and the panels draw."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["bad", "odd"]
EeeState = Literal["on", "off", "one-sided", ""]


@dataclass(frozen=True, slots=True)
class PortView:
    """A port of a switch; shares of time are 0 to 1, and values are None where unknown."""

    up: bool | None
    rate_mbps: int
    in_bps: float | None
    out_bps: float | None
    receive_lpi_share: float | None
    transmit_lpi_share: float | None
    down_ns: tuple[int, ...] = ()
    """When it went down in the last five minutes."""

    lost_frame: int = 0
    """Frames discarded or in error in the last five minutes."""


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
    eee: EeeState
    recent_share: tuple[float, ...] = ()
    """Load of the busier direction at the last samples, the newest at the end."""

    @property
    def load_share(self) -> float | None:
        """Load of the busier direction; None if unknown."""
        loads_bps = [bps for bps in (self.ab_bps, self.ba_bps) if bps is not None]
        return min(1.0, max(loads_bps) / (self.rate_mbps * 1e6)) if loads_bps and self.rate_mbps else None

    @property
    def lpi_share(self) -> float | None:
        """Time in LPI of the direction that has less of it."""
        shares = [share for share in (self.ab_lpi_share, self.ba_lpi_share) if share is not None]
        return min(shares, default=None)


@dataclass(frozen=True, slots=True)
class DevicePower:
    """Power of all outlets of a device; `stale`: one of their meters has stopped."""

    device: str
    power_watt: float
    stale: bool


@dataclass(frozen=True, slots=True)
class PowerView:
    """All strips together. `energy_joule` is the integral of their power since `begun_ns`.

    `history` are (UTC ns, watts), thinned out where there are many.
    """

    power_watt: float | None = None
    history: tuple[tuple[int, float], ...] = ()
    energy_joule: float = 0.0
    begun_ns: int = 0
    devices: tuple[DevicePower, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialView:
    """A trial that runs or has ended."""

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
    """Echoes of the last probe."""

    trial: int
    echo_count: int
    lost_count: int
    median_us: float | None
    p99_us: float | None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run and its trials; `planned_count` 0: unknown."""

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
    """Estimated time that it still takes, in real time where that is known; None before the first trial."""

    trials: tuple[TrialView, ...]
    """The newest first."""

    probe: ProbeView | None


@dataclass(frozen=True, slots=True)
class StepView:
    """A kind of block of a study: how many were begun so far, and how long they took in real time."""

    name: str
    state: str
    """ "running", "done", "incomplete" or "waiting"."""

    blocks: int
    time_s: float


@dataclass(frozen=True, slots=True)
class ParameterView:
    """A parameter of a study, as text: its interval, the half width that is wanted, and how it stands."""

    name: str
    now: str
    wanted: str
    verdict: str


@dataclass(frozen=True, slots=True)
class StudyView:
    """A study and its newest run. `left_s`: what is left of its budget in real time, None unless it is running."""

    name: str
    state: str
    """ "not begun", "running", "stopped" or "ended"."""

    step: str
    why: str
    left_s: float | None
    steps: tuple[StepView, ...]
    parameters: tuple[ParameterView, ...]


@dataclass(frozen=True, slots=True)
class DecisionView:
    """What a closed loop did with a link, and why."""

    time_ns: int
    link: str
    after: str
    why: str


@dataclass(frozen=True, slots=True)
class LoopView:
    """A closed loop of link regulation after its last epoch.

    `links`: names by state, of those that are not active. `busiest_share`: of time, of the busiest trunk. Values that
    are not known are None; `undecided` says why there was no decision.
    """

    epoch: int
    active_count: int
    links: Mapping[str, tuple[str, ...]]
    busiest_share: float | None
    slowdown_share: float | None
    backs_off: bool
    undecided: str
    decisions: tuple[DecisionView, ...]
    """The newest first."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that a person should check."""

    severity: Severity
    text: str


@dataclass(frozen=True, slots=True)
class EventView:
    """An event as a sentence."""

    time_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class Clocks:
    """The wall's clock at the moment of a view, and the rate of the lab's (lab seconds per real second, "1/10").

    `wall_ns`: UTC. `wall_s`: monotonic.
    """

    rate: str
    wall_ns: int
    wall_s: float


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
    """How many sources answered their last poll, of how many."""

    loop: LoopView | None = None
    clocks: Clocks | None = None
    """The wall's clock beside the lab's, which `now_ns` is by; None if the lab has none of its own."""

    study: StudyView | None = None
    """The study that the run belongs to."""
