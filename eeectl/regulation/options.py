"""Options that verbs of `eeectl regulate` share: what is chosen, with what, by which rules, and in which trials."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eee_testbed.controller.planning.regulate import require_hold
from eee_testbed.eeectl.apply_options import seconds_of
from eee_testbed.eeectl.notice import NoticeOptions
from eee_testbed.eeectl.program_options import LaunchOptions
from eee_testbed.eeectl.set_options import pairs, share_of, value
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.experiment import LoopLevel
from eee_testbed.measuring.experiments.launchers.table import LAUNCHERS
from eee_testbed.measuring.regulating.kinds import Method, Source
from eee_testbed.regulation.closed_loop import Settings
from eee_testbed.regulation.levels import Knob

if TYPE_CHECKING:
    from eee_testbed.measuring.regulating.choosing import Peak, Traffic
    from eee_testbed.measuring.regulating.session import LoopOptions

_Words = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)]
_Flag = Annotated[bool, Parameter(negative="")]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceOptions:
    """How much a channel may carry, and how the program's traffic is known.

    Parameters
    ----------
    peak
        What a channel (one direction of a link) may carry during the pre-run: bytes, such as 12MB, or a share of its
        capacity, such as 40%. Give several to try each.
    sweep
        Try this many peaks instead of --peak, from the busiest channel's load upwards.
    traffic
        Count `messages` between ranks, which needs --launcher openmpi, or bytes by the `counters` of switches' ports.
    pre_run
        A run of the program with --traffic, instead of a pre-run.
    values
        NAME=VALUE: a parameter of the program. Give the option once for each parameter.
    pre_values
        NAME=VALUE: the same for the pre-run alone, such as a smaller problem.
    calibration
        Fitted power of switches and ports: a file of `eeectl fit`. Default: all ports are assumed to draw the same.
    seed
        Seed of the random order, and of the heuristic.
    time_limit_s
        Time limit of the search for the least power, for each peak, seconds.

    """

    peak: _Words = ()
    sweep: int = 0
    traffic: Source = "messages"
    pre_run: Path | None = None
    values: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = ()
    pre_values: Annotated[tuple[str, ...], Parameter(name="--pre-set", negative="")] = ()
    calibration: Path | None = None
    seed: int = 1
    time_limit_s: float = 10.0

    def require(self, launch: LaunchOptions) -> None:
        """LabError if no choice can come of them, before anything runs."""
        from eee_testbed.measuring.regulating.choosing import peak_in

        if bool(self.peak) == bool(self.sweep):
            raise LabError("how much may a channel carry? Give --peak once or more, such as --peak 40%, or --sweep 4.")
        for text in self.peak:
            peak_in(text)
        launcher = LAUNCHERS.get(launch.launcher)
        counts = self.pre_run is None and self.traffic == "messages"
        if counts and launcher is not None and not launcher.counts_messages:
            raise LabError(
                f"launcher {launch.launcher} cannot count messages between ranks, which the pre-run needs: give "
                "--traffic counters."
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The program's parameters."""
        return parameters_in(self.values)

    @property
    def pre_parameters(self) -> dict[str, Any]:
        """Those of the pre-run."""
        return self.parameters | {name: value(text) for name, text in pairs(self.pre_values, "--pre-set count=10")}

    def peaks(self, sent: "Traffic", time_s: float) -> "tuple[Peak, ...]":
        """The peaks of a program that sent so much in its time."""
        from eee_testbed.measuring.regulating.choosing import peak_named, swept

        if self.sweep:
            return swept(sent, self.sweep)
        return tuple(peak_named(text, sent.network, time_s) for text in self.peak)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class EndOptions:
    """What a verb that measures prints at its end, and whom it tells.

    Parameters
    ----------
    as_json
        Print JSON.
    telling
        Whom it tells.

    """

    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False
    telling: NoticeOptions = field(default_factory=NoticeOptions)


def parameters_in(values: tuple[str, ...]) -> dict[str, Any]:
    """A program's parameters of --set; LabError for one that is not NAME=VALUE."""
    return {name: value(text) for name, text in pairs(values, "--set count=100")}


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class KnobOptions:
    """What is done with links that a program does not need.

    Parameters
    ----------
    knob
        What happens to links that are not needed: `off`; `speed`: a lower speed; `eee`: EEE on; `hold`: EEE on with the
        hold of --hold-us, on links with an end that can set it.
    hold_us
        With --knob hold: idle time after which a transmitter goes to sleep, microseconds.
    method
        How links are chosen: `koibuchi` (the paper's selection), `least` (trees and links of the least power), or
        `both`.

    """

    knob: Knob = "off"
    hold_us: int | None = None
    method: Method = "both"

    def require(self) -> None:
        """LabError if the hold time is missing, does not go with the knob, or is out of range."""
        if (self.knob == "hold") != (self.hold_us is not None):
            raise LabError("--knob hold and --hold-us go together: give both, such as --knob hold --hold-us 500.")
        require_hold(self.hold_us)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOptions:
    """Trials of the program with each choice.

    Parameters
    ----------
    figure
        The program's figure that is compared. Default: its run time, or the throughput of one that has none.
    blocks
        Number of blocks; each has the baseline and every choice, in random order.
    repetitions
        How often it runs at each choice in a block.
    trace
        Record every call of MPI functions, for `eeectl trace import`; needs mpicc on the hosts, and --launcher openmpi
        or mpich.
    gaps
        Record the idle gaps of the hosts' links; needs CAP_NET_RAW on the hosts.

    """

    figure: str = ""
    blocks: int = 6
    repetitions: int = 1
    trace: _Flag = False
    gaps: _Flag = False

    def added_to(self, content: dict[str, Any]) -> dict[str, Any]:
        """An experiment's content with them."""
        recordings = content["recordings"] | {"trace": self.trace, "gaps": self.gaps}
        return content | {"blocks": self.blocks, "repetitions": self.repetitions, "recordings": recordings}


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """By which rules a closed loop regulates.

    Parameters
    ----------
    epoch
        Time between two decisions, such as 5s.
    high_water_mark
        Links that carry more than this share of their rate count as too busy (TCEP's U_hwm).
    slowdown_bound
        If the program gets slower by more than this share, all links are turned on. Afterwards at most half as many may
        be off.
    deactivation_epochs
        Links are turned off only every this many epochs; they are turned on in any epoch.
    baseline_runs
        Number of runs of the program with all links on, at the start, as the baseline.
    hub
        The switch from which the root network starts; links of the root network are never turned off. Default: the
        switch with the most neighbours.

    """

    epoch: str = "5s"
    high_water_mark: str = "75%"
    slowdown_bound: str = "5%"
    deactivation_epochs: int = 10
    baseline_runs: int = 3
    hub: str = ""

    def options(self, for_time: str | None = None) -> "LoopOptions":
        """The same for `measuring.regulating`; LabError for what is out of range."""
        from eee_testbed.measuring.regulating.session import LoopOptions

        settings = Settings(
            high_water_mark=share_of(self.high_water_mark, "high-water mark"),
            deactivation_epochs=self.deactivation_epochs,
            max_slowdown=share_of(self.slowdown_bound, "bound"),
        )
        return LoopOptions(settings, seconds_of(self.epoch) or 0.0, seconds_of(for_time), self.baseline_runs, self.hub)

    def level(self, settle_within: str) -> LoopLevel:
        """The same as a level of a regulation, beside which trials are measured; LabError for what is out of range."""
        options = self.options()
        return LoopLevel(
            epoch_s=options.epoch_s,
            high_water_mark=options.settings.high_water_mark,
            deactivation_epochs=options.settings.deactivation_epochs,
            max_slowdown=options.settings.max_slowdown,
            baseline_runs=options.baseline_runs,
            hub=options.hub,
            settle_s=seconds_of(settle_within) or 0.0,
        )
