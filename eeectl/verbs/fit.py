"""`eeectl fit`: fit runs, and write `calibration.yaml` with a 95 % interval for every parameter."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from analysis.calibration import Estimate, PowerPart, load_calibration, save_calibration
from analysis.fit_runs import FitResult, Part, fit_runs
from analysis.run_lab import run_folder
from lab.errors import LabError
from record.samples import RunSamples

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
    if not runs:
        raise LabError("name a run to fit, as in `eeectl fit runs/20260101T120000Z-demo -o calibration.yaml`.")
    if not 0 <= accuracy_percent < 100:
        raise LabError("invalid number: --accuracy-percent is from 0 to below 100.")
    base = None if known is None else load_calibration(known)
    samples = [RunSamples(run_folder(name)) for name in runs]
    result = fit_runs(samples, base, what, accuracy_share=accuracy_percent / 100)
    if output is not None:
        save_calibration(output, result.calibration)
    if as_json:
        plain = json.loads(result.calibration.model_dump_json(exclude_none=True))
        print(json.dumps({"calibration": plain, "troubles": result.failures}, indent=1))
    else:
        _print(result, output)
    return 1 if what and result.failures else 0


def _print(result: FitResult, output: Path | None) -> None:
    found, console = result.calibration, Console()
    for name, link in found.links.items():
        _print_part(console, f"links: {name}", _rows(link), (*link.unknown, *link.symptoms))
    _print_power(console, found.power)
    for name, program in found.run_time.items():
        _print_part(console, f"run time: {name}", _rows(program))
    for sentence in result.failures:
        console.print(f"not fitted: {sentence}", style="yellow", markup=False, highlight=False)
    if output is not None:
        console.print(f"written to {output}", markup=False, highlight=False)


def _print_power(console: Console, power: PowerPart) -> None:
    for name, switch in power.switches.items():
        _print_part(console, f"switches: {name}", _rows(switch), (*switch.unknown, *switch.warnings))
        for words, energy, unit in zip(("a bit", "a packet"), switch.per_interface, ("pJ", "nJ"), strict=True):
            if energy is not None:
                sentence = f"  {words} per interface, as NetPowerBench counts: {energy.value:.4g} {unit}"
                console.print(f"{sentence} ({energy.low:.4g} to {energy.high:.4g})", markup=False, highlight=False)
    nodes = [row for name, node in power.nodes.items() for row in _rows(node, f"{name}.")]
    if nodes:
        doubts = [f"{name}: {one}" for name, node in power.nodes.items() for one in node.warnings]
        _print_part(console, "nodes", nodes, doubts)
    if power.andujar is not None:
        _print_part(console, "Andujar's model", _rows(power.andujar))
    if power.note:
        console.print(power.note, markup=False, highlight=False)


def _print_part(
    console: Console, title: str, rows: Iterable[tuple[str, object]], sentences: Sequence[str] = ()
) -> None:
    table = Table("", "value", "95 % from", "to", title=title, title_justify="left")
    for key, value in rows:
        if isinstance(value, Estimate):
            table.add_row(key, *(f"{number:.4g}" for number in (value.value, value.low, value.high)))
        else:
            table.add_row(key, f"{value:.4g}" if isinstance(value, float) else str(value), "", "")
    console.print(table)
    for sentence in sentences:
        console.print(f"  {sentence}", markup=False, highlight=False)


def _rows(part: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every value of a part, with its path of keys."""
    for key in type(part).model_fields:
        value = getattr(part, key)
        yield from _row(f"{prefix}{key}", value)


def _row(key: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Estimate):
        yield key, value
    elif isinstance(value, BaseModel):
        yield from _rows(value, f"{key}.")
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _row(f"{key}.{name}", one)
    elif isinstance(value, str | int | float) and value != "":
        yield key, value
