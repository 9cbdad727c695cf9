"""Rows of a data set that were measured or written elsewhere: latencies beside BookSim2's, and links of IEEE 802.3."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any, Final

import polars as pl
from eee_engine import phy_profiles

from eee_testbed.dataset.schema import BOOKSIM2
from eee_testbed.simulation.standard_links import LINKS

_BOOKSIM2: Final = Path(__file__).with_name("booksim2.csv")
_TIMES: Final = ("sleep_us", "wake_us", "fast_wake_us", "quiet_us", "refresh_us")


def booksim2() -> pl.DataFrame:
    """The table `booksim2`, as `python -m evaluation.accuracy.beside_booksim2` measured it."""
    return pl.read_csv(_BOOKSIM2, schema=BOOKSIM2.types)


def link_rows() -> Iterator[dict[str, Any]]:
    """Rows of the table `links`, by rate; a time that the standard does not give is None."""
    profiles = phy_profiles()
    for name, link in LINKS.items():
        times: dict[str, float] = dict(profiles[name]) if link.timed else {}
        yield {
            "phy": name,
            "rate_gbps": link.gbps,
            **{key: times[key] if isfinite(times.get(key, 0.0)) and times.get(key) else None for key in _TIMES},
            "source": link.source,
            "lacks": link.lacks or None,
        }
