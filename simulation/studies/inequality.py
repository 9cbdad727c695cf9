"""Link by link: hybrid mode saves at most half of its second hold a gap less than deep sleep.

`saving(deep) - saving(hybrid) <= 0.5 * hold * gaps` of active power and time. Within a point in hybrid mode it is
exact: a link is in fast wake for at most `deep_after` a gap, and deep sleep would have saved 0.5 more there. Between
two points it holds where both have the same gaps; where waking changes what comes when, gaps and savings may differ.
"""

from dataclasses import dataclass

import polars as pl

from eee_testbed.simulation.studies.arithmetic import DEEP_SAVING, FAST_SAVING

_STATES = ("transmit", "idle", "sleep", "quiet", "refresh", "fast", "wake")
_KEY = ("from_router", "port")
_ROUNDING = 1e-9
"""Of a share."""


@dataclass(frozen=True, slots=True)
class LinkCheck:
    """Links that were checked, those beyond the inequality, and the largest excess as a share of active power."""

    links: int
    beyond: int
    worst: float


def savings(links: pl.DataFrame) -> pl.Series:
    """Power saved by each link, as a share of active (Georgakoudis et al. 2019, IV.B)."""
    saved = DEEP_SAVING * pl.col("quiet_cycles") + FAST_SAVING * pl.col("fast_cycles")
    return links.select((saved / _time()).alias("saving"))["saving"]


def check_within(hybrid: pl.DataFrame, deep_after: int) -> LinkCheck:
    """A point in hybrid mode: cycles in fast wake are at most `deep_after` a gap, on every link."""
    excess = hybrid.select(
        ((DEEP_SAVING - FAST_SAVING) * (pl.col("fast_cycles") - deep_after * pl.col("sleeps")) / _time()).alias(
            "excess"
        )
    )
    return _checked(excess["excess"])


def check_between(deep: pl.DataFrame, hybrid: pl.DataFrame, deep_after: int) -> LinkCheck:
    """A point in deep sleep and one in hybrid mode, with the same first hold: links that carried traffic in both."""
    mine = deep.select(*_KEY, (deep_after * pl.col("sleeps") / _time()).alias("held")).with_columns(savings(deep))
    theirs = hybrid.select(*_KEY).with_columns(savings(hybrid).alias("hybrid"))
    both = mine.join(theirs, on=list(_KEY), how="inner")
    half = DEEP_SAVING - FAST_SAVING
    return _checked(
        both.select((pl.col("saving") - pl.col("hybrid") - half * pl.col("held")).alias("excess"))["excess"]
    )


def _time() -> pl.Expr:
    return pl.sum_horizontal(*(f"{state}_cycles" for state in _STATES))


def _checked(excess: pl.Series) -> LinkCheck:
    beyond = int((excess > _ROUNDING).sum())
    return LinkCheck(excess.len(), beyond, float(excess.max() or 0.0) if excess.len() else 0.0)  # type: ignore[arg-type]
