"""Result files of before links that turn on were counted apart: these counted as idle."""

import polars as pl


def with_turning_on(frame: pl.DataFrame) -> pl.DataFrame:
    """Points or replays; the shares of links that turn on, empty where a file has none, are then 0.

    >>> old = pl.DataFrame({"idle_share": [1.0], "turning_on_share": [None]})
    >>> with_turning_on(old).row(0)
    (1.0, 0.0)
    """
    return frame.with_columns(pl.col("^.*turning_on_share$").cast(pl.Float64).fill_null(0.0))
