"""`eeectl simulate`: latency, accepted traffic and energy of an interconnect that need not exist."""

import json
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number
from eee_engine import SimulationError, network_facts, prove_deadlock_free
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from eee_testbed.eeectl.bounds import slowdown_percent
from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.going_on import keeping
from eee_testbed.eeectl.verbs.report import report_simulations
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.simulation.kinds import EngineName
from eee_testbed.simulation.pool import Pool, first_of_mpi, local_pool, mpi_pool, mpi_processes
from eee_testbed.simulation.studies.study import is_study

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from eee_testbed.simulation.description import Description
    from eee_testbed.simulation.point import Point
    from eee_testbed.simulation.report.data import SimulationData
    from eee_testbed.simulation.worker import Simulated

simulate_app = App(name="simulate")

_FOLDER: Final = "simulations"
_CAPTION: Final = (
    "latency in cycles with 95 % interval, ~ not as narrow as asked; accepted (of the load) in flits a node and cycle; "
    "low, off: share of links' time in low power, turned off; energy of links to that of links always on"
)
_PROVED_NODES: Final = 2048
"""The proof walks over all pairs of routers; larger networks are simulated without it."""


@simulate_app.default
def simulate(
    file: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    jobs: Annotated[int, Parameter(validator=Number(gte=1, lte=256))] = 1,
    mpi: Annotated[bool, Parameter(negative="")] = False,
    engine: EngineName | Literal["auto"] | None = None,
    best: Annotated[bool, Parameter(negative="")] = False,
    whole: Annotated[bool, Parameter(negative="")] = False,
    advise: Annotated[bool, Parameter(negative="")] = False,
    power: str | None = None,
    bound_slowdown: str = "1%",
    run_time: Annotated[float | None, Parameter(validator=Number(gt=0))] = None,
    report: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Simulate an interconnect packet by packet, under traffic or MPI programs: latency or run time, and energy.

    Parameters
    ----------
    file
        The file of a simulation (network, routing, router, traffic, links, loads or a curve, seeds, precision), or of a
        study.
    output
        Folder of the results; run again, it continues. Default: simulations/NAME.
    jobs
        Points to simulate at a time, each in a process of its own.
    mpi
        Simulate on the processes of an MPI job: mpirun -n 16 eeectl simulate FILE --mpi. The first distributes the
        points.
    engine
        Engine, instead of the one in the file. `auto` chooses one, and says why.
    best
        For a file with programs: try EEE modes and holds, and say which saves most energy within --bound-slowdown.
    whole
        For a study: run all simulations, not its reduced set.
    advise
        For a study: make a page of the networks and policies that no other beats in both run time and energy.
    power
        Of a study: a calibration of `eeectl fit`, FILE[:SWITCH[:LINK]]; default: the first switch and the first link.
        Adds links with its hold, Ts and Tw, and energy with its watts, also of what --advise compares.
    bound_slowdown
        With --best: the slowdown that is allowed.
    run_time
        For a file with programs: print the compute_scale with which they take this many seconds with links always on.
    report
        Also make a page of the results, as `eeectl report FOLDER` does.
    as_json
        Print JSON.

    """
    from eee_testbed.eeectl.replayed_programs import best_policy, scale_computing
    from eee_testbed.eeectl.studies import StudyOptions, simulate_study_file

    if mpi and jobs > 1:
        raise LabError("--mpi takes as many processes as mpirun starts: leave --jobs out.")
    with _pool(jobs, mpi=mpi) as pool:
        if pool is None:
            return DONE  # the first process of mpirun does the rest
        if is_study(file):
            _refuse_for_studies({"--best": best, "--engine": engine is not None, "--run-time": run_time is not None})
            processes = mpi_processes() - 1 if mpi else jobs
            options = StudyOptions(whole=whole, advise=advise, report=report, as_json=as_json, power=power)
            return simulate_study_file(file, output, pool, processes, options)
        description = _description(file, engine, for_studies=_of_studies(whole=whole, advise=advise, power=power))
        folder = output or Path(_FOLDER) / description.name
        if description.programs is None and (best or run_time is not None):
            name = "--best" if best else "--run-time"
            raise LabError(f"{name} is about programs: write programs in the simulation's file.")
        if description.programs is not None:
            if run_time is not None:
                return scale_computing(description, run_time, as_json=as_json)
            print(*_check(description), sep="\n", file=sys.stderr)
            if best:
                return best_policy(description, folder, pool, slowdown_percent(bound_slowdown), as_json=as_json)
            return _simulate_programs(description, folder, pool, report=report, as_json=as_json)
        return _simulate(description, folder, pool, report=report, as_json=as_json)


def _pool(jobs: int, *, mpi: bool) -> "AbstractContextManager[Pool | None]":
    if mpi:
        return mpi_pool()
    if mpi_processes() < 2:
        return local_pool(jobs)
    if not first_of_mpi():
        return nullcontext(None)
    raise LabError(f"mpirun started {mpi_processes()} processes that would all simulate the same: add --mpi.")


def _of_studies(*, whole: bool, advise: bool, power: str | None) -> str:
    """An option that is given and that studies alone have, or nothing."""
    given = {"--whole": whole, "--advise": advise, "--power": power is not None}
    return next((name for name, is_given in given.items() if is_given), "")


def _description(file: Path, engine: EngineName | Literal["auto"] | None, *, for_studies: str) -> "Description":
    from eee_testbed.simulation.description_file import read_description

    if for_studies:
        raise LabError(f"{for_studies} is for studies: name a study's file, or leave it out.")
    description = read_description(file)
    return description if engine is None else description.model_copy(update={"engine": engine})


def _refuse_for_studies(given: "Mapping[str, bool]") -> None:
    name = next((name for name, is_given in given.items() if is_given), None)
    if name is not None:
        raise LabError(f"{name} is for one simulation, and this file is a study: leave it out.")


def _simulate_programs(description: "Description", folder: Path, pool: Pool, *, report: bool, as_json: bool) -> int:
    from eee_testbed.eeectl.replayed_programs import simulate_programs

    status = simulate_programs(description, folder, pool, as_json=as_json)
    if report and status == DONE:
        print(f"report: {report_simulations([folder], None)}", file=sys.stderr if as_json else sys.stdout)
    return status


def _simulate(description: "Description", folder: Path, pool: Pool, *, report: bool, as_json: bool) -> int:
    from eee_testbed.simulation.calibrated import Calibrated
    from eee_testbed.simulation.results import Results
    from eee_testbed.simulation.sweep import simulate as simulate_all

    known = Calibrated.of(description)
    fitted, *draws = known.variants() if known is not None else (description,)
    remarks = [*_check(fitted), *(known.remarks() if known is not None else [])]
    results = Results(folder, fitted, known.calibration if known is not None else None)
    console = Console(stderr=True)
    for remark in remarks:
        console.print(remark, highlight=False)

    most = _most_points(description, 1 + len(draws))

    def done(simulated: "Simulated[Point]") -> None:
        console.print(f"{_line(simulated)} [{len(results.points)} of {most}]", highlight=False, markup=False)

    with keeping(lambda: len(results.points), "point", folder), results.alone():
        simulate_all(fitted, results, pool, done, draws)
    page = report_simulations([folder], None) if report else None
    from eee_testbed.simulation.report.data import read_simulation  # models of power take a second to load

    data = read_simulation(folder)
    if as_json:
        found = {"folder": str(folder), "points": [asdict(point) for point in results.points], "power": _powers(data)}
        print(json.dumps(found | ({"report": str(page)} if page else {}), indent=1))
    else:
        _print(description, results.points)
        _print_watts(data)
        print(f"points: {folder / 'points.parquet'}")
        if page is not None:
            print(f"report: {page}")
    return DONE


def _powers(data: "SimulationData") -> list[dict[str, Any]]:
    """By load and model: power to that with links always on, and watts where the model has them."""
    return [
        {"load": one.load, **asdict(power)}
        for one in data.loads
        if one.settled and not one.saturated
        for power in data.powers(one).values()
    ]


def _print_watts(data: "SimulationData") -> None:
    """What a calibration says; the report has all models."""
    from eee_testbed.analysis.interval import Interval
    from eee_testbed.analysis.report.findings.finding import with_unit

    found = [(one.load, data.powers(one).get("calibration")) for one in data.loads if one.settled and not one.saturated]
    table = Table(title="power of the network, as calibrated", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("load", "power", "to links always on"):
        table.add_column(name, justify="right", no_wrap=True)
    for load, power in found:
        if power is not None and power.watt is not None:
            ratio = Interval(100 * power.ratio.value, 100 * power.ratio.low, 100 * power.ratio.high)
            table.add_row(f"{load:g}", with_unit(power.watt, "W"), with_unit(ratio, "%"))
    if table.row_count:
        print_table(Console(), table)


def _most_points(description: "Description", draws: int) -> str:
    """How many points there will be, in words; a curve may need fewer than it may have."""
    each = len(description.seeds) * draws
    if description.loads is not None:
        return str(len(set(description.loads)) * each)
    return f"at most {description.curve.points * each}" if description.curve is not None else "?"


def _check(description: "Description") -> list[str]:
    """Refuse what does not fit together or can deadlock; what a reader should know beforehand."""
    from eee_testbed.simulation.point import BrokenSimulation

    form = description.network.form()
    engine, why = description.engine_choice
    try:
        facts = network_facts(form)
        words = (
            f"{facts['nodes']} nodes, {facts['routers']} routers, {facts['links']} links, "
            f"diameter {facts['diameter']}; {engine} engine ({why})"
        )
        remarks = [words, *_too_short(description)]
        if facts["nodes"] > _PROVED_NODES:
            return [*remarks, f"More than {_PROVED_NODES} nodes: whether packets can deadlock is not checked."]
        cycle = prove_deadlock_free(form, description.routing, description.router.vcs)
    except SimulationError as error:
        raise BrokenSimulation(f"{description.name}: {error}; change the simulation's file.") from error
    if cycle is not None:
        around = ", ".join(f"router {router} port {port} VC {vc}" for router, port, vc in cycle)
        raise BrokenSimulation(
            f"{description.name}: with {description.routing} and {description.router.vcs} virtual channels packets can "
            f"deadlock ({around}): use more virtual channels or another routing."
        )
    return [*remarks, "No packets can wait for each other in a circle."]


def _too_short(description: "Description") -> list[str]:
    """Whether links could hardly fall asleep while a point is measured."""
    from eee_testbed.simulation.point import needed_cycles

    needed = needed_cycles(description.links)
    if description.programs is not None or needed <= description.precision.most_cycles:
        return []
    words = "Links are idle for long before they sleep, so that a point may end before they do (~)"
    return [f"{words}: write precision: {{most_cycles: {needed}}}."]


def _line(simulated: "Simulated[Point]") -> str:
    point = simulated.result
    latency = point.without_value or f"{point.latency:.2f} ± {point.latency_half_width or 0:.2f} cycles"
    draw = f" draw {point.draw}" if point.draw else ""
    again = f" (simulated again: its process was lost, {simulated.lost} times)" if simulated.lost else ""
    return f"load {point.load:g} seed {point.seed}{draw}: {latency}{again}"


def _print(description: "Description", points: "tuple[Point, ...]") -> None:
    table = Table(title=description.name, caption=_CAPTION, box=SIMPLE_HEAD, pad_edge=False)
    drawn = any(point.draw for point in points)
    for name in (
        "load",
        "seed",
        *(("draw",) if drawn else ()),
        "latency",
        "p99",
        *(() if drawn else ("hops",)),
        "accepted",
        "low",
        "off",
        "energy",
    ):
        table.add_column(name, justify="right", no_wrap=True)
    for point in points:
        first = (f"{point.load:g}", str(point.seed), *((str(point.draw),) if drawn else ()))
        table.add_row(*first, *_cells(point, hops=not drawn))
    console = Console()
    print_table(console, table)
    unsettled = [point for point in points if not (point.settled or point.saturated)]
    if unsettled:
        most = max(point.warm_up_cycles + point.cycles for point in unsettled)
        console.print(
            f"Not settled after {most} cycles, so without values: {len(unsettled)} of {len(points)} points. They may "
            f"be starting up, or close to saturation: write precision: {{most_cycles: {10 * most}}}.",
            highlight=False,
        )
    for doubt in sorted({point.doubts for point in points if point.doubts}):
        console.print(f"Doubt: {doubt}", highlight=False)


def _cells(point: "Point", *, hops: bool) -> tuple[str, ...]:
    """What a row has behind load, seed and draw. A point that is not settled has no values."""
    if not (point.settled or point.saturated):
        return (point.without_value, *["-"] * (5 + hops))
    mark = "" if point.steady else "~ "
    return (
        point.without_value or f"{mark}{point.latency:.2f} ± {point.latency_half_width or 0:.2f}",
        "-" if point.p99 is None else str(point.p99),
        *(("-" if point.hops is None else f"{point.hops:.2f}",) if hops else ()),
        f"{point.accepted:.4f}",
        f"{100 * point.low_power_share:.0f} %",
        f"{100 * point.off_share:.0f} %",
        f"{100 * point.energy_ratio:.0f} %",
    )
