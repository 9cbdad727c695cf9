"""`eeectl status`: who works on a lab, what was done last, what is pending. It loads drivers only to ask switches."""

import json
from typing import Annotated

from cyclopts import App, Parameter

from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.model.state import State
from eee_testbed.eeectl.exit_status import DONE, PENDING
from eee_testbed.eeectl.lab_name import LabName, known_lab, require_up
from eee_testbed.eeectl.lab_status import is_pending, print_status, report_of

Json = Annotated[bool, Parameter(name="--json", negative="")]

status_app = App(name="status")


@status_app.default
def status(
    lab: LabName = "", *, offline: Annotated[bool, Parameter(negative="")] = False, as_json: Json = False
) -> int:
    """Show who works on a lab, its last change, and whether the switches still have the settings of that change.

    Exit status 3 means that something is pending: an apply to confirm or to recover, a run that was killed, port
    descriptions to restore, or settings that changed since.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    offline
        Do not ask the switches.
    as_json
        Print JSON.

    """
    known = known_lab(lab)

    def observe() -> State:
        from eee_testbed.controller.applying.observe import observe_lab  # drivers take long to load

        require_up(known)
        return observe_lab(known)

    report = report_of(known, StateFolder.of(known), None if offline else observe)
    if as_json:
        print(json.dumps(report, indent=1))
    else:
        print_status(report)
    return PENDING if is_pending(report) else DONE
