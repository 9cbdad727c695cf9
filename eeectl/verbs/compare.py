"""`eeectl compare A B`: two runs, or two levels of one run, figure by figure, with 95 % intervals."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.eeectl.set_options import names_in
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_testbed.analysis.compare import Comparison
    from eee_testbed.analysis.compare_runs import Side
    from eee_testbed.analysis.interval import Interval

compare_app = App(name="compare")


@compare_app.default
def compare_command(
    a: str,
    b: str,
    /,
    *,
    figure: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    devices: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = (),
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Compare two runs, or two levels of a factor within one run: medians, ratios, energy, with 95 % intervals.

    A and B are RUN or RUN:FACTOR=LEVEL,... such as runs/20260101T000000Z-x:eee=off; B may be FACTOR=LEVEL alone, for
    A's run, as in `eeectl compare runs/RUN:eee=off eee=on`. Within a run values are paired by block, and compared where
    all other factors are equal. The ratio is the median of the blocks' ratios, so drift from block to block cancels. It
    need not equal the ratio of the medians of A and B.

    Parameters
    ----------
    a
        The reference.
    b
        The run or level that is compared with A.
    figure
        Figures to compare. Default: run time, and energy and power if meters were sampled.
    every
        Compare all figures.
    devices
        Devices whose meters count for energy and power. Default: all.
    as_json
        Print JSON.

    """
    from eee_testbed.analysis.compare_runs import compare_sides

    first = _side(a, None)
    second = _side(b, first)
    rows = compare_sides(first, second, names_in(figure), names_in(devices), every=every)
    if not rows:
        raise LabError(f"A ({first}) and B ({second}) have no figure in common: check the figures of their trials.")
    if as_json:
        comparisons = [{"where": where, **_plain(comparison)} for where, comparison in rows]
        plain = {"a": str(first), "b": str(second), "comparisons": comparisons}
        print(json.dumps({**plain, "watts_notes": _watts_notes(first, second)}, indent=1))
    else:
        _print(first, second, rows)
    return 0


def _side(text: str, reference: "Side | None") -> "Side":
    from eee_testbed.analysis.compare_runs import Side
    from eee_testbed.record.samples import RunSamples

    name, mark, levels = text.rpartition(":")
    if not mark:
        name, levels = ("", text) if "=" in text and not Path(text).exists() else (text, "")
    if not name and reference is None:
        raise LabError(f"'{text}' names no run: use RUN or RUN:FACTOR=LEVEL for A.")
    folder = Path(name) if name else (reference.folder if reference else Path())
    if not (folder / "run.yaml").exists() and (Path("runs") / folder / "run.yaml").exists():
        folder = Path("runs") / folder
    chosen: dict[str, str] = {}
    for part in filter(None, levels.split(",")):
        factor, equals, level = part.partition("=")
        if not equals:
            raise LabError(f"'{part}' is not a level: use FACTOR=LEVEL, such as eee=off.")
        chosen[factor] = level
    return Side(reference.run if reference is not None and folder == reference.folder else RunSamples(folder), chosen)


def _plain(comparison: "Comparison") -> dict[str, Any]:
    def plain(interval: "Interval") -> dict[str, float | None]:
        low, high = (interval.low, interval.high) if comparison.has_interval else (None, None)
        return {"value": interval.value, "low": low, "high": high}

    intervals = {name: plain(getattr(comparison, name)) for name in ("a", "b", "ratio", "difference")}
    counts = {
        "trials_a": comparison.counts[0],
        "trials_b": comparison.counts[1],
        "blocks": comparison.blocks,
        "pairing": comparison.pairing,
    }
    return {
        "figure": comparison.figure,
        "unit": comparison.unit,
        **intervals,
        **counts,
        "weak": comparison.weak,
        "differs": comparison.differs,
    }


def _print(a: "Side", b: "Side", rows: "Sequence[tuple[str, Comparison]]") -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=200)
    console.print(f"A: {a} ({a.folder.name})\nB: {b} ({b.folder.name})", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("FIGURE", "WHERE", "UNIT"):
        table.add_column(heading)
    paired = rows[0][1].pairing == "blocks"
    pair = " paired" if paired else ""
    for heading in ("A", "B", f"B / A{pair}", "95 %", f"B - A{pair}", "95 %", "TRIALS"):
        table.add_column(heading, justify="right")
    for where, comparison in rows:
        ratio, difference = comparison.ratio, comparison.difference
        mark = " few blocks" if comparison.weak else ""
        ratio_ends = f"{ratio.low:.4f} - {ratio.high:.4f}" if comparison.has_interval else "-"
        difference_ends = f"{difference.low:+.4g} - {difference.high:+.4g}" if comparison.has_interval else "-"
        table.add_row(
            *(comparison.figure, where, comparison.unit, f"{comparison.a.value:.5g}", f"{comparison.b.value:.5g}"),
            *(f"{ratio.value:.4f}", ratio_ends, f"{difference.value:+.4g}", difference_ends),
            f"{comparison.counts[0]}, {comparison.counts[1]}{mark}",
        )
    print_table(console, table)
    for sentence in _on_pairs([comparison for _, comparison in rows]) if paired else ("two runs: not paired",):
        console.print(sentence, markup=False)
    if any(comparison.figure in ("energy", "power") for _, comparison in rows):
        for note in _watts_notes(a, b):
            console.print(note, markup=False)


def _on_pairs(rows: "Sequence[Comparison]") -> tuple[str, ...]:
    """What the ratios are, and which of them lie on the other side of 1 than those of the medians."""
    sentence = (
        "A and B: medians of all trials. The others are paired by block: medians over the blocks, in which what drifts "
        "from block to block cancels; intervals by bootstrap over blocks, of three to five blocks by Student's t."
    )
    opposite = [
        comparison.figure
        for comparison in rows
        if comparison.a.value and (comparison.b.value / comparison.a.value - 1.0) * (comparison.ratio.value - 1.0) < 0.0
    ]
    if not opposite:
        return (sentence,)
    figures = ", ".join(dict.fromkeys(opposite))
    return (sentence, f"{figures}: the medians point the other way, as blocks drift more than A and B differ.")


def _watts_notes(*sides: "Side") -> tuple[str, ...]:
    """What the labs' inventories say of all their watts."""
    labs = [lab_of_run(side.run.facts) for side in sides]
    return tuple(dict.fromkeys(lab.watts_note for lab in labs if lab is not None and lab.watts_note))
