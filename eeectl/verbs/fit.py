"""`eeectl fit`: fit runs, and write `calibration.yaml` with a 95 % interval for every parameter."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from eee_testbed.analysis.fitted_part import Part
from eee_testbed.analysis.run_lab import run_folder
from eee_testbed.eeectl.output_file import require_place
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text

if TYPE_CHECKING:
    from eee_testbed.analysis.fit_runs import FitResult

fit_app = App(name="fit")


@fit_app.default
def fit(
    *runs: str,
    what: Annotated[tuple[Part, ...], Parameter(negative="")] = (),
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    known: Annotated[Path | None, Parameter(name="--with")] = None,
    accuracy_percent: float = 0.0,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Fit links' EEE policies, power of switches and nodes, and run time under EEE to runs; write a calibration.

    Parameters
    ----------
    runs
        Folders of runs, or names below runs/, all of one lab.
    what
        links, power or run-time; repeat for several. Default: whatever the runs measured.
    output
        File to write, such as calibration.yaml. Default: only print the result.
    known
        Calibration to add to; new results replace those in it.
    accuracy_percent
        Accuracy class of the power meters, such as 1; it widens the intervals of watts.
    as_json
        Print JSON.

    """
    from eee_testbed.analysis.calibration import load_calibration, save_calibration
    from eee_testbed.analysis.fit_runs import fit_runs
    from eee_testbed.analysis.progress import NOBODY
    from eee_testbed.controller.applying.progress import Bars
    from eee_testbed.record.samples import RunSamples

    if not runs:
        raise LabError("name a run to fit, as in `eeectl fit runs/20260101T120000Z-demo -o calibration.yaml`.")
    if not 0 <= accuracy_percent < 100:
        raise LabError("invalid number: --accuracy-percent is from 0 to below 100.")
    if output is not None:
        require_place(output, "the calibration", "calibration.yaml")
    base = None if known is None else load_calibration(known)
    samples = [RunSamples(run_folder(name)) for name in runs]
    with Bars() as bars:
        shown = NOBODY if as_json else bars
        result = fit_runs(samples, base, what, accuracy_share=accuracy_percent / 100, progress=shown)
    if output is not None:
        save_calibration(output, result.calibration)
    if as_json:
        plain = json.loads(result.calibration.model_dump_json(exclude_none=True))
        print(json.dumps({"calibration": plain, "troubles": result.failures}, indent=1))
    else:
        _print(result, output)
    return 1 if what and result.failures else 0


def _print(result: "FitResult", output: Path | None) -> None:
    from eee_testbed.analysis.calibration import PowerPart
    from eee_testbed.eeectl.calibration_text import calibration_text

    if result.calibration.links or result.calibration.run_time or result.calibration.power != PowerPart():
        print_text(calibration_text(result.calibration), indent=4)
    if result.failures:
        print()
    for sentence in result.failures:
        print_text(f"not fitted: {sentence}")
    if output is not None:
        print(f"written to {output}")
