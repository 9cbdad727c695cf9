"""Result files of before something was counted."""

import polars as pl


def with_turning_on(frame: pl.DataFrame) -> pl.DataFrame:
    """Points or replays of before links that turn on were counted apart: these counted as idle, and their share is 0.

    >>> old = pl.DataFrame({"idle_share": [1.0], "turning_on_share": [None]})
    >>> with_turning_on(old).row(0)
    (1.0, 0.0)
    """
    return frame.with_columns(pl.col("^.*turning_on_share$").cast(pl.Float64).fill_null(0.0))


def with_packets(frame: pl.DataFrame) -> pl.DataFrame:
    """Replays of before packets were counted have none, and so no latency.

    >>> old = pl.DataFrame({"packets": [None], "packet_cycles": [None], "control_packets": [None]})
    >>> with_packets(old).row(0)
    (0, 0, 0)
    """
    return frame.with_columns(pl.col("packets", "packet_cycles", "control_packets").cast(pl.Int64).fill_null(0))
