"""What `eeectl regulate` prints: choices with what they cost and save, as a table or as JSON."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.table import cell_text
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.regulating.choosing import byte_text
from eee_testbed.measuring.regulating.comparison import Comparison
from eee_testbed.measuring.regulating.outcome import CLOSED_LOOP, Row, metered_switches

if TYPE_CHECKING:
    from eee_testbed.analysis.predict.regulated_watts import NetworkWatts

_HEADS: Final = ("CHOICE", "OFF", "SLOWER", "EEE", "TRUNKS, W", "SLOWDOWN", "SAVING, METER", "SAVING, MODEL")


def show(
    rows: tuple[Row, ...],
    compared: Comparison,
    power: "NetworkWatts | None",
    lab: Lab,
    *,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Print rows; without a folder nothing was measured."""
    notes, traffic = notes_of(rows, compared, power, lab), compared.traffic
    if as_json:
        plain = {
            "run": None if folder is None else str(folder),
            "traffic": traffic.note,
            "busiest_channel_byte": traffic.busiest_byte,
            "pre_run_s": traffic.time_s,
            "choices": [_plain(row) for row in rows],
            "notes": notes,
        }
        print(json.dumps(plain, indent=1))
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    print(f"traffic: {traffic.note}; {byte_text(traffic.total_byte)} between hosts,")
    print(f"on the busiest channel {byte_text(traffic.busiest_byte)} with all links on")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, head in enumerate(_HEADS):
        table.add_column(head, justify="left" if not place else "right")
    for row in rows:
        levels, full = row.candidate.levels, compared.baseline
        fewer = sum(full[number].cables - level.cables for number, level in levels.items() if not level.is_off)
        slower = sum(level.rate_mbps < full[number].rate_mbps for number, level in levels.items())
        table.add_row(
            row.candidate.name,
            f"{row.links_off:.3g}" + (f" + {fewer} cables" if fewer else ""),
            str(slower),
            str(sum(level.eee and not level.is_off for level in levels.values())),
            f"{row.candidate.watt:.4g}",
            *(percent(one) for one in (row.slowdown, row.saving_metered, row.saving_modelled)),
        )
    print_table(console, table)
    for note in notes:
        console.print(note, markup=False, soft_wrap=not console.is_terminal)
    print("nothing was changed" if folder is None else f"{folder}: the lab is restored")


def percent(share: Interval | None) -> str:
    """A share with its interval, in percent: `+1.2% (+0.8% to +1.7%)`."""
    return cell_text(None) if share is None else f"{share.value:+.1%} ({share.low:+.1%} to {share.high:+.1%})"


def notes_of(rows: tuple[Row, ...], compared: Comparison, power: "NetworkWatts | None", lab: Lab) -> list[str]:
    """What has to be known beside the table, a sentence each."""
    notes = ["slowdown and saving of network power are relative to the baseline, with 95 % intervals"]
    metered = metered_switches(lab)
    if 0 < len(metered) < len(lab.switches):
        notes.append(f"savings are those of {', '.join(metered)}: the other switches have no meter")
    looped = [row for row in rows if row.candidate.how == CLOSED_LOOP]
    notes += [f"{row.candidate.name}: links off are the mean over the time of its trials" for row in looped]
    for candidate in compared.candidates:
        if candidate.name.startswith("least") and candidate.gap > 0:
            notes.append(f"{candidate.name} ({candidate.how}): up to {candidate.gap:.0%} less is not ruled out")
    by_name = {candidate.name: candidate.watt for candidate in compared.candidates}
    for peak, count in compared.trees_apart.items():
        more = by_name[f"peak {peak}"] / by_name[f"least {peak}"] - 1 if by_name[f"least {peak}"] else 0.0
        notes.append(f"{peak}: trunks draw {more:.0%} more by Koibuchi's selection, and {count} trees differ")
    notes += [f"{name} sets the same as {other}" for name, other in compared.same.items()]
    notes += [_contradiction(row) for row in rows if row.apart]
    weak = [row.candidate.name for row in rows if row.weak]
    if weak:
        notes.append(f"{', '.join(weak)}: few blocks, so the intervals are too narrow")
    if power is None:
        notes.append("without --calibration watts are in units of a cable's two ports, and assumed")
    else:
        notes += [f"warning: {sentence}" for sentence in power.warnings]
    return [*notes, lab.watts_note] if lab.watts_note else notes


def _contradiction(row: Row) -> str:
    """Where meters and model disagree: both shares, with their intervals."""
    return (
        f"{row.candidate.name}: meters and model contradict each other: {percent(row.saving_metered)} is not "
        f"{percent(row.saving_modelled)}"
    )


def _plain(row: Row) -> dict[str, Any]:
    candidate = row.candidate
    plain: dict[str, Any] = {"name": candidate.name, "level": row.as_level, "peak": candidate.peak}
    plain |= {"off": sorted(candidate.off), "trunk_watt": candidate.watt, "gap": candidate.gap, "how": candidate.how}
    plain["levels"] = {number: level.name for number, level in candidate.levels.items()}
    plain |= {"figure": row.figure, "weak": row.weak, "links_off": row.links_off, "apart": row.apart}
    names = ("performance", "slowdown", "metered", "modelled", "saving_metered", "saving_modelled")
    return plain | {name: _interval(getattr(row, name)) for name in names}


def _interval(found: Interval | None) -> dict[str, float] | None:
    return None if found is None else {"value": found.value, "low": found.low, "high": found.high}
