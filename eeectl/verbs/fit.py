"""`eeectl fit`: from runs to `calibration.yaml`, every parameter with its 95 % interval."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from cyclopts import App, Parameter
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from analysis.calibration import Calibration, CalibrationError, Estimate, load_calibration, save_calibration
from analysis.interval import TooLittle
from analysis.links.fit_links import fit_links
from analysis.power.fit_power import fit_power
from analysis.programs.fit_run_time import Case, cases_of, fit_run_time
from analysis.programs.profile import ProfileError
from analysis.run_lab import run_folder
from lab.errors import LabError
from record.samples import RunSamples
from record.trials import read_trials

fit_app = App(name="fit")

Part = Literal["links", "power", "run-time"]
_PARTS: Final[tuple[Part, ...]] = get_args(Part)


@dataclass
class _Fitting:
    """What was found so far, and what could not be."""

    known: Calibration
    asked: bool
    troubles: list[str] = field(default_factory=list)

    def take(self, **parts: Any) -> None:
        """Add what was found."""
        found = Calibration.begin(self.known.lab, self.known.lab_digest, (), **parts)
        self.known = self.known.merged(found)

    def trouble(self, sentence: str) -> None:
        """Note what could not be fitted."""
        self.troubles.append(sentence)


@fit_app.default
def fit(
    *runs: str,
    what: Annotated[tuple[Part, ...], Parameter(negative="")] = (),
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    known: Annotated[Path | None, Parameter(name="--with")] = None,
    sleepers: int = 0,
    accuracy_percent: float = 0.0,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Fit links' EEE policies, power of switches and nodes, and run time under EEE to runs; write a calibration.

    Parameters
    ----------
    runs
        Folders of runs, or names below runs/, all of one lab. What a run measured is what it is used for.
    what
        links, power or run-time, more than one if given again; left out: whatever the runs measured.
    output
        The file to write, such as calibration.yaml; left out: only show what was found.
    known
        A calibration to add to; what is found anew replaces what it has.
    sleepers
        How many transmitters of a probed path sleep; left out: the switches' ports on it, as the inventory says.
    accuracy_percent
        The class of the power meters, such as 1, which widens the intervals of watts.
    as_json
        Print JSON.

    """
    if not runs:
        raise LabError("name a run to fit, as in `eeectl fit runs/20260101T120000Z-demo -o calibration.yaml`.")
    if not 0 <= accuracy_percent < 100 or sleepers < 0:
        raise LabError("--accuracy-percent is from 0 to below 100, and --sleepers is not negative.")
    samples = [RunSamples(run_folder(name)) for name in runs]
    fitting = _Fitting(_begin(samples, known), asked=bool(what))
    wanted = what or _PARTS
    if "links" in wanted:
        _links(fitting, samples, sleepers)
    if "power" in wanted:
        _power(fitting, samples, accuracy_percent / 100)
    if "run-time" in wanted:
        _run_time(fitting, samples)
    found = fitting.known
    empty = not (found.links or found.power.switches or found.power.nodes or found.run_time)
    if empty:
        raise TooLittle(" ".join(fitting.troubles) or "these runs measured nothing that can be fitted.")
    if output is not None:
        save_calibration(output, found)
    if as_json:
        plain = json.loads(found.model_dump_json(exclude_none=True))
        print(json.dumps({"calibration": plain, "troubles": fitting.troubles}, indent=1))
    else:
        _print(found, fitting.troubles, output)
    return 1 if fitting.asked and fitting.troubles else 0


def _begin(samples: Sequence[RunSamples], known: Path | None) -> Calibration:
    """An empty calibration of the runs' lab, or the one to add to; CalibrationError if they are of several labs."""
    begun: Calibration | None = None if known is None else load_calibration(known)
    for one in samples:
        facts = one.facts
        lab, digest = str(facts.get("lab", "")), str(facts.get("lab_digest", ""))
        fresh = Calibration.begin(lab, digest, [one.folder.name])
        try:
            begun = fresh if begun is None else begun.merged(fresh)
        except CalibrationError as error:
            raise CalibrationError(f"{one.folder.name}: {error}") from error
    if begun is None:
        raise AssertionError("there is a run")
    return begun


def _links(fitting: _Fitting, samples: Sequence[RunSamples], sleepers: int) -> None:
    for one in _measuring(fitting, samples, ("probe",), "links"):
        try:
            fitting.take(links=fit_links(one, sleepers))
        except TooLittle as error:
            fitting.trouble(f"{one.folder.name}: {error}")


def _power(fitting: _Fitting, samples: Sequence[RunSamples], accuracy_share: float) -> None:
    for one in _measuring(fitting, samples, ("power", "idle"), "power"):
        try:
            power, troubles = fit_power(one, accuracy_share)
        except TooLittle as error:
            fitting.trouble(f"{one.folder.name}: {error}")
            continue
        fitting.troubles += troubles
        fitting.take(power=power)


def _run_time(fitting: _Fitting, samples: Sequence[RunSamples]) -> None:
    groups: dict[str, list[Case]] = {}
    for one in _measuring(fitting, samples, ("program",), "run-time"):
        try:
            for placement, cases in cases_of(one.folder, fitting.known).items():
                groups.setdefault(placement, []).extend(cases)
        except (ProfileError, TooLittle) as error:
            fitting.trouble(f"{one.folder.name}: {error}")
    for placement, group in groups.items():
        try:
            found, troubles = fit_run_time(placement, group, fitting.known)
        except TooLittle as error:
            fitting.trouble(str(error))
            continue
        fitting.troubles += troubles
        fitting.take(run_time={placement: found})


def _measuring(
    fitting: _Fitting, samples: Sequence[RunSamples], kinds: tuple[str, ...], part: Part
) -> Iterator[RunSamples]:
    """Runs with trials of some kinds; that there is none is a trouble only where the part was asked for."""
    any_there = False
    for one in samples:
        if any(trial.what in kinds for trial in read_trials(one.folder)):
            any_there = True
            yield one
    if not any_there and fitting.asked:
        fitting.trouble(f"none of the runs has trials of the kind {' or '.join(kinds)}, which {part} is fitted to.")


def _print(found: Calibration, troubles: Sequence[str], output: Path | None) -> None:
    console = Console()
    for name, link in found.links.items():
        _print_part(console, f"links: {name}", _rows(link), (*link.unknown, *link.symptoms))
    for name, switch in found.power.switches.items():
        _print_part(console, f"switches: {name}", _rows(switch), switch.unknown)
    nodes = [row for name, node in found.power.nodes.items() for row in _rows(node, f"{name}.")]
    if nodes:
        _print_part(console, "nodes", nodes)
    if found.power.andujar is not None:
        _print_part(console, "Andujar's model", _rows(found.power.andujar))
    for name, program in found.run_time.items():
        _print_part(console, f"run time: {name}", _rows(program))
    for sentence in troubles:
        console.print(f"not fitted: {sentence}", style="yellow", markup=False, highlight=False)
    if output is not None:
        console.print(f"written to {output}", markup=False, highlight=False)


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
    """Every number of a part, with the keys that lead to it."""
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
