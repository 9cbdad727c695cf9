"""The page of one simulation or several: findings, figures with their data, doubts, and where all of it is from."""

from collections.abc import Sequence
from typing import Any, Final

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.doubts import doubts_of
from eee_testbed.analysis.report.findings.finding import Finding, with_unit
from eee_testbed.analysis.report.page import Report, made_from, render
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.table import Cell, Column, Table, cell_text, number
from eee_testbed.simulation.power_models import MODELS
from eee_testbed.simulation.report.data import SimulationData, shared_loads
from eee_testbed.simulation.report.figures import latency_drawings, power_drawings
from eee_testbed.simulation.summaries import LoadSummary

_MADE: Final = "simulated"


def report_of(every: Sequence[SimulationData]) -> Report:
    """Everything that these simulations have."""
    sections = (_latency(every), _power(every), _simulated(every))
    return Report(_findings(every), None, None, sections, doubts_of(sections), _missing(every))


def page(every: Sequence[SimulationData], report: Report) -> str:
    """The whole page as HTML, without external references."""
    names = ", ".join(data.name for data in every)
    count = len(every)
    folders = str(every[0].folder) if count == 1 else f"{count} simulations"
    return render(report, f"Simulated: {names}", made_from(folders), _MADE)


def _findings(every: Sequence[SimulationData]) -> tuple[Finding, ...]:
    found = []
    for data in every:
        latency, saturation, power = (data.name,) * 3 if len(every) > 1 else ("Latency", "Saturation", "Power")
        works = [one for one in data.loads if one.latency is not None]
        if works and works[0].latency is not None:
            words = f"a packet takes {with_unit(works[0].latency, 'cycles')} at a load of {works[0].load:g}"
            if data.empty_cycles is not None:
                words += f"; alone, with links awake, it would take {data.empty_cycles:.2f} (closed form)"
            found.append(Finding(latency, f"{words}.", ("latency-by-load",)))
        found.append(Finding(saturation, _saturation(data), ("latency-by-load",)))
        if works and (works[0].shares.low_power or works[0].shares.off):
            found.append(Finding(power, _saving(data), ("power", "power-tcep")))
    loads = shared_loads(every)
    if len(every) > 1 and loads:
        found.append(Finding("Compared", _compared(every, loads[0]), ("latency-by-load",)))
    return tuple(found)


def _saturation(data: SimulationData) -> str:
    works = [one.load for one in data.loads if one.settled and not one.saturated]
    if data.saturated_from is None and not works:
        return "no load is settled: give the simulation more cycles (most_cycles)."
    if data.saturated_from is None:
        return f"all loads up to {max(works):g} flits a node and cycle are accepted."
    below = [load for load in works if load < data.saturated_from]
    if not below:
        return f"the network is saturated at {data.saturated_from:g}, the lowest load that was simulated."
    return f"the network saturates between {max(below):g} and {data.saturated_from:g} flits a node and cycle."


def _saving(data: SimulationData) -> str:
    one = next(each for each in data.loads if each.latency is not None)
    powers = data.powers(one)
    words = [f"{_percent(power.ratio)} by {name}" for name, power in powers.items()]
    low, off = 100 * one.shares.low_power, 100 * one.shares.off
    return (
        f"at a load of {one.load:g} links are in low power for {number(low)} % of the time and off for {number(off)} "
        f"%; power, to links always on: {', '.join(words)}."
    )


def _compared(every: Sequence[SimulationData], load: float) -> str:
    """Latencies at a load that all have, as ratios to the first."""
    found = {data.name: one.latency for data in every for one in data.loads if one.load == load and one.latency}
    names = [data.name for data in every if data.name in found]
    base = found[names[0]]
    words = [f"{name} {found[name].value / base.value:.2f} times" for name in names[1:]]
    return f"at a load of {load:g} the latency, to that of {names[0]}, is: {', '.join(words)}."


def _percent(ratio: Interval) -> str:
    return with_unit(Interval(100 * ratio.value, 100 * ratio.low, 100 * ratio.high), "%")


def _latency(every: Sequence[SimulationData]) -> Section:
    columns = (
        Column("simulation"), Column("load", "flits/node/cycle"), Column("latency", "cycles"), Column("p99", "cycles"),
        Column("alone, closed form", "cycles"), Column("links between routers"),
        Column("accepted", "flits/node/cycle"), Column("points"), Column("remark"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            data.name,
            one.load,
            one.latency,
            one.p99,
            data.empty_cycles,
            one.hops if one.settled else None,
            one.accepted if one.settled else None,
            one.count,
            remark,
        )
        for data in every
        for one in data.loads
        for remark in (_remark(one),)
    ]
    warnings = [
        f"{data.name}, load {one.load:g}: {_remark(one)}."
        for data in every
        for one in data.loads
        if not one.steady and not one.saturated
    ]
    warnings += sorted({f"{data.name}: {one.doubts}" for data in every for one in data.points if one.doubts})
    table = Table("latency-by-load-data", "Latency by load", columns, tuple(rows), behind_figure=True)
    return Section("latency", "Latency", "", latency_drawings(every), (table,), tuple(warnings))


def _remark(one: LoadSummary) -> str:
    if one.saturated:
        return "saturated"
    if not one.settled:
        return "not settled, so without values: the network may be starting up, or close to saturation"
    return "" if one.steady else "the interval is wider than asked"


def _power(every: Sequence[SimulationData]) -> Section:
    columns = (
        Column("simulation"), Column("load", "flits/node/cycle"), Column("in low power", "%"), Column("off", "%"),
        Column("Ts and Tw", "%"), Column("turning on", "%"),
        *(Column(f"{model}, to always on", "%") for model in MODELS),
        Column("Andujar", "W"), Column("calibration", "W"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    notes: dict[str, None] = {}
    for data in every:
        if data.calibration is not None and data.calibration.power.note:
            notes[data.calibration.power.note] = None
        for one in filter(lambda load: load.settled, data.loads):
            powers = data.powers(one)
            percents = [
                Interval(100 * power.ratio.value, 100 * power.ratio.low, 100 * power.ratio.high) if power else None
                for power in map(powers.get, MODELS)
            ]
            watts = [power.watt if power else None for power in map(powers.get, ("Andujar", "calibration"))]
            shares = one.shares
            # Without sleep, or without TCEP, these columns are empty.
            changing = [100 * share or None for share in (shares.sleep + shares.wake, shares.turning_on)]
            low, off = 100 * shares.low_power, 100 * shares.off
            rows.append((data.name, one.load, low, off, *changing, *percents, *watts))
    text = (
        "Power of the network to that of the same network with links always on, under the same traffic. TCEP: bits "
        "and idle patterns of links between routers (Kim et al. 2018, section V); three rates: the same if each "
        "channel ran at the lowest rate that carries its traffic. Georgakoudis: mean over these links, deep sleep at "
        "0.1 and fast wake at 0.6 of active (2019, IV.B). Andujar: all ports and the logic of switches (2023, Eq. 1 "
        "to 3; a calibration's parameters if it has them, else the paper's); ports of nodes never sleep. Calibration: "
        "every router is the fitted switch, over draws of its parameters."
    )
    table = Table("power-data", "Power by load", columns, tuple(rows), behind_figure=True)
    return Section(
        "power",
        "Power",
        " ".join([text, *notes]),
        power_drawings(every),
        (table.without_empty_columns(always=4),),
        ("What a change of a link's state itself costs is not known, and left out.",),
    )


def _simulated(every: Sequence[SimulationData]) -> Section:
    """What was simulated, and how: the last section."""
    text = (
        "A point is one load and one seed. Its warm-up ends when the series of batches has a steady part (MSER, White "
        "1997); packets made before do not count. It is measured until the 95 % interval of the mean latency (20 "
        "groups of batches) is as narrow as asked, or the most cycles are over. A network that accepts less than 98 % "
        "of a load is saturated. Equal descriptions and seeds give equal points."
    )
    columns = (
        Column("simulation"), Column("folder"), Column("nodes"), Column("routers"), Column("links"), Column("engine"),
        Column("seeds"), Column("draws"), Column("warm-up, mean", "cycles"), Column("measured, all", "cycles"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            data.name,
            str(data.folder),
            data.facts["nodes"],
            data.facts["routers"],
            data.facts["links"],
            ", ".join(sorted({one.engine for one in data.points})),
            len({one.seed for one in data.points}),
            max(one.draw for one in data.points),
            sum(one.warm_up_cycles for one in data.points) / len(data.points),
            sum(one.cycles for one in data.points),
        )
        for data in every
    ]
    tables = [Table("simulations", "Simulations", columns, tuple(rows))]
    keys: list[tuple[Cell, ...]] = [
        (data.name, key, _value(value)) for data in every for key, value in data.described.items() if value is not None
    ]
    tables.append(
        Table("descriptions", "Descriptions", (Column("simulation"), Column("key"), Column("value")), tuple(keys))
    )
    fits: list[tuple[Cell, ...]] = [
        (
            data.name,
            known.lab,
            known.made,
            ", ".join(known.runs),
            " ".join(f"{a} {b}" for a, b in known.versions.items()),
        )
        for data in every
        if (known := data.calibration) is not None
    ]
    if fits:
        whence = (Column("simulation"), Column("lab"), Column("made"), Column("runs"), Column("versions"))
        tables.append(Table("calibrations", "Calibrations", whence, tuple(fits)))
    return Section(_MADE, "What was simulated, and how", text, tables=tuple(tables))


_LONG: Final = 160


def _value(value: Any) -> str:
    """A key's value, to read; of long lists the beginning."""
    if isinstance(value, dict):
        words = ", ".join(f"{key}: {_value(each)}" for key, each in value.items() if each is not None)
    elif isinstance(value, float):
        words = cell_text(value)
    else:
        words = str(value)
    return words if len(words) <= _LONG else f"{words[:_LONG]} ... (see description.json)"


def _missing(every: Sequence[SimulationData]) -> tuple[Missing, ...]:
    if any("calibration" in data.powers(data.loads[0]) for data in every):
        return ()
    return (
        Missing(
            "Watts of these switches",
            "no calibration was given.",
            "write calibration: {file: calibration.yaml, mbps: 1000} in the simulation's file",
        ),
    )
