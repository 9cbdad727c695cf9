"""A data set of `eeectl dataset build`, or another Frictionless package of Parquet tables, as frames."""

from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.json_text import parse_object

_DESCRIPTION: Final = "datapackage.json"
_REMEDY: Final = "build it with eeectl dataset build"
_FORMAT: Final = "parquet"


class DataSetFrames:
    """A data set's folder. Each table is read when it is asked for.

    Examples
    --------
    >>> data = open_data_set("data-set")
    >>> data.tables
    ('power', 'points', 'truths', 'booksim2', 'links')

    """

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.folder = folder
        self.about = about
        """`datapackage.json`: licence, provenance, tables with their columns."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables."""
        return tuple(str(one["name"]) for one in self.about["resources"])

    def table(self, name: str) -> pl.DataFrame:
        """All rows of a table; KeyError names the tables, LabError if its file cannot be read.

        Examples
        --------
        >>> open_data_set("data-set").table("power").columns[:3]
        ['source', 'switch', 'speed_mbps']

        """
        path = self.folder / Path(str(self._resource(name)["path"])).name
        try:
            return pl.read_parquet(path, glob=False)
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise LabError(f"{path} cannot be read: {_REMEDY}.") from error

    def columns_of(self, name: str) -> pl.DataFrame:
        """Name, unit and meaning of every column of a table; the unit is empty for text.

        Examples
        --------
        >>> open_data_set("data-set").columns_of("power").filter(column="port_watt").row(0)
        ('port_watt', 'W', 'power of the port; empty without watts')

        """
        fields = self._resource(name)["schema"]["fields"]
        rows = [(str(one["name"]), str(one.get("unit", "")), str(one.get("description", ""))) for one in fields]
        return pl.DataFrame(rows, schema=["column", "unit", "means"], orient="row")

    def _resource(self, name: str) -> dict[str, Any]:
        for one in self.about["resources"]:
            if one["name"] == name:
                return dict(one)
        raise KeyError(f"no table '{name}': name one of {', '.join(self.tables)}")

    def __repr__(self) -> str:
        return f"DataSetFrames({str(self.folder)!r})"


def open_data_set(folder: str | Path) -> DataSetFrames:
    """A data set by its folder; LabError if it is none.

    Examples
    --------
    >>> open_data_set("data-set")
    DataSetFrames('data-set')

    """
    path = Path(folder) / _DESCRIPTION
    try:
        about = parse_object(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LabError(f"{folder} is no data set (it has no readable {_DESCRIPTION}): {_REMEDY}.") from error
    resources = about.get("resources")
    whole = isinstance(resources, list) and all(
        isinstance(one, dict) and {"name", "path", "schema"} <= one.keys() and one.get("format") == _FORMAT
        for one in resources
    )
    if not whole:
        raise LabError(f"{path} describes no tables in Parquet: {_REMEDY}.")
    return DataSetFrames(Path(folder), about)
