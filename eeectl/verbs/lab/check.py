"""`eeectl lab check`: validate the inventory, and compare it with the lab."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from eee_testbed.controller.checking.cable_proposal import Proposal, cables_csv, propose
from eee_testbed.controller.checking.lab_check import LabReport, check_lab
from eee_testbed.controller.checking.switch_check import SwitchReport
from eee_testbed.eeectl.lab_name import LabName, lab_operand, require_up
from eee_testbed.eeectl.lab_text import size_text
from eee_testbed.lab import durable
from eee_testbed.lab.counted_text import counted
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.twin.lab.lifecycle import check_files

_PIPE_COLUMNS = 200


def check(
    lab: LabName = "",
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    files_only: Annotated[bool, Parameter(negative="")] = False,
    probe: Annotated[bool, Parameter(negative="")] = False,
    write_cables: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Validate an inventory, real or virtual, reach every device in it, and compare both.

    Logs in everywhere, reads what each switch can do and how much of it is left, and compares the cables with LLDP,
    learned addresses and link states. Exit status 1 if anything disagrees.

    Parameters
    ----------
    lab
        Name of a lab or a folder.
    as_json
        Print JSON.
    files_only
        Validate the files only, those of the twin included; send nothing.
    probe
        Also try, on a port without cable and link, which settings the model really accepts, and undo them. This writes
        to the switches; without it nothing is written.
    write_cables
        Propose the lab's cables from LLDP, learned addresses and link states, without reading those of cables.csv. It
        writes the folder's cables.csv if it has none, else cables.seen.csv beside it.
    force
        With --write-cables: replace a cables.seen.csv that is there already.

    """
    if write_cables:
        if probe or files_only:
            raise LabError("--write-cables goes with neither --probe nor --files-only: leave them out.")
        return _write_cables(load_lab(find_lab(lab_operand(lab)), cabled=False), as_json=as_json, force=force)
    if force:
        raise LabError("--force belongs to --write-cables: add that, or leave it out.")
    lab_model = _validated(lab)
    if not files_only:
        require_up(lab_model)
    report = None if files_only else check_lab(lab_model, probe=probe)
    if as_json:
        print(json.dumps(_json(lab_model, report), indent=1))
    else:
        outlets = f"{counted(len(lab_model.outlets), 'outlet')} in use"
        print_text(f"{lab_model.folder}: {size_text(lab_model)}, {outlets}; no mistake found.")
        if report is not None:
            _print(report)
    return 1 if report is not None and report.problems else 0


def _write_cables(lab: Lab, *, as_json: bool, force: bool) -> int:
    """See what is plugged in where, and write it; 1 if a device did not answer as the inventory says."""
    require_up(lab)
    folder = Path(lab.folder)
    file = folder / ("cables.seen.csv" if (folder / "cables.csv").exists() else "cables.csv")
    if file.exists() and not force:
        raise LabError(f"{file} exists already: look at it, then remove it or add --force.")
    report = check_lab(lab)
    sights = {name: switch.sight for name, switch in report.switches.items() if switch.sight is not None}
    proposal = propose(lab, sights)
    _write(file, cables_csv(lab, proposal))
    if as_json:
        print(json.dumps(_proposal_json(lab, file, proposal, report), indent=1))
    else:
        for problem in report.problems:
            print(problem)
        for remark in proposal.remarks:
            print(f"? {remark.where} {remark.sentence}.")
        print(f"{file}: {len(proposal.cables)} cables were seen, {len(proposal.remarks)} lines have a question mark.")
    return 1 if report.problems else 0


def _write(file: Path, text: str) -> None:
    try:
        durable.replace(file, text)
    except OSError as error:
        raise LabError(f"{file} cannot be written ({error.strerror}): free the place, or the folder.") from error


def _proposal_json(lab: Lab, file: Path, proposal: Proposal, report: LabReport) -> dict[str, Any]:
    return {
        "lab": lab.name,
        "file": str(file),
        "cables": [
            {"a": str(cable.a), "b": str(cable.b), "rate_mbps": cable.rate_mbps, "seen_by": cable.source}
            for cable in proposal.cables
        ],
        "remarks": [asdict(remark) for remark in proposal.remarks],
        "problems": list(report.problems),
    }


def _validated(name: str) -> Lab:
    """The lab, with the files of its twin if it has one; errors name every mistake."""
    folder = find_lab(lab_operand(name))
    return check_files(folder) if (folder / "twin").is_dir() else load_lab(folder)


def _json(lab: Lab, report: LabReport | None) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "lab": lab.name,
        "switches": len(lab.switches),
        "hosts": len(lab.hosts),
        "links": len(lab.links),
        "strips": len(lab.strips),
    }
    if report is None:
        return {**summary, "devices": []}
    return {
        **summary,
        "devices": [asdict(contact) for contact in report.contacts],
        "abilities": {name: _abilities_json(found) for name, found in report.switches.items() if found.abilities},
        "cables": [
            {"cable": found.link.name, "finding": found.finding, "witness": found.witness, "problem": found.sentence}
            for found in report.cables
        ],
        "unlisted": [str(end) for end in report.unlisted],
        "down": [str(end) for end in report.down],
        "problems": list(report.problems),
    }


def _abilities_json(report: SwitchReport) -> dict[str, Any]:
    abilities = report.abilities
    if abilities is None:
        return {}
    return {
        **asdict(abilities.identity),
        "multi_untagged": abilities.family.multi_untagged,
        "eee_settable": abilities.family.eee_settable,
        "hold_settable": abilities.family.hold_settable,
        "flow_control_settable": abilities.family.flow_control_settable,
        "vlans_in_use": abilities.vlan_count,
        "vlans_left": abilities.vlans_left,
        "static_entries_in_use": abilities.static_count,
        "static_entries_left": abilities.statics_left,
        "trials": [asdict(trial) for trial in report.trials],
    }


def _print(report: LabReport) -> None:
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=_PIPE_COLUMNS)
    headings = (
        "SWITCH",
        "MODEL",
        "FIRMWARE",
        "UNTAGS MANY",
        "EEE",
        "HOLD",
        "FLOW CONTROL",
        "VLANS LEFT",
        "STATICS LEFT",
    )
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for name, switch in report.switches.items():
        table.add_row(name, *_row(switch))
    print_table(console, table)
    for name, switch in report.switches.items():
        for trial in switch.trials:
            if not trial.worked:
                print_text(f"{name} does not do {trial.what}, as the probe found: {trial.said}")
    reached = sum(not contact.problem for contact in report.contacts)
    print_text(f"{reached} of {len(report.contacts)} services answer and accept the login.")
    by_witness = Counter(verdict.witness for verdict in report.cables if verdict.finding == "confirmed")
    by = ", ".join(f"{count} by {_WITNESSES[witness]}" for witness, count in by_witness.items())
    unseen = sum(verdict.finding == "unseen" for verdict in report.cables)
    print_text(
        f"{by_witness.total()} of {len(report.cables)} cables are seen where cables.csv has them"
        f"{f' ({by})' if by else ''}; nothing was seen of {unseen}."
    )
    if report.unlisted:
        print_text(f"Ports with link that cables.csv does not list: {', '.join(map(str, report.unlisted))}.")
    if report.down:
        print_text(f"Enabled ports without link: {', '.join(map(str, report.down))}.")
    for problem in report.problems:
        print_text(problem)


_WITNESSES = {"lldp": "LLDP", "address": "learned addresses", "link": "link", "": "nothing"}


def _row(report: SwitchReport) -> tuple[str, ...]:
    """Cells after the name; settings that the probe tried are marked."""
    abilities = report.abilities
    if abilities is None:
        return ("?",) * 8
    worked = {trial.what: trial.worked for trial in report.trials}

    def can(what: str) -> str:
        if what in worked:
            return "yes, tried" if worked[what] else "no, tried"
        return "yes" if getattr(abilities.family, what) else "no"

    def left(count: int | None) -> str:
        return "unknown" if count is None else str(count)

    return (
        abilities.identity.model or "?",
        abilities.identity.firmware or "?",
        can("multi_untagged"),
        can("eee_settable"),
        can("hold_settable"),
        can("flow_control_settable"),
        left(abilities.vlans_left),
        left(abilities.statics_left),
    )
