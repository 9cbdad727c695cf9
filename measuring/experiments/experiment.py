"""An experiment as a user writes it: factors, what is measured, how often, in which order, and the guards.

::

    name: alltoall-eee
    lab: virtual
    factors:
      eee: {links: hosts, levels: [on, off]}    # the name gives the kind; any other name needs `kind`
      sleep_us: [0, 100, 500]                   # any other name is a parameter of the program
    measure:
      program: {name: alltoall, parameters: {count: 200}, hosts: [n01, n02], ranks_per_host: 1}
    blocks: 5
    slow: [eee]                                 # changes once a block for each level, not from trial to trial

`measure` is one of `program`, `probe`, `idle`, `power`. Links are `hosts`, `trunks`, `all` or a list of names.
"""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from eee_testbed.benchmarks.figure_sets import FigureReader
from eee_testbed.measuring.experiments.launchers.table import DEFAULT, LAUNCHERS, chosen
from eee_testbed.record.trial_events import What

FORMAT: Final = 1

Level = StrictBool | StrictInt | float | StrictStr
"""A factor's setting. `on` and `off` stay strings."""

Kind = Literal[
    "parameter",
    "eee",
    "hold_us",
    "link",
    "speed_mbps",
    "routing",
    "regulation",
    "load_mbps",
    "host_count",
    "ranks_per_host",
]
"""What a factor changes: a program parameter, a setting of links, the routing trees, traffic, or the placement."""

OF_LINKS: Final = ("eee", "hold_us", "link", "speed_mbps")
OF_LAB: Final = (*OF_LINKS, "routing", "regulation")
_NAMED: Final = (*OF_LAB, "load_mbps", "host_count", "ranks_per_host")
_LEVELS: Final[dict[str, tuple[Level, ...]]] = {
    "eee": ("on", "off"),
    "link": ("on", "half", "off"),
    "speed_mbps": ("auto", 10, 100, 1000, 2500, 5000, 10_000),
    "routing": ("shortest", "one"),
}
"""Levels that a kind allows. `half`: the first end is enabled and the other end is shut, so the link is down."""

_SECOND_WITHOUT_LPI_S: Final = 1.0  # after a link comes up (IEEE 802.3, clause 78)

LOOP_SAMPLES: Final = 4
"""So often counters have to be read in an epoch of a closed loop."""

Seconds = Annotated[float, Field(gt=0, le=86_400)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TreeLevel(_Part):
    """Hosts of one switch, and the tree that they send over: trunks by their numbers in cables.csv."""

    hosts: tuple[str, ...] = Field(min_length=1)
    links: tuple[int, ...]


class LoopLevel(_Part):
    """A closed loop that regulates links during a trial, as `eeectl regulate auto` does. Times in seconds.

    The loop starts with the lab as it was before the run. First the program runs `baseline_runs` times with all links
    on, as the baseline. Then it runs again and again until the loop has changed nothing for two deactivation epochs, or
    for `settle_s` at most. None of these runs is recorded. Then the trial is measured, while the loop continues.
    """

    epoch_s: float = Field(default=5.0, ge=1, le=600)
    high_water_mark: float = Field(default=0.75, gt=0, lt=1)
    deactivation_epochs: int = Field(default=10, ge=1)
    max_slowdown: float = Field(default=0.05, ge=0)
    baseline_runs: int = Field(default=3, ge=1)
    hub: str = ""
    settle_s: Seconds = 900.0


class RegulationLevel(_Part):
    """A level of a factor of kind `regulation`, as `eeectl regulate run` writes it.

    Trunks are numbered as in cables.csv. `on` and `off`: trunks that are turned on and off. `speed_mbps`: by trunk;
    null means negotiated. `eee`: by trunk, whether EEE is on. `cables`: by LAG, how many of its cables are on.
    `hold_us`: hold of links whose EEE is turned on, microseconds. With `loop` a closed loop decides instead, and no
    other key is given.
    """

    trees: tuple[TreeLevel, ...] = ()
    on: tuple[int, ...] = ()
    off: tuple[int, ...] = ()
    speed_mbps: dict[int, int | None] = {}
    eee: dict[int, bool] = {}
    cables: dict[int, int] = {}
    hold_us: int | None = Field(default=None, ge=0)
    loop: LoopLevel | None = None

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        given = (self.trees, self.on, self.off, self.speed_mbps, self.eee, self.cables, self.hold_us is not None)
        if any(given) if self.loop is not None else not self.trees:
            raise ValueError("a level of a regulation has either `trees`, or `loop` and nothing else: remove one")
        return self


class Factor(_Part):
    """A setting that is varied. `kind`: which setting; default: the factor's name. `links`: the links that change.

    `choices` are the levels of a regulation, which `eeectl regulate run` writes.
    """

    levels: tuple[Level, ...] = Field(min_length=1)
    kind: Kind = "parameter"
    links: Literal["hosts", "trunks", "all"] | tuple[StrictStr | StrictInt, ...] = "hosts"
    choices: dict[str, RegulationLevel] = {}

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if len(set(map(repr, self.levels))) < len(self.levels):
            raise ValueError("a level is listed twice: remove one")
        allowed = _LEVELS.get(self.kind)
        unknown = [level for level in self.levels if allowed is not None and level not in allowed]
        if unknown and allowed is not None:
            raise ValueError(f"{unknown[0]!r} is not a level of {self.kind}: use {', '.join(map(str, allowed))}")
        named = {*map(str, self.levels)} if self.kind == "regulation" else set()
        if self.choices.keys() != named:
            raise ValueError("`choices` lacks a level of a factor of kind regulation: use `eeectl regulate run`")
        numbers = self.kind in ("hold_us", "load_mbps", "host_count", "ranks_per_host")
        least = 0 if self.kind in ("hold_us", "load_mbps") else 1
        for level in self.levels if numbers else ():
            if isinstance(level, bool | str) or level < least:
                raise ValueError(f"{level!r} is not a level of {self.kind}: use numbers from {least}")
        return self


class ProgramRun(_Part):
    r"""A program of the table, and where it runs. `parameters`: those that no factor sets.

    `figures`: what else is read of its output, each a set of figures such as `lammps`, or a rule such as
    `time=Time = ([\d.]+) s`, or `rate[Gflop/s]=Rate: (\S+)` where the program prints no unit after the value.
    `launcher`: what starts it, `openmpi`, `mpich`, `slurm` or `command`. `launcher_words`: words added to its command
    line; of `command` the whole one, in which `{hosts}`, `{hostfile}`, `{ranks}` and `{ranks_per_host}` are filled in.
    """

    name: str
    parameters: dict[str, Any] = {}
    hosts: tuple[str, ...] = Field(min_length=1)
    ranks_per_host: int = Field(default=1, ge=1, le=1024)
    timeout_s: Seconds = 600.0
    figures: tuple[StrictStr, ...] = ()
    launcher: StrictStr = DEFAULT
    launcher_words: StrictStr = ""

    @model_validator(mode="after")
    def _launchable(self) -> Self:
        chosen(self.launcher, self.launcher_words, {})
        return self

    @field_validator("figures")
    @classmethod
    def _readable(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        FigureReader.of(texts)
        return texts

    @property
    def reader(self) -> FigureReader:
        """What is read of its output."""
        return FigureReader.of(self.figures)


class ProbeRun(_Part):
    """A ping-interval probe: the options of `agents/echo_probe.py`. `from` is the host that sends the echoes.

    `stream_from`: a third host, which meanwhile sends both a small frame every `stream_every_us`. It keeps the
    switches' ports to them awake where their hold is longer, so that on these links the hosts' cards alone may sleep.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    count: int = Field(default=1000, ge=1, le=1_000_000)
    gap_us: tuple[float, float] = (50.0, 100_000.0)
    draw: Literal["log", "uniform"] = "log"
    steps_us: tuple[float, ...] = ()
    per_step: int = Field(default=1000, ge=1, le=1_000_000)
    since: Literal["answer", "echo"] = "answer"
    payload_byte: int = Field(default=56, ge=0, le=8972)
    stream_from: str = ""
    stream_every_us: float = Field(default=250.0, ge=20, le=1e6)

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if self.stream_from and self.stream_from in (self.source, self.target):
            raise ValueError("stream_from is one of the two hosts of the probe: name a third one")
        if not 0 < self.gap_us[0] <= self.gap_us[1]:
            raise ValueError("gap_us needs LOW and HIGH with 0 < LOW <= HIGH: write, for example, [50, 100000]")
        if any(step <= 0 for step in self.steps_us):
            raise ValueError("a step is not above 0 us: use positive numbers")
        return self


class Window(_Part):
    """A time window in which devices are only sampled, after `settle_s` for the meters to catch up.

    `hosts`: a factor `load_mbps` sends traffic from each of them to the next, and from the last one to the first.
    """

    window_s: Seconds
    settle_s: float = Field(default=0.0, ge=0, le=3600)
    hosts: tuple[str, ...] = ()


class Measure(_Part):
    """What one trial measures: exactly one of the four."""

    program: ProgramRun | None = None
    probe: ProbeRun | None = None
    idle: Window | None = None
    power: Window | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        chosen = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(chosen) != 1:
            raise ValueError("`measure` needs exactly one entry: give one of program, probe, idle, power")
        return self

    @property
    def what(self) -> What:
        """Which of the four."""
        found: list[What] = [name for name in ("program", "probe", "idle", "power") if getattr(self, name) is not None]
        return found[0]

    @property
    def window(self) -> Window | None:
        """The window, if `idle` or `power` is measured."""
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
    """What else is recorded of each trial. `user` runs the agents on nodes; default: the inventory's user.

    Recording idle gaps needs CAP_NET_RAW, which root has. `traffic`: messages and bytes between ranks, and the calls of
    MPI functions, which are counted where nodes have a C compiler. `trace`: every call of MPI with its times, peers and
    bytes, for `eeectl trace import`, where nodes have mpicc.
    """

    gaps: bool = False
    traffic: bool = False
    trace: bool = False
    nodes: bool = False
    user: str = ""


class Guards(_Part):
    """What makes a trial invalid, and how often it is repeated at the end of its block.

    `retry_failed`: also repeat a trial that failed, for example because its program ended with an error. On a virtual
    lab, at most `twin_late_share` of a trial's frames may be more than `twin_late_us` late. If the lab sets its own
    rate, a trial with too late frames or ranks is repeated at a slower rate, while retries are left. The ranks may wait
    for a processor for at most `processor_wait_share` of the program's time. At most `slow_share` of this time may be
    in iterations that are far slower than the median. A node may lose at most `steal_share` of its processors to its
    hypervisor. These three guards apply only to programs that report the values. Ranks of a virtual lab share the
    processors of one machine: there `processor_wait_share` is noted and does not make a trial invalid; in real time
    the same is true of the other two.
    """

    retries: int = Field(default=2, ge=0, le=20)
    retry_failed: bool = True
    flaps: bool = True
    counters: bool = True
    meters: bool = True
    clock_jump_s: Seconds = 0.05
    twin_late_us: float = Field(default=500.0, gt=0)
    twin_late_share: float = Field(default=0.01, ge=0, le=1)
    processor_wait_share: float = Field(default=0.05, ge=0, le=1)
    steal_share: float = Field(default=0.05, ge=0, le=1)
    slow_share: float = Field(default=0.05, ge=0, le=1)
    failures_in_a_row: int = Field(default=6, ge=1)


class Effect(_Part):
    """The effect that the meters must be able to resolve; checked before the run starts (the preflight).

    `effect_watt`: the expected difference of the sum of all `meters`; without it no run is refused. `meters`: devices
    whose outlets are summed; default: all. `look_s`: duration of the preflight. `trial_s`: assumed length of a program
    or probe trial.
    """

    effect_watt: float | None = Field(default=None, gt=0)
    meters: tuple[str, ...] = ()
    look_s: Seconds = 15.0
    trial_s: Seconds = 10.0


class Sampling(_Part):
    """How often devices are polled."""

    period_s: float = Field(default=1.0, ge=0.05, le=3600)
    lpi_period_s: float = Field(default=10.0, ge=0, le=3600)


def _factor(value: Any) -> Any:
    return {"levels": value} if isinstance(value, list | tuple) else value


def _of_name(value: Any) -> Any:
    """Take a factor's kind from its name where `kind` is missing; turn YAML 1.1's booleans back into on and off."""
    if not isinstance(value, dict):
        return value
    factors = {}
    for name, written in value.items():
        factor = _factor(written)
        if isinstance(factor, dict):
            factor = {"kind": name, **factor} if name in _NAMED else dict(factor)
            if factor.get("kind") in ("eee", "link") and isinstance(factor.get("levels"), list | tuple):
                words = {True: "on", False: "off"}
                factor["levels"] = [words[one] if isinstance(one, bool) else one for one in factor["levels"]]
        factors[name] = factor
    return factors


class Experiment(_Part):
    """A whole experiment. The same `seed` gives the same order.

    A block has every combination of levels `repetitions` times, in random order. `slow` factors change as seldom as
    possible: the combinations of their levels are drawn first, and the rest within each (a split plot). `skip` lists
    combinations of levels to leave out. `warm_up` trials run before the first trial and are not recorded. The run waits
    for `settle_s` after each change of the lab: a link does not enter LPI in its first second.
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
                raise ValueError(
                    f"unknown factor {name}: use one of {', '.join(self.factors) or '(no factor is defined)'}"
                )
        kinds = [factor.kind for factor in self.factors.values()]
        for kind in ("routing", "regulation", "load_mbps", "host_count", "ranks_per_host"):
            if kinds.count(kind) > 1:
                raise ValueError(f"two factors are of kind {kind}: remove one")
        if self.measure.program is None:
            for name, factor in self.factors.items():
                if factor.kind in ("host_count", "ranks_per_host"):
                    raise ValueError(f"factor {name} places a program, but no program is measured: remove it")
        if "load_mbps" in kinds and (self.measure.window is None or len(self.measure.window.hosts) < 2):
            raise ValueError(
                "a factor of kind load_mbps needs a window (idle or power) with at least two hosts: add `hosts` to it"
            )
        self._require_loops_fit()
        self._require_mpicc()
        power = self.measure.power
        if power is not None and power.window_s < 2 * self.sampling.period_s:
            raise ValueError(
                "a power window must hold at least two samples: increase window_s or reduce sampling.period_s"
            )
        return self

    def _require_mpicc(self) -> None:
        run = self.measure.program
        if self.recordings.trace and run is not None and not LAUNCHERS[run.launcher].mpicc:
            raise ValueError(
                f"a trace needs the mpicc of the program's MPI, which launcher {run.launcher} does not know: remove "
                "`trace`, or use launcher openmpi or mpich"
            )

    def _require_loops_fit(self) -> None:
        loops = [
            choice.loop
            for factor in self.factors.values()
            for choice in factor.choices.values()
            if choice.loop is not None
        ]
        if loops and (self.measure.program is None or len(self.of_kind(*OF_LAB)) > 1):
            raise ValueError(
                "a closed loop needs a program, and no other factor may change the lab: remove the loop, or the factor"
            )
        if any(loop.epoch_s < LOOP_SAMPLES * self.sampling.period_s for loop in loops):
            raise ValueError(
                f"a closed loop needs {LOOP_SAMPLES} samples an epoch: reduce sampling.period_s, or increase epoch_s"
            )

    def of_kind(self, *kinds: Kind) -> dict[str, Factor]:
        """The factors of these kinds."""
        return {name: factor for name, factor in self.factors.items() if factor.kind in kinds}
