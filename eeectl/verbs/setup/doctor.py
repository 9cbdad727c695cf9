"""`eeectl doctor`: what is missing, on this machine and in a lab, with the command that mends each."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from cyclopts import App, Parameter

from eee_testbed.eeectl.doctor.finding import Finding
from eee_testbed.eeectl.doctor.lab import lab_findings
from eee_testbed.eeectl.doctor.machine import look, machine_findings
from eee_testbed.eeectl.exit_status import DONE, REFUSED
from eee_testbed.eeectl.lab_name import NamedLab
from eee_testbed.eeectl.lab_text import text_width

doctor_app = App(name="doctor")


@doctor_app.default
def doctor(lab: NamedLab = "", *, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> int:
    """Check this machine and, with LAB, a lab; print a command that fixes each problem.

    Nothing is changed. For a lab, its files, secrets, devices and the nodes' tools are checked. Exit status 1 if
    anything is missing that is not optional.

    Parameters
    ----------
    lab
        Name of a lab, or its folder. Default: only this machine.
    as_json
        Print JSON.

    """
    found = {"this machine": list(machine_findings(look()))}
    if lab:
        found[f"lab {lab}"] = list(lab_findings(lab))
    if as_json:
        print(json.dumps({place: [asdict(one) for one in findings] for place, findings in found.items()}, indent=1))
    else:
        print("\n".join(line for place, findings in found.items() for line in _lines(place, findings, text_width())))
    missing = any(one.severity == "missing" for findings in found.values() for one in findings)
    return REFUSED if missing else DONE


def _lines(place: str, findings: Sequence[Finding], width: int) -> list[str]:
    """A heading, and for each finding what is missing and, on a line of its own that can be copied, the command."""
    if not findings:
        return [f"{place}: nothing is missing."]
    missing = sum(one.severity == "missing" for one in findings)
    lines = [f"{place}: {missing} missing, {len(findings) - missing} optional"]
    for one in findings:
        mark = "✖" if one.severity == "missing" else "·"
        lines += textwrap.wrap(
            f"{mark} {one.what}: {one.sentence}", width, subsequent_indent="    ", initial_indent="  "
        )
        lines.append(f"    {one.command}")
    return lines
