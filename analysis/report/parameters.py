"""Every parameter of the calibration, with its interval."""

from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel

from analysis.calibration import Calibration, Estimate
from analysis.report.measure import fit_command
from analysis.report.report_data import ReportData
from analysis.report.section import Missing, Section
from analysis.report.table import Cell, Column, Table

_UNITS = {
    "us": "us",
    "watt": "W",
    "fraction": "1",
    "picojoule": "pJ",
    "nanojoule": "nJ",
    "count": "1",
    "byte": "byte",
    "percent": "%",
}


def parameters(data: ReportData) -> Section | Missing:
    """Tables of links, power and run time."""
    title = "Fitted parameters"
    calibration = data.calibration
    if calibration is None:
        return Missing(title, "no calibration was given.", fit_command(data))
    tables = [_table("links", "EEE policy of links", calibration.links.items())]
    tables.append(_table("power", "Power", _power(calibration)))
    tables.append(_table("run-time", "Run time under EEE", calibration.run_time.items()))
    runs = {run.name for run in data.runs}
    warnings = []
    others = [name for name in calibration.runs if name not in runs]
    if others:
        warnings.append(f"The calibration was also fitted to runs that are not in this report: {', '.join(others)}.")
    labs = {str(run.facts.get("lab", "")) for run in data.runs}
    if calibration.lab not in labs:
        warnings.append(f"The calibration is of lab {calibration.lab}, the runs are of another lab.")
    unknown = [f"{name}: {one}" for name, switch in calibration.power.switches.items() for one in switch.unknown]
    unknown += _by_sentence({name: node.unknown for name, node in calibration.power.nodes.items()})
    doubts = [f"{name}: {one}" for name, switch in calibration.power.switches.items() for one in switch.warnings]
    doubts += [f"{name}: {one}" for name, node in calibration.power.nodes.items() for one in node.warnings]
    links = calibration.links.items()
    symptoms = [f"{name}: {one}" for name, link in links for one in (*link.symptoms, *link.unknown)]
    text = f"Values with 95 % intervals, fitted {calibration.made} on lab {calibration.lab}."
    kept = tuple(table for table in tables if table.rows)
    if any(switch.bit_picojoule is not None for switch in calibration.power.switches.values()):
        text += (
            " Energies of a bit and a packet are per one that a switch forwards; NetPowerBench's are half of these, as"
        )
        text += " it counts both interfaces that a bit passes."
    sentences = (*warnings, *unknown, *doubts, *symptoms)
    return Section("parameters", title, text, tables=kept, warnings=sentences, watts="tables")


def _by_sentence(of: Mapping[str, Iterable[str]]) -> list[str]:
    """Each sentence once, with all that it is about."""
    names: dict[str, list[str]] = {}
    for name, sentences in of.items():
        for sentence in sentences:
            names.setdefault(sentence, []).append(name)
    return [f"{', '.join(about)}: {sentence}" for sentence, about in names.items()]


def _power(calibration: Calibration) -> Iterator[tuple[str, BaseModel]]:
    yield from calibration.power.switches.items()
    yield from calibration.power.nodes.items()
    if calibration.power.andujar is not None:
        yield "Andujar", calibration.power.andujar


def _table(name: str, title: str, parts: Iterable[tuple[str, BaseModel]]) -> Table:
    rows = [row for owner, part in parts for row in _rows(owner, part, "")]
    columns = (Column("of"), Column("parameter"), Column("unit"), Column("value (95 % interval)"))
    return Table(f"parameters-{name}", title, columns, tuple(rows))


def _rows(owner: str, part: BaseModel, prefix: str) -> Iterator[tuple[Cell, ...]]:
    """Rows of a part and of its own parts; text, lists and None are skipped."""
    for key in type(part).model_fields:
        yield from _row(owner, key, getattr(part, key), prefix)


def _row(owner: str, key: str, value: object, prefix: str) -> Iterator[tuple[Cell, ...]]:
    text, unit = _named(key)
    if isinstance(value, Estimate):
        yield owner, f"{prefix}{text}", unit, value.interval
    elif isinstance(value, BaseModel):
        yield from _rows(owner, value, f"{prefix}{text}, ")
    elif isinstance(value, dict):
        for inner, one in value.items():
            yield from _row(owner, f"{key} {inner}", one, prefix)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield owner, f"{prefix}{text}", unit, float(value) if isinstance(value, float) else value
    elif key == "kind":
        yield owner, f"{prefix}{text}", "", str(value)


def _named(key: str) -> tuple[str, str]:
    """Words and unit of a key whose last word is its unit."""
    if key == "alpha_per_us":
        return "alpha", "1/us"
    head, _, last = key.rpartition("_")
    if last in _UNITS and head:
        return head.replace("_", " "), _UNITS[last]
    return key.replace("_", " ").replace("port by mbps", "port at Mb/s").replace("port by kind", "port with"), ""
