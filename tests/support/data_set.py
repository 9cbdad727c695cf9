"""A small data set, for examples that read one."""

from pathlib import Path

from eee_testbed.dataset.package import write_data_set
from eee_testbed.dataset.power import Grid, power_rows
from eee_testbed.dataset.published import booksim2, link_rows
from eee_testbed.dataset.schema import BOOKSIM2, LINKS, POINTS, POWER, TRUTHS
from eee_testbed.dataset.sources import frame, points, truth_rows

_FEW = Grid((64, 1518), (300.0, 3e3, 1e5), (0.0, 1e3))


def write_small(folder: Path) -> Path:
    """It has no studies."""
    tables = {
        POWER: frame(power_rows(_FEW), POWER.types),
        POINTS: frame(points([]), POINTS.types),
        TRUTHS: frame(truth_rows(), TRUTHS.types),
        BOOKSIM2: booksim2(),
        LINKS: frame(link_rows(), LINKS.types),
    }
    write_data_set(folder, "small", tables, {"commit": "abc", "seeds": {"engine": 0}, "studies": []})
    return folder
