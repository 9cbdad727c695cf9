"""`eeectl simulate`: latency, accepted traffic and energy of an interconnect that need not exist."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number
from eee_engine import SimulationError, network_facts, prove_deadlock_free
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from simulation.description import Description
from simulation.description_file import read_description
from simulation.point import BrokenSimulation, Point
from simulation.results import Results
from simulation.sweep import simulate as simulate_all

simulate_app = App(name="simulate")

_FOLDER: Final = "simulations"
_CAPTION: Final = (
    "latency in cycles with 95 % interval, ~ not as narrow as asked; accepted in flits a node and cycle; "
    "low, off: share of links' time in low power, turned off; energy of links to that of links always on"
)
_PROVED_NODES: Final = 2048
"""The proof walks over all pairs of routers; larger networks are simulated without it."""


@simulate_app.default
def simulate(
    file: Path,
    /,
    *,
    output: Path | None = None,
    jobs: Annotated[int, Parameter(validator=Number(gte=1, lte=256))] = 1,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Simulate an interconnect packet by packet: latency, accepted traffic and energy by load, with 95 % intervals.

    Parameters
    ----------
    file
        The simulation's file: network, routing, router, traffic, links, loads or a curve, seeds, precision.
    output
        Folder of the results; run again, it continues. Default: simulations/NAME.
    jobs
        Points to simulate at a time, each in a process of its own.
    as_json
        Print JSON.

    """
    description = read_description(file)
    remarks = _check(description)
    folder = output or Path(_FOLDER) / description.name
    results = Results(folder, description)
    console = Console(stderr=True)
    for remark in remarks:
        console.print(remark, highlight=False)

    def done(point: Point) -> None:
        console.print(_line(point), highlight=False)

    simulate_all(description, results, jobs, done)
    if as_json:
        print(json.dumps({"folder": str(folder), "points": [asdict(point) for point in results.points]}, indent=1))
    else:
        _print(description, results.points)
        print(f"points: {folder / 'points.parquet'}")
    return 0


def _check(description: Description) -> list[str]:
    """Refuse what does not fit together or can deadlock; what a reader should know beforehand."""
    form = description.network.form()
    try:
        facts = network_facts(form)
        words = (
            f"{facts['nodes']} nodes, {facts['routers']} routers, {facts['links']} links, "
            f"diameter {facts['diameter']}; {description.chosen_engine} engine"
        )
        if facts["nodes"] > _PROVED_NODES:
            return [words, f"More than {_PROVED_NODES} nodes: whether packets can deadlock is not checked."]
        cycle = prove_deadlock_free(form, description.routing, description.router.vcs)
    except SimulationError as error:
        raise BrokenSimulation(f"{description.name}: {error}; change the simulation's file.") from error
    if cycle is not None:
        around = ", ".join(f"router {router} port {port} VC {vc}" for router, port, vc in cycle)
        raise BrokenSimulation(
            f"{description.name}: with {description.routing} and {description.router.vcs} virtual channels packets can "
            f"wait for each other in a circle ({around}): use more virtual channels or another routing."
        )
    return [words, "No packets can wait for each other in a circle."]


def _line(point: Point) -> str:
    latency = "saturated" if point.saturated else f"{point.latency:.2f} ± {point.latency_half_width or 0:.2f} cycles"
    return f"load {point.load:g} seed {point.seed}: {latency}"


def _print(description: Description, points: tuple[Point, ...]) -> None:
    table = Table(title=description.name, caption=_CAPTION, box=SIMPLE_HEAD, pad_edge=False)
    for name in ("load", "seed", "latency", "p99", "hops", "accepted", "low", "off", "energy"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in points:
        if point.saturated or point.latency is None:
            latency, p99 = "saturated", "-"
        else:
            mark = "" if point.steady else "~ "
            latency, p99 = f"{mark}{point.latency:.2f} ± {point.latency_half_width or 0:.2f}", str(point.p99)
        table.add_row(
            f"{point.load:g}",
            str(point.seed),
            latency,
            p99,
            "-" if point.hops is None else f"{point.hops:.2f}",
            f"{point.accepted:.4f}",
            f"{100 * point.low_power_share:.0f} %",
            f"{100 * point.off_share:.0f} %",
            f"{100 * point.energy_ratio:.0f} %",
        )
    console = Console()
    console.print(table)
    for doubt in sorted({point.doubts for point in points if point.doubts}):
        console.print(f"Doubt: {doubt}", highlight=False)
