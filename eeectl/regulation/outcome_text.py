"""What `eeectl regulate` prints: choices with what they cost and save, as a table or as JSON."""

import json
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from analysis.interval import Interval
from analysis.predict.regulated_watts import NetworkWatts
from analysis.report.table import cell_text
from eeectl.regulation.choosing import Options, Traffic, byte_text
from eeectl.regulation.outcome import CLOSED_LOOP, Row
from eeectl.regulation.pre_run import PreRun
from lab.model import Lab

_HEADS: Final = ("CHOICE", "OFF", "SLOWER", "EEE", "TRUNKS, W", "SLOWDOWN", "SAVING, METER", "SAVING, MODEL")


def show(
    rows: tuple[Row, ...],
    chosen: Options,
    counted: PreRun,
    sent: Traffic,
    power: NetworkWatts | None,
    *,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Print rows; without a folder nothing was measured."""
    notes = _notes(rows, chosen, power, sent.lab)
    if as_json:
        plain = {
            "run": None if folder is None else str(folder),
            "traffic": counted.note,
            "busiest_channel_byte": sent.busiest_byte,
            "pre_run_s": counted.time_s,
            "choices": [_plain(row) for row in rows],
            "notes": notes,
        }
        print(json.dumps(plain, indent=1))
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    print(f"traffic: {counted.note}; {byte_text(sum(counted.byte_by_pair.values()))} between hosts,")
    print(f"on the busiest channel {byte_text(sent.busiest_byte)} with all links on")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, head in enumerate(_HEADS):
        table.add_column(head, justify="left" if not place else "right")
    for row in rows:
        levels = row.option.choice.levels
        trunks = sent.network.trunks
        fewer = sum(trunks[number].width - level.cables for number, level in levels.items() if not level.is_off)
        slower = sum(level.rate_mbps < trunks[number].rate_mbps for number, level in levels.items())
        table.add_row(
            row.option.name,
            f"{row.links_off:.3g}" + (f" + {fewer} cables" if fewer else ""),
            str(slower),
            str(sum(level.eee for level in levels.values())),
            f"{row.option.choice.watt:.4g}",
            *(percent(one) for one in (row.slowdown, row.saving_metered, row.saving_modelled)),
        )
    console.print(table)
    for note in notes:
        console.print(note, markup=False, soft_wrap=True)
    print("nothing was changed" if folder is None else f"{folder}: the lab is restored")


def percent(share: Interval | None) -> str:
    """A share with its interval, in percent: `+1.2% (+0.8% to +1.7%)`."""
    return cell_text(None) if share is None else f"{share.value:+.1%} ({share.low:+.1%} to {share.high:+.1%})"


def _notes(rows: tuple[Row, ...], chosen: Options, power: NetworkWatts | None, lab: Lab) -> list[str]:
    notes = ["slowdown and saving of network power are relative to the baseline, with 95 % intervals"]
    looped = [row for row in rows if row.option.choice.how == CLOSED_LOOP]
    notes += [f"{row.option.name}: links off are the mean over the time of its trials" for row in looped]
    for option in chosen.options:
        if option.name.startswith("least") and option.choice.gap > 0:
            gap = f"{option.choice.gap:.0%}"
            notes.append(f"{option.name} ({option.choice.how}): up to {gap} less is not ruled out")
    by_name = {option.name: option.choice.watt for option in chosen.options}
    for peak, count in chosen.trees_apart.items():
        more = by_name[f"peak {peak}"] / by_name[f"least {peak}"] - 1 if by_name[f"least {peak}"] else 0.0
        notes.append(f"{peak}: trunks draw {more:.0%} more by Koibuchi's selection, and {count} trees differ")
    notes += [f"{name} sets the same as {other}" for name, other in chosen.same.items()]
    notes += [f"{row.option.name}: meters and model contradict each other" for row in rows if row.apart]
    weak = [row.option.name for row in rows if row.weak]
    if weak:
        notes.append(f"{', '.join(weak)}: few blocks, so the intervals are too narrow")
    if power is None:
        notes.append("without --calibration watts are in units of a cable's two ports, and assumed")
    else:
        notes += [f"warning: {sentence}" for sentence in power.warnings]
    return [*notes, lab.watts_note] if lab.watts_note else notes


def _plain(row: Row) -> dict[str, Any]:
    choice = row.option.choice
    plain: dict[str, Any] = {"name": row.option.name, "level": row.as_level, "peak": row.option.peak}
    plain |= {"off": sorted(choice.off), "trunk_watt": choice.watt, "gap": choice.gap, "how": choice.how}
    plain["levels"] = {number: level.name for number, level in choice.levels.items()}
    plain |= {"figure": row.figure, "weak": row.weak, "links_off": row.links_off, "apart": row.apart}
    names = ("performance", "slowdown", "metered", "modelled", "saving_metered", "saving_modelled")
    return plain | {name: _interval(getattr(row, name)) for name in names}


def _interval(found: Interval | None) -> dict[str, float] | None:
    return None if found is None else {"value": found.value, "low": found.low, "high": found.high}
