"""`eeectl lab replay`: hold the readers against recordings of devices."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from eee_testbed.controller.checking.recorded.folder import judge_folder
from eee_testbed.controller.checking.recorded.verdict import Outcome, Verdict
from eee_testbed.eeectl import lab_text as show
from eee_testbed.eeectl.exit_status import DONE, REFUSED
from eee_testbed.measuring.collecting.recorded_counters import judge_counters

_OUTCOMES: tuple[Outcome, ...] = ("right", "refused", "misread")
"""Of readings that are compared with something."""


def replay(
    folder: Path,
    /,
    *,
    markdown: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Test the parsers of switches and strips on recordings of devices; exit status 1 if anything was misread.

    Recordings are snmprec files, outputs of `snmpwalk`, and shows as in ntc-templates' tests: PLATFORM/COMMAND/
    NAME.raw, with the values that another parser read in NAME.yml. Without NAME.yml the values read here are shown,
    for you to compare. Exit status 1, too, if nothing could be read. Nothing is sent anywhere.

    Parameters
    ----------
    folder
        Folder of the recordings.
    markdown
        Print the counts as a Markdown table.
    as_json
        Print every verdict as JSON.

    """
    verdicts = tuple(judge_folder(folder, (judge_counters,)))
    if as_json:
        print(json.dumps([asdict(verdict) for verdict in verdicts], indent=1))
    elif markdown:
        print(_markdown(verdicts))
    else:
        _print(verdicts)
    misread = any(verdict.outcome == "misread" for verdict in verdicts)
    return REFUSED if misread or all(verdict.outcome == "unread" for verdict in verdicts) else DONE


def _counts(verdicts: Sequence[Verdict]) -> dict[tuple[str, str], Counter[str]]:
    """How often each reading of each device had each outcome."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for verdict in verdicts:
        if verdict.outcome not in _OUTCOMES:
            continue
        found.setdefault((verdict.device, verdict.reading), Counter())[verdict.outcome] += 1
    return dict(sorted(found.items()))


def _markdown(verdicts: Sequence[Verdict]) -> str:
    head = ["| device | reading | right | refused | misread |", "| --- | --- | --- | --- | --- |"]
    rows = [
        f"| {device.replace('|', ' ')} | {reading} | {' | '.join(str(found[outcome]) for outcome in _OUTCOMES)} |"
        for (device, reading), found in _counts(verdicts).items()
    ]
    total = Counter(verdict.outcome for verdict in verdicts)
    return "\n".join([*head, *rows, f"| all | | {' | '.join(str(total[outcome]) for outcome in _OUTCOMES)} |"])


def _print(verdicts: Sequence[Verdict]) -> None:
    table = Table("DEVICE", "READING", *(outcome.upper() for outcome in _OUTCOMES), box=None, pad_edge=False)
    for (device, reading), found in _counts(verdicts).items():
        table.add_row(Text(device), reading, *(str(found[outcome]) for outcome in _OUTCOMES))
    out = show.console()
    if table.row_count:
        out.print(table)
    for verdict in verdicts:
        if verdict.outcome not in {"right", "unread"}:
            where = f"{verdict.recording}: {verdict.reading}: {verdict.outcome}: {verdict.said}"
            out.print(where, markup=False, soft_wrap=True)
    unread: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.outcome == "unread":
            unread.setdefault(f"{verdict.device}: {verdict.said}", []).append(verdict.recording)
    for said, recordings in unread.items():
        others = f" and {len(recordings) - 1} others" if len(recordings) > 1 else ""
        out.print(f"{recordings[0]}{others}: not read: {said}.", markup=False, soft_wrap=True)
    total = Counter(verdict.outcome for verdict in verdicts)
    counts = [f"{total[outcome]} {outcome}" for outcome in _OUTCOMES]
    counts += [f"{total['read']} read with nothing to compare with"] if total["read"] else []
    known = {verdict.recording for verdict in verdicts if verdict.outcome != "unread"}
    print(f"{len(known)} recordings of known devices: {', '.join(counts)}; {total['unread']} not read.")
