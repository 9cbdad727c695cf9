"""The closed loop beside a program or alone, and what is printed at its end."""

import json
from typing import Any, Final

from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, REFUSED
from eee_testbed.eeectl.lab_name import require_up
from eee_testbed.eeectl.program_options import LaunchOptions
from eee_testbed.lab.yaml_source import CommandLine
from eee_testbed.measuring.experiments.experiment_file import experiment_of
from eee_testbed.measuring.experiments.session import RunOptions, validated_lab
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.measuring.regulating.session import LoopOptions, LoopResult, run_loop

_NO_END_S: Final = 86_400.0


def regulate_auto(
    program: str,
    parameters: dict[str, Any],
    loop: LoopOptions,
    launch: LaunchOptions,
    views: ViewOptions,
    *,
    as_json: bool,
) -> int:
    """Run the closed loop, beside a program or alone, and print how it ended; the exit status."""
    content = launch.content(program, parameters, f"regulate-{program or 'auto'}")
    if not program:
        content["measure"] = {"idle": {"window_s": loop.for_s or _NO_END_S}}
    source = CommandLine(content | {"blocks": 1})
    experiment = experiment_of(source)
    require_up(validated_lab(experiment, source))
    result = run_loop(experiment, source, loop, RunOptions(launch.runs, quiet=as_json, views=views))
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
