"""An experiment as a person writes it: which factors, what is measured, how often, in which order, judged by what.

::

    name: alltoall-eee
    lab: virtual
    factors:
      eee: {links: hosts, levels: [on, off]}    # its name says what it is; `kind` says so for any other name
      sleep_us: [0, 100, 500]                   # anything else is a parameter of the program
    measure:
      program: {name: alltoall, parameters: {count: 200}, hosts: [n01, n02], ranks_per_host: 1}
    blocks: 5
    slow: [eee]                                 # changed once a block for each level, not from trial to trial

`measure` is one of `program`, `probe`, `idle`, `power`. Links are `hosts`, `trunks`, `all` or a list of names.
"""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from record.trial_events import What

FORMAT: Final = 1

Level = StrictBool | StrictInt | float | StrictStr
"""A factor's setting. `on` and `off` stay words."""

Kind = Literal[
    "parameter", "eee", "hold_us", "link", "speed_mbps", "routing", "load_mbps", "host_count", "ranks_per_host"
]
"""What a factor changes: a parameter of the program, a setting of links, the trees, traffic, or the placement."""

OF_LINKS: Final = ("eee", "hold_us", "link", "speed_mbps")
OF_LAB: Final = (*OF_LINKS, "routing")
_NAMED: Final = (*OF_LAB, "load_mbps", "host_count", "ranks_per_host")
_LEVELS: Final[dict[str, tuple[Level, ...]]] = {
    "eee": ("on", "off"),
    "link": ("on", "half", "off"),
    "speed_mbps": ("auto", 10, 100, 1000, 2500, 5000, 10_000),
    "routing": ("shortest", "one"),
}
"""What a factor's levels may be. `half`: the first end is enabled, the other one is shut; there is no link."""

_SECOND_WITHOUT_LPI_S: Final = 1.0  # after a link comes up (IEEE 802.3, clause 78)

Seconds = Annotated[float, Field(gt=0, le=86_400)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Factor(_Part):
    """What is varied. `links` and `kind` are as in the head of this module."""

    levels: tuple[Level, ...] = Field(min_length=1)
    kind: Kind = "parameter"
    links: Literal["hosts", "trunks", "all"] | tuple[StrictStr | StrictInt, ...] = "hosts"

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if len(set(map(repr, self.levels))) < len(self.levels):
            raise ValueError("a level stands there twice: leave one out")
        known = _LEVELS.get(self.kind)
        strange = [level for level in self.levels if known is not None and level not in known]
        if strange and known is not None:
            raise ValueError(f"{strange[0]!r} is no level of {self.kind}: use {', '.join(map(str, known))}")
        numbers = self.kind in ("hold_us", "load_mbps", "host_count", "ranks_per_host")
        least = 0 if self.kind in ("hold_us", "load_mbps") else 1
        for level in self.levels if numbers else ():
            if isinstance(level, bool | str) or level < least:
                raise ValueError(f"{level!r} is no level of {self.kind}: use numbers from {least}")
        return self


class ProgramRun(_Part):
    """A program of the table, and where it runs. `parameters` are those that no factor gives."""

    name: str
    parameters: dict[str, Any] = {}
    hosts: tuple[str, ...] = Field(min_length=1)
    ranks_per_host: int = Field(default=1, ge=1, le=1024)
    timeout_s: Seconds = 600.0


class ProbeRun(_Part):
    """A ping-interval probe: the words of `agents/echo_probe.py`. `from` is the host that asks."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    count: int = Field(default=1000, ge=1, le=1_000_000)
    gap_us: tuple[float, float] = (50.0, 100_000.0)
    draw: Literal["log", "uniform"] = "log"
    steps_us: tuple[float, ...] = ()
    per_step: int = Field(default=1000, ge=1, le=1_000_000)
    since: Literal["answer", "echo"] = "answer"
    payload_byte: int = Field(default=64, ge=0, le=8972)

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if not 0 < self.gap_us[0] <= self.gap_us[1]:
            raise ValueError("gaps are LOW and HIGH with 0 < LOW <= HIGH, as in [50, 100000]")
        if any(step <= 0 for step in self.steps_us):
            raise ValueError("steps are above 0 us")
        return self


class Window(_Part):
    """A length of time in which nothing is done but sampling. `settle_s` passes before, for the meters' lag.

    `hosts` are those between which a factor `load_mbps` sends: each to the next, the last one to the first.
    """

    window_s: Seconds
    settle_s: float = Field(default=0.0, ge=0, le=3600)
    hosts: tuple[str, ...] = ()


class Measure(_Part):
    """What one trial does: one of the four."""

    program: ProgramRun | None = None
    probe: ProbeRun | None = None
    idle: Window | None = None
    power: Window | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("one thing is measured: give one of program, probe, idle, power")
        return self

    @property
    def what(self) -> What:
        """Which of the four."""
        found: list[What] = [name for name in ("program", "probe", "idle", "power") if getattr(self, name) is not None]
        return found[0]

    @property
    def window(self) -> Window | None:
        """The window, if it is one."""
        return self.idle or self.power

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that take part."""
        if self.program is not None:
            return self.program.hosts
        if self.probe is not None:
            return (self.probe.source, self.probe.target)
        return self.window.hosts if self.window is not None else ()


class Recordings(_Part):
    """What else is kept of each trial. `user` is who runs agents on nodes; left out: the inventory's.

    Idle gaps need CAP_NET_RAW there, which root has.
    """

    gaps: bool = False
    traffic: bool = False
    nodes: bool = False
    user: str = ""


class Guards(_Part):
    """What makes a trial invalid, and how often it is tried again at the end of its block.

    `twin_late_us`, `twin_late_share`: on a virtual lab no larger share of a trial's frames may be later than that.
    """

    retries: int = Field(default=2, ge=0, le=20)
    flaps: bool = True
    counters: bool = True
    meters: bool = True
    clock_jump_s: Seconds = 0.05
    twin_late_us: float = Field(default=500.0, gt=0)
    twin_late_share: float = Field(default=0.01, ge=0, le=1)
    failures_in_a_row: int = Field(default=6, ge=1)


class Effect(_Part):
    """What the experiment should be able to see, for the look at the meters before it starts.

    `effect_watt`: the difference that is expected, of all `meters` together; left out, nothing is refused. `meters` are
    devices whose outlets are meant; left out: all. `trial_s` is how long a trial of a program or probe may take.
    """

    effect_watt: float | None = Field(default=None, gt=0)
    meters: tuple[str, ...] = ()
    look_s: Seconds = 15.0
    trial_s: Seconds = 10.0


class Sampling(_Part):
    """How often devices are asked."""

    period_s: float = Field(default=1.0, ge=0.05, le=3600)
    lpi_period_s: float = Field(default=10.0, ge=0, le=3600)


def _factor(value: Any) -> Any:
    return {"levels": value} if isinstance(value, list | tuple) else value


def _of_name(value: Any) -> Any:
    """What a factor's name says of its kind, where nothing else does; on and off may be YAML 1.1's booleans."""
    if not isinstance(value, dict):
        return value
    told = {}
    for name, given in value.items():
        factor = _factor(given)
        if isinstance(factor, dict):
            factor = {"kind": name, **factor} if name in _NAMED else dict(factor)
            if factor.get("kind") in ("eee", "link") and isinstance(factor.get("levels"), list | tuple):
                words = {True: "on", False: "off"}
                factor["levels"] = [words[one] if isinstance(one, bool) else one for one in factor["levels"]]
        told[name] = factor
    return told


class Experiment(_Part):
    """A whole experiment. The same `seed` gives the same order.

    A block has every combination of levels `repetitions` times, in a random order. `slow` factors change as seldom as
    that allows: the combinations of their levels are drawn first, and within each the rest (a split plot). `skip` are
    levels that do not go together. `warm_up` trials come before the first one and do not count. `settle_s` passes
    after a change of the lab: in its first second a link does not sleep.
    """

    format: Literal[1] = FORMAT
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")
    about: str = ""
    lab: str = "virtual"
    factors: Annotated[dict[str, Factor], BeforeValidator(_of_name)] = {}
    measure: Measure
    blocks: int = Field(default=3, ge=1, le=10_000)
    repetitions: int = Field(default=1, ge=1, le=10_000)
    seed: int = 1
    slow: tuple[str, ...] = ()
    skip: tuple[dict[str, Level], ...] = ()
    warm_up: int = Field(default=0, ge=0, le=100)
    settle_s: float = Field(default=1.2, ge=_SECOND_WITHOUT_LPI_S, le=3600)
    recordings: Recordings = Recordings()
    guards: Guards = Guards()
    expect: Effect = Effect()
    sampling: Sampling = Sampling()

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        for name in (*self.slow, *(name for one in self.skip for name in one)):
            if name not in self.factors:
                raise ValueError(f"there is no factor {name}: it has {', '.join(self.factors) or 'none'}")
        kinds = [factor.kind for factor in self.factors.values()]
        for kind in ("routing", "load_mbps", "host_count", "ranks_per_host"):
            if kinds.count(kind) > 1:
                raise ValueError(f"two factors are of the kind {kind}: leave one out")
        if self.measure.program is None:
            for name, factor in self.factors.items():
                if factor.kind in ("host_count", "ranks_per_host"):
                    raise ValueError(f"the factor {name} places a program, and none is measured: leave it out")
        if "load_mbps" in kinds and (self.measure.window is None or len(self.measure.window.hosts) < 2):
            raise ValueError("a factor of the kind load_mbps needs a window (idle or power) with at least two hosts")
        power = self.measure.power
        if power is not None and power.window_s < 2 * self.sampling.period_s:
            raise ValueError(
                "a power window holds two samples or more: lengthen window_s, or shorten sampling.period_s"
            )
        return self

    def of_kind(self, *kinds: Kind) -> dict[str, Factor]:
        """The factors of some kinds."""
        return {name: factor for name, factor in self.factors.items() if factor.kind in kinds}
