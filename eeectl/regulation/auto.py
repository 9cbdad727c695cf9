"""The closed loop's options on the command line, and what is printed at its end."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Final

from cyclopts import Parameter

from controller.experiments.experiment import LoopLevel
from controller.experiments.experiment_file import experiment_of
from controller.experiments.session import RunOptions, validated_lab
from controller.live.export.attach import ViewOptions
from controller.regulating.session import LoopOptions, LoopResult, run_loop
from eeectl.apply_options import seconds_of
from eeectl.exit_status import DONE, INTERRUPTED, REFUSED
from eeectl.lab_name import require_up
from eeectl.program_options import ProgramOptions
from eeectl.set_options import share_of
from lab.errors import LabError
from lab.yaml_source import YamlSource
from regulation.closed_loop import Settings

_NO_END_S: Final = 86_400.0


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class AutoOptions:
    """How the closed loop of --auto regulates.

    Parameters
    ----------
    epoch
        With --auto or --compare: the time between two decisions. A link needs ten epochs without need before it goes
        off.
    for_time
        With --auto: how long; without it, until Ctrl-C.
    high_water_mark
        With --auto: links above this share of their rate are too busy (TCEP's U_hwm).
    slowdown_bound
        With --auto and a program: if it is slower by more than this share, all links are switched on, and half
        as many may go off afterwards.
    deactivation_epochs
        With --auto: links are deactivated every so many epochs; activated, every epoch.
    baseline_runs
        With --auto and a program: so many runs with all links on come first, to compare with.
    settle_within
        With --compare: a trial of the closed loop begins when nothing was changed for two deactivation epochs, or after
        this time.
    hub
        With --auto: the switch from which the root network leads, which is never switched off. Default: the one with
        most neighbours.

    """

    epoch: str = "5s"
    for_time: Annotated[str | None, Parameter(name="--for")] = None
    high_water_mark: str = "75%"
    slowdown_bound: str = "5%"
    deactivation_epochs: int = 10
    baseline_runs: int = 3
    settle_within: str = "15m"
    hub: str = ""

    def options(self) -> LoopOptions:
        """The same for `controller.regulating`; LabError for what is out of range."""
        settings = Settings(
            high_water_mark=share_of(self.high_water_mark, "high-water mark"),
            deactivation_epochs=self.deactivation_epochs,
            max_slowdown=share_of(self.slowdown_bound, "bound"),
        )
        epoch_s = seconds_of(self.epoch) or 0.0
        return LoopOptions(settings, epoch_s, seconds_of(self.for_time), self.baseline_runs, self.hub)

    def level(self) -> LoopLevel:
        """The same as a level of a regulation, beside which trials are measured; LabError for what is out of range."""
        if self.for_time is not None:
            raise LabError("--compare measures --blocks trials: leave out --for.")
        options, settle_s = self.options(), seconds_of(self.settle_within)
        return LoopLevel(
            epoch_s=options.epoch_s,
            high_water_mark=options.settings.high_water_mark,
            deactivation_epochs=options.settings.deactivation_epochs,
            max_slowdown=options.settings.max_slowdown,
            baseline_runs=options.baseline_runs,
            hub=options.hub,
            settle_s=settle_s or 0.0,
        )


def regulate_auto(
    program: str,
    parameters: dict[str, Any],
    auto: AutoOptions,
    options: ProgramOptions,
    views: ViewOptions,
    *,
    as_json: bool,
) -> int:
    """Run the closed loop, beside a program or alone, and print how it ended; the exit status."""
    loop_options = auto.options()
    content = options.content(program, parameters, f"regulate-{program or 'auto'}")
    if not program:
        content["measure"] = {"idle": {"window_s": loop_options.for_s or _NO_END_S}}
    source = YamlSource("the command line", content | {"blocks": 1})
    experiment = experiment_of(source)
    require_up(validated_lab(experiment, source))
    result = run_loop(experiment, source, loop_options, RunOptions(options.runs, quiet=as_json, views=views))
    if as_json:
        print(json.dumps(_plain(result), indent=1))
    else:
        print("\n".join(_lines(result)))
    if result.cause is not None:
        return REFUSED
    return INTERRUPTED if result.interrupted else DONE


def _lines(result: LoopResult) -> list[str]:
    off, on = result.changes.get("off", 0), result.changes.get("waking", 0)
    lines = [f"{result.epochs} epochs, in which links went off {off} times and on {on} times: {result.folder}"]
    if result.baseline_s is not None and result.last_s is not None:
        lines.append(
            f"the program took {result.baseline_s:.4g} s with all links on and {result.last_s:.4g} s under the loop at "
            f"last ({result.last_s / result.baseline_s - 1:+.1%}), medians; it ran {result.runs} times under the loop"
        )
    return [*lines, result.restored] if result.restored else lines


def _plain(result: LoopResult) -> dict[str, Any]:
    plain: dict[str, Any] = {"run": str(result.folder), "epochs": result.epochs, "changes": dict(result.changes)}
    plain |= {"baseline_s": result.baseline_s, "last_s": result.last_s, "runs": result.runs}
    cause = None if result.cause is None else str(result.cause)
    return plain | {"restored": result.restored, "interrupted": result.interrupted, "cause": cause}
