"""Programs on simulated networks: what `eeectl simulate` says of them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

from eee_engine import network_facts
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from eee_testbed.analysis.report.findings.finding import with_unit
from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.going_on import keeping
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.pool import Pool
from eee_testbed.simulation.replay.comparison import Compared, Machine, compared
from eee_testbed.simulation.replay.computing import fit_computing
from eee_testbed.simulation.replay.replayed import Replayed
from eee_testbed.simulation.replay.results import REPLAYS, ReplayResults
from eee_testbed.simulation.replay.search import Asked, Search, Tried, best, candidates
from eee_testbed.simulation.replay.sweep import replay_all, tasks_of
from eee_testbed.simulation.worker import Simulated

_LARGE: Final = ("ranks", "runs", "links")
"""Fields of a replay that have files of their own."""


def simulate_programs(description: Description, folder: Path, pool: Pool, *, as_json: bool) -> int:
    """Replay the programs of a description, and print what was found; the exit status."""
    results = ReplayResults(folder, description)
    console = Console(stderr=True)
    most = len(tasks_of(description))

    def done(simulated: Simulated[Replayed]) -> None:
        found = simulated.result
        links = "as described" if found.sleeping else "always on"
        again = f" (again: its process was lost, {simulated.lost} times)" if simulated.lost else ""
        line = f"seed {found.seed}, links {links}: {found.run_time_s:.6g} s, {found.messages} messages{again}"
        console.print(f"{line} [{len(results.replays)} of {most}]", highlight=False, markup=False)

    with keeping(lambda: len(results.replays), "replay", folder), results.alone():
        replay_all(description, results, pool, done)
    figures = compared(results.replays, machine_of(description))
    if as_json:
        replays = [_plain(one) for one in results.replays]
        print(
            json.dumps(
                {"folder": str(folder), "replays": replays, "figures": [asdict(one) for one in figures]}, indent=1
            )
        )
    else:
        _print(description.name, figures, results.replays)
        print(f"replays: {folder / REPLAYS}")
    return DONE


def best_policy(description: Description, folder: Path, pool: Pool, bound_percent: float, *, as_json: bool) -> int:
    """Try modes and holds, and print them with the best one that keeps the bound; the exit status."""
    if not candidates(description.links):
        raise LabError(
            f"{description.name} has no times of a low-power mode: write links: {{wake: 2600}}, or fast_wake."
        )
    console = Console(stderr=True)
    search = Search(description, folder)

    def done(one: Asked, simulated: Simulated[Replayed]) -> None:
        line = f"{one}: {simulated.result.run_time_s:.6g} s [{search.kept} of {len(search.asked)}]"
        console.print(line, highlight=False, markup=False)

    with keeping(lambda: search.kept, "replay", folder):
        tried = search.run(pool, done)
    chosen = best(tried, bound_percent)
    if as_json:
        found = {"tried": [asdict(one) for one in tried], "best": asdict(chosen) if chosen else None}
        print(json.dumps(found, indent=1))
    else:
        _print_tried(description.name, tried)
        print(
            f"best within {bound_percent:g} % of slowdown: {chosen.mode} with a hold of {chosen.hold} cycles"
            if chosen
            else f"no policy slows the programs down by {bound_percent:g} % or less: allow more with --bound-slowdown."
        )
    return DONE


def scale_computing(description: Description, run_time_s: float, *, as_json: bool) -> int:
    """Print the `compute_scale` of each job with which the programs take so long; the exit status."""
    fitted = fit_computing(description, run_time_s)
    if as_json:
        print(json.dumps(asdict(fitted), indent=1))
        return DONE
    jobs = description.programs.jobs if description.programs else []
    for number, (job, scale) in enumerate(zip(jobs, fitted.compute_scale, strict=True)):
        print(f"job {number} ({job.name or job.program.kind}): compute_scale: {scale:.6g}")
    print(f"With links always on the programs then take {fitted.run_time_s:.6g} s ({fitted.replays} replays).")
    return DONE


def _print_tried(name: str, tried: Sequence[Tried]) -> None:
    table = Table(title=f"{name}: policies, the most saving first", box=SIMPLE_HEAD, pad_edge=False)
    for column in ("mode", "hold (cycles)", "slowdown", "energy of links", "in low power"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in tried:
        percents = (one.slowdown_percent, one.energy_percent, one.low_power_percent)
        table.add_row(one.mode, str(one.hold), *(f"{value:.4g} %" for value in percents))
    print_table(Console(), table)


def machine_of(description: Description) -> Machine:
    """What the energy of a description's replays depends on."""
    facts = network_facts(description.network.form())
    return Machine(facts["routers"], facts["nodes"], facts["links"], description.energy)


def _plain(one: Replayed) -> dict[str, Any]:
    kept = {field.name: getattr(one, field.name) for field in fields(one) if field.name not in _LARGE}
    shares = {name: asdict(value) for name, value in kept.items() if name.endswith("shares")}
    return kept | shares | {"runs": [asdict(run) for run in one.runs]}


def _print(name: str, figures: tuple[Compared, ...], replays: tuple[Replayed, ...]) -> None:
    seeds = figures[0].seeds if figures else 0
    over = "1 seed, so without intervals" if seeds == 1 else f"{seeds} seeds"
    table = Table(title=f"{name}: {over}", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("figure")
    table.add_column("mean, with 95 % interval", justify="right")
    for one in figures:
        value = with_unit(one.interval, one.unit) if one.interval else f"{one.value:.6g} {one.unit}".rstrip()
        table.add_row(one.name, value)
    console = Console()
    print_table(console, table)
    receives = max(one.unmatched_receives for one in replays)
    messages = max(one.unmatched_messages for one in replays)
    if receives or messages:
        console.print(
            f"Doubt: {receives} receives and {messages} messages had no partner when their program ended.",
            highlight=False,
        )
