"""How something is to be applied: the options that every command shares which changes a lab."""

import re
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from controller.applying.apply import Options
from lab.errors import LabError

_UNITS_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_Flag = Parameter(negative="")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions:
    """How a plan is applied.

    Parameters
    ----------
    yes
        Do not ask.
    confirm_in
        Take everything back unless `eeectl confirm` comes within this time after it is verified, such as 60s or 5m; a
        process of its own sees to it, even if this one or the terminal dies.
    save
        Make it the startup configuration, once it is verified (and confirmed).
    no_host_check
        Do not let the hosts look for each other at the end.
    probe
        Two hosts as FROM:TO; echoes go from one to the other meanwhile, and what was lost is told.
    json
        Print JSON, with the times of each change; needs --yes.

    """

    yes: Annotated[bool, _Flag] = False
    confirm_in: str | None = None
    save: Annotated[bool, _Flag] = False
    no_host_check: Annotated[bool, _Flag] = False
    probe: str | None = None
    json: Annotated[bool, _Flag] = False

    def options(self, command: str) -> Options:
        """The same for `controller.applying.apply`; LabError if the time is none."""
        return Options(command, seconds_of(self.confirm_in), self.save, not self.no_host_check)


def seconds_of(text: str | None) -> float | None:
    """A time such as 90, 60s, 5m or 1h in seconds; LabError if it is none."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text)
    if not found or found[2] not in _UNITS_S or float(found[1]) <= 0:
        raise LabError(f"'{text}' is no time: write seconds, or a number with s, m or h, such as 60s.")
    return float(found[1]) * _UNITS_S[found[2]]
