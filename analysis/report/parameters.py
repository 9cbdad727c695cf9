"""Every parameter of the calibration, with its interval."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pydantic import BaseModel

from eee_testbed.analysis.calibration import Calibration, Estimate
from eee_testbed.analysis.calibration_names import NAMES, whose
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.measure import fit_command
from eee_testbed.analysis.report.report_data import ReportData
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.table import Cell, Column, Table

_LEFT_OUT: Final = frozenset({"which"})
"""Said of the whole policy instead."""


def parameters(data: ReportData) -> Section | Missing:
    """Tables of links, power and run time."""
    title = "Fitted parameters"
    calibration = data.calibration
    if calibration is None:
        return Missing(title, "no calibration was given.", fit_command(data))
    tables = [_table("links", "EEE policy of links", _links(data, calibration))]
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
    unknown = [
        f"{name}: {sentence}" for name, switch in calibration.power.switches.items() for sentence in switch.unknown
    ]
    unknown += _by_sentence({name: node.unknown for name, node in calibration.power.nodes.items()})
    doubts = [
        f"{name}: {sentence}" for name, switch in calibration.power.switches.items() for sentence in switch.warnings
    ]
    doubts += [f"{name}: {sentence}" for name, node in calibration.power.nodes.items() for sentence in node.warnings]
    links = calibration.links.items()
    symptoms = [f"{name}: {sentence}" for name, link in links for sentence in (*link.symptoms, *link.unknown)]
    text = f"Values with 95 % intervals, fitted {calibration.made} on lab {calibration.lab}."
    kept = tuple(table for table in tables if table.rows)
    if any(switch.bit_picojoule is not None for switch in calibration.power.switches.values()):
        text += (
            " Energies of a bit and a packet are per one that a switch forwards; NetPowerBench's are half of these, as"
        )
        text += " it counts both interfaces that a bit passes."
    sentences = (*warnings, *unknown, *doubts, *symptoms)
    return Section("parameters", title, text, tables=kept, warnings=sentences, watts="tables")


def _links(data: ReportData, calibration: Calibration) -> Iterator[tuple[str, BaseModel]]:
    """Each policy, by the path that was probed and whose it is."""
    hosts = sorted({host for run in data.runs for host in run.hosts})
    for name, link in calibration.links.items():
        of = whose(link, hosts)
        yield f"{name} ({of})" if of else name, link


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
        if key not in _LEFT_OUT and not (key == "card_count" and getattr(part, "card_wake_us", None) is None):
            yield from _row(owner, key, getattr(part, key), prefix)


def _row(owner: str, key: str, value: object, prefix: str) -> Iterator[tuple[Cell, ...]]:
    text, unit = _named(key)
    if isinstance(value, Estimate):
        yield owner, f"{prefix}{text}", unit, _in_unit(value.interval, key)
    elif isinstance(value, BaseModel):
        yield from _rows(owner, value, f"{prefix}{text}: ")
    elif isinstance(value, dict):
        for inner, part in value.items():
            name = f"{text} {inner:,} {unit}" if isinstance(inner, int) else f"{text} {inner}"
            if isinstance(part, BaseModel):
                yield from _rows(owner, part, f"{prefix}{name.strip()}: ")
            else:
                for below, deepest in part.items():
                    yield from _rows(owner, deepest, f"{prefix}{name} at {below:,} Mb/s: ")
    elif isinstance(value, bool):
        yield owner, f"{prefix}{text}", "", "yes" if value else "no"
    elif isinstance(value, int | float):
        share = 100 if key.endswith("_fraction") else 1
        yield owner, f"{prefix}{text}", unit, share * value
    elif key == "kind":
        yield owner, f"{prefix}{text}", "", str(value)


def _in_unit(interval: Interval, key: str) -> Interval:
    """A fraction in percent, as its name's unit is."""
    scale = 100 if key.endswith("_fraction") else 1
    return Interval(scale * interval.value, scale * interval.low, scale * interval.high)


def _named(key: str) -> tuple[str, str]:
    """Words and unit of a key; a remark in brackets is none."""
    text, unit = NAMES.get(key, (key.replace("_", " "), ""))
    return text, "" if unit.startswith("(") else unit
