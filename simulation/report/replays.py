"""The page of programs on simulated networks: run time, slowdown, links' states, energy, and where it is from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from eee_engine import network_facts
from matplotlib.figure import Figure
from pydantic import BaseModel, ValidationError

from eee_testbed.analysis.report.doubts import doubts_of
from eee_testbed.analysis.report.drawing import Drawing, draw, series_style
from eee_testbed.analysis.report.findings.finding import Finding, with_unit
from eee_testbed.analysis.report.page import Report, made_from, render
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.lab.untrusted_files import read_object
from eee_testbed.simulation.description import Energy
from eee_testbed.simulation.folder import DESCRIPTION, WrongFolder
from eee_testbed.simulation.replay.comparison import Compared, Machine, compared
from eee_testbed.simulation.replay.replayed import Replayed
from eee_testbed.simulation.replay.results import read_replays

_AGAIN: Final = "simulate again into another folder"
_MADE: Final = "replayed"
_LEAD: Final = ("slowdown", "run time", "energy of the network, Andujar", "links in low power")
"""Figures that are findings, where a simulation has them."""


@dataclass(frozen=True, slots=True)
class ReplayData:
    """One folder, read once."""

    folder: Path
    described: dict[str, Any]
    replays: tuple[Replayed, ...]
    figures: tuple[Compared, ...]

    @property
    def name(self) -> str:
        """The simulation's."""
        return str(self.described["name"])


class _Described(BaseModel):
    """What the page relies on in a description; it has more."""

    name: str
    network: dict[str, Any]
    energy: Energy


def read_data(folder: Path) -> ReplayData:
    """Read a folder; WrongFolder if it has no replays, or is of another version."""
    replays = read_replays(folder)
    if not replays:
        raise WrongFolder(f"{folder} has no replays yet: `eeectl simulate FILE` with its file adds them.")
    try:
        described = read_object(folder / DESCRIPTION, _AGAIN)
        written = _Described.model_validate(described)
        facts = network_facts(written.network)
    except UnreadableFile as error:
        raise WrongFolder(str(error)) from error
    except (ValidationError, OverflowError, TypeError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise WrongFolder(f"{folder / DESCRIPTION} is not a description of this version ({said}): {_AGAIN}.") from error
    machine = Machine(facts["routers"], facts["nodes"], facts["links"], written.energy)
    return ReplayData(folder, described, tuple(replays), compared(replays, machine))


def report_of(every: Sequence[ReplayData]) -> Report:
    """Everything that these simulations have."""
    sections = (_figures(every), _jobs(every), _replayed(every))
    return Report(_findings(every), None, None, sections, doubts_of(sections), ())


def page(every: Sequence[ReplayData], report: Report) -> str:
    """The whole page as HTML, without external references."""
    names = ", ".join(data.name for data in every)
    folders = str(every[0].folder) if len(every) == 1 else f"{len(every)} simulations"
    return render(report, f"Replayed: {names}", made_from(folders), _MADE)


def _findings(every: Sequence[ReplayData]) -> tuple[Finding, ...]:
    return tuple(
        Finding(data.name, f"{one.name}: {_text(one)}.", ("states-by-simulation",))
        for data in every
        for wanted in _LEAD
        for one in data.figures
        if one.name == wanted
    )


def _text(one: Compared) -> str:
    return with_unit(one.interval, one.unit) if one.interval else f"{one.value:.6g} {one.unit}".rstrip()


def _figures(every: Sequence[ReplayData]) -> Section:
    columns = (Column("simulation"), Column("figure"), Column("value"), Column("unit"), Column("seeds"))
    rows: list[tuple[Cell, ...]] = [
        (data.name, one.name, one.interval or one.value, one.unit, one.seeds) for data in every for one in data.figures
    ]
    text = (
        "Means over seeds, with Student's 95 % interval from three seeds on. Changes are against the same programs, "
        "seed and placement with links that never sleep. TCEP: bits and idle patterns of links between routers (Kim et "
        "al. 2018); Georgakoudis: mean over these links (2019, IV.B); Andujar: switches by Eq. 1 to 3, with nodes by "
        "Eq. 4 to 7, where a node's U_cpu is the mean of its cores' (2023). A link carried messages if one flit "
        "crossed it in either direction's channel."
    )
    table = Table("replay-figures", "Figures", columns, tuple(rows))
    return Section("figures", "Run time and energy", text, (_states(every),), (table,), _doubts(every))


def _doubts(every: Sequence[ReplayData]) -> tuple[str, ...]:
    return tuple(
        f"{data.name}, seed {one.seed}: {one.unmatched_receives} receives and {one.unmatched_messages} messages had "
        "no partner when their program ended."
        for data in every
        for one in data.replays
        if one.unmatched_receives or one.unmatched_messages
    )


_STATES: Final = ("transmit", "idle", "sleep", "wake", "quiet", "refresh", "fast", "turning_on", "off")


def _states(every: Sequence[ReplayData]) -> Drawing:
    """Time of links by state, a bar a simulation."""
    shares = {data.name: [one for one in data.replays if one.sleeping] or list(data.replays) for data in every}

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        places = np.arange(len(shares))
        left = np.zeros(len(shares))
        for number, state in enumerate(_STATES):
            values = np.array(
                [100 * float(np.mean([getattr(one.shares, state) for one in own])) for own in shares.values()]
            )
            if values.any():
                name = state.replace("_", " ")
                axes.barh(places, values, left=left, height=0.6, color=series_style(number).colour, label=name)
            left += values
        axes.set_yticks(places, list(shares))
        axes.set_xlim(0, 100)
        axes.set_xlabel("Share of the time of links between routers (%)")
        figure.legend(loc="outside lower center", ncols=4)

    caption = "What links between routers did while the programs ran; mean over seeds. Sleep and wake are Ts and Tw."
    return draw("states-by-simulation", "Links by state", caption, paint, height_inch=1.6 + 0.4 * len(shares))


def _jobs(every: Sequence[ReplayData]) -> Section:
    columns = (
        Column("simulation"), Column("seed"), Column("links"), Column("job"), Column("run"), Column("begin", "s"),
        Column("end", "s"), Column("run time", "s"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (data.name, one.seed, _links(one), run.job, run.run, run.begin_s, run.end_s, run.end_s - run.begin_s)
        for data in every
        for one in data.replays
        for run in one.runs
    ]
    return Section("jobs", "Jobs", "", tables=(Table("jobs", "Runs of jobs", columns, tuple(rows)),))


def _links(one: Replayed) -> str:
    return "as described" if one.sleeping else "always on"


def _replayed(every: Sequence[ReplayData]) -> Section:
    text = (
        "Each rank makes its calls, messages meet receives by MPI's rules, collective calls are what the named library "
        "makes of them, and messages are packets on the simulated network. Equal descriptions and seeds give equal "
        "replays. ranks.parquet in the folder has every rank."
    )
    columns = (
        Column("simulation"), Column("folder"), Column("seed"), Column("links"), Column("messages"), Column("bytes"),
        Column("computing", "%"), Column("waiting", "%"), Column("most unexpected"), Column("processor time", "s"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            data.name,
            str(data.folder),
            one.seed,
            _links(one),
            one.messages,
            one.sent_byte,
            100 * one.compute_share,
            100 * one.wait_share,
            one.most_unexpected,
            one.process_s,
        )
        for data in every
        for one in data.replays
    ]
    return Section(
        _MADE, "What was replayed, and how", text, tables=(Table("replays", "Replays", columns, tuple(rows)),)
    )
