"""The options shared by every command that changes a lab."""

import re
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from eee_testbed.controller.applying.apply import Options
from eee_testbed.lab.errors import LabError

_UNITS_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_LONGEST_S = 7 * 24 * 3600
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
        Roll the change back unless you run `eeectl confirm` within this time, such as 60s or 5m, after the
        verification. A separate process does this, even if this one or the terminal dies.
    save
        Save the startup configurations once everything is verified (and confirmed).
    no_host_check
        Do not check at the end that the hosts reach each other.
    probe
        Two hosts as FROM:TO: send echoes from one to the other during the change, and report lost ones.
    management
        In-band management as SWITCH:VLAN: the switch that this machine is connected to, and the management VLAN.
        Default: `way_in` of the inventory, else out of band.
    json
        Print JSON, with the times of each change; needs --yes.

    """

    yes: Annotated[bool, _Flag] = False
    confirm_in: str | None = None
    save: Annotated[bool, _Flag] = False
    no_host_check: Annotated[bool, _Flag] = False
    probe: str | None = None
    management: str | None = None
    json: Annotated[bool, _Flag] = False

    def options(self, command: str) -> Options:
        """The same for `controller.applying.apply`; LabError if the time is invalid."""
        confirm_s = seconds_of(self.confirm_in)
        return Options(command, confirm_s, self.save, not self.no_host_check, attended=not self.yes)


def seconds_of(text: str | None) -> float | None:
    """A time such as 90, 60s, 5m or 1h in seconds; LabError if it is invalid."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text)
    if not found or found[2] not in _UNITS_S or float(found[1]) <= 0:
        raise LabError(f"invalid time '{text}': write seconds, or a number with s, m or h, such as 60s.")
    time_s = float(found[1]) * _UNITS_S[found[2]]
    if time_s > _LONGEST_S:
        raise LabError(f"'{text}' is out of range: use at most {_LONGEST_S // 3600} h.")
    return time_s
