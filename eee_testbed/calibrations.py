"""A calibration's parameters as frames, with their units and 95 % intervals."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import polars as pl
from pydantic import BaseModel

from eee_testbed.analysis.calibration import Calibration, Estimate, load_calibration
from eee_testbed.frames import unit_of

_SCHEMA: Final = {
    "of": pl.String,
    "parameter": pl.String,
    "unit": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


class CalibrationFrames:
    """A file of `eeectl fit`. Frames have a row for each number; `low` and `high` are null for what has no interval.

    Examples
    --------
    >>> calibration = open_calibration("calibration.yaml")
    >>> calibration.links().columns
    ['of', 'parameter', 'unit', 'value', 'low', 'high']

    """

    def __init__(self, content: Calibration) -> None:
        self.content = content

    def links(self) -> pl.DataFrame:
        """Parameters of EEE policies; `of` is the path.

        Examples
        --------
        >>> open_calibration("calibration.yaml").links().filter(parameter="wake_us").row(0)[2:4]
        ('us', 60.0)

        """
        return _frame(self.content.links.items())

    def power(self) -> pl.DataFrame:
        """Power of switches, nodes and Andujar's model; a port's parameters are named with its speed in Mb/s.

        Examples
        --------
        >>> power = open_calibration("calibration.yaml").power()
        >>> power.filter(of="sw1", parameter="port_by_mbps.1000.link_watt").select("value", "unit").row(0)
        (0.6, 'W')

        """
        parts: list[tuple[str, BaseModel]] = [*self.content.power.switches.items(), *self.content.power.nodes.items()]
        if self.content.power.andujar is not None:
            parts.append(("Andujar", self.content.power.andujar))
        return _frame(parts)

    def run_time(self) -> pl.DataFrame:
        """Parameters of the models of run time; `of` is the program and its placement.

        Examples
        --------
        >>> open_calibration("calibration.yaml").run_time().filter(parameter="miwa.threshold_us")["of"].to_list()
        ['alltoall 4x1']

        """
        return _frame(self.content.run_time.items())


def open_calibration(file: str | Path) -> CalibrationFrames:
    """A calibration's file; LabError if it cannot be read.

    Examples
    --------
    >>> open_calibration("calibration.yaml").content.lab
    'virtual'

    """
    return CalibrationFrames(load_calibration(Path(file)))


def _frame(parts: Iterable[tuple[str, BaseModel]]) -> pl.DataFrame:
    rows = [(name, *row) for name, part in parts for row in _rows(part, "")]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


_Row = tuple[str, str, float, float | None, float | None]


def _rows(part: BaseModel, prefix: str) -> Iterator[_Row]:
    """Every number of a part and of its own parts, by its path of keys."""
    for key in type(part).model_fields:
        yield from _row(f"{prefix}{key}", getattr(part, key))


def _row(path: str, value: object) -> Iterator[_Row]:
    if isinstance(value, Estimate):
        yield path, unit_of(path.rpartition(".")[2]), value.value, value.low, value.high
    elif isinstance(value, BaseModel):
        yield from _rows(value, f"{path}.")
    elif isinstance(value, Mapping):
        for inner, one in value.items():
            yield from _row(f"{path}.{inner}", one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, unit_of(path.rpartition(".")[2]), float(value), None, None
