"""Units of a frame's columns. A column's name ends in its unit, here and in every file of a run."""

from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl

UNITS: Final[Mapping[str, str]] = {
    "ns": "ns",
    "us": "us",
    "ms": "ms",
    "s": "s",
    "watt": "W",
    "joule": "J",
    "picojoule": "pJ",
    "nanojoule": "nJ",
    "byte": "byte",
    "mbps": "Mb/s",
    "percent": "%",
    "fraction": "1",
    "count": "1",
    "frame": "1",
    "event": "1",
}
"""The unit by the last word of a column's or a parameter's name."""


def unit_of(name: str) -> str:
    """The unit that a name ends in; empty for one without a unit.

    Examples
    --------
    >>> unit_of("power_watt"), unit_of("alpha_per_us"), unit_of("switch")
    ('W', '1/us', '')

    """
    head, _, last = name.rpartition("_")
    unit = UNITS.get(last, "")
    if head.endswith("_per") and unit:
        return f"1/{unit}"
    return unit if head else ""


def units(frame: pl.DataFrame | Iterable[str]) -> dict[str, str]:
    """The unit of each column of a frame that has one.

    Examples
    --------
    >>> units(["port", "in_byte", "rate_mbps"])
    {'in_byte': 'byte', 'rate_mbps': 'Mb/s'}

    """
    names = frame.columns if isinstance(frame, pl.DataFrame) else frame
    return {name: unit for name in names if (unit := unit_of(name))}


def utc(column: str) -> pl.Expr:
    """A column of nanoseconds since 1970 as a time, UTC."""
    return pl.from_epoch(pl.col(column), time_unit="ns").dt.replace_time_zone("UTC")
