"""The clock of a switch, which is never set: it starts on 1 January 2000 at power-on (recordings of a 3548)."""

from __future__ import annotations

import datetime as dt

_POWER_ON = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)


def stamp(uptime_s: float) -> str:
    """Return a time as at the beginning of log lines: `01-Jan-2000 00:13:41`."""
    return f"{_POWER_ON + dt.timedelta(seconds=int(uptime_s)):%d-%b-%Y %H:%M:%S}"


def days(uptime_s: float) -> str:
    """Return an uptime as `show system` prints it: `70,03:16:47` (recording)."""
    minutes, seconds = divmod(int(uptime_s), 60)
    hours, minutes = divmod(minutes, 60)
    whole_days, hours = divmod(hours, 24)
    return f"{whole_days:02},{hours:02}:{minutes:02}:{seconds:02}"
