"""Response delay against send interval (Miwa et al. 2013, Fig. 3), and the fitted policy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from eee_testbed.analysis.agent_file import read_agent_file
from eee_testbed.analysis.calibration import LinkPolicy
from eee_testbed.analysis.configurations import State, state_text
from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.fit_links import link_name
from eee_testbed.analysis.links.path_delay import passing_delay_us
from eee_testbed.analysis.links.policies import path_of
from eee_testbed.analysis.report.drawing import Drawing, draw, label, logarithmic, series_style
from eee_testbed.analysis.report.measure import fit_command, probe_command
from eee_testbed.analysis.report.report_data import ReportData
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.table import Cell, Column, Table

_PATHS = 8
_DOTS = 1_500
_BINS = 24
_LEAST_IN_BIN = 5
_SHOWN_QUANTILE = 0.99
_ROOM = 1.5


@dataclass(frozen=True, slots=True)
class Echoes:
    """Echoes of one trial: gaps and round trips in us (NaN: lost)."""

    gap_us: Floats
    rtt_us: Floats


def read_echoes(path: Path) -> Echoes:
    """Read a probe's recording, with hardware time stamps if it has them; LabError if it is another file."""
    rows = read_agent_file(path, "echo_probe").rows
    gaps = [_nearest(row.get("idle_transmit_ns"), row.get("idle_receive_ns")) for row in rows]
    rtts = [row.get("rtt_hardware_ns") or row.get("rtt_ns") for row in rows]
    return Echoes(_microseconds(gaps), _microseconds(rtts))


def _nearest(transmit_ns: int | None, receive_ns: int | None) -> int | None:
    """Idle time of the host's own transmitter."""
    return transmit_ns if transmit_ns is not None else receive_ns


def _microseconds(values: Sequence[int | None]) -> Floats:
    return np.array([np.nan if value is None else value / 1e3 for value in values], dtype=float)


@dataclass(frozen=True, slots=True)
class _Path:
    """All echoes of a path with EEE on and off; `base_us`: a round trip awake, `base_from`: the source of this time.

    `state`: other settings of the lab, such as the hold.
    """

    hosts: tuple[str, ...]
    state: State
    on: Echoes
    off: Echoes
    base_us: float
    base_from: str
    policy: LinkPolicy | None

    @property
    def name(self) -> str:
        """Hosts and state, to print."""
        rest = f", {state_text(self.state)}" if self.state else ""
        return " - ".join(self.hosts) + rest


def delay(data: ReportData) -> Section | Missing:
    """A figure for each path that was probed."""
    title = "Response delay against send interval"
    paths = _paths(data)
    if not paths:
        return Missing(title, "no run has a ping-interval probe.", probe_command(data))
    warnings = []
    if len(paths) > _PATHS:
        warnings.append(f"{len(paths)} paths were probed: the first {_PATHS} are drawn, the table has all of them.")
    if any(path.policy is None for path in paths):
        warnings.append(f"Some paths have no fitted policy: {fit_command(data)}, then --calibration.")
    text = (
        "Each echo waits for the sleeping transmitters on its path. The delay is its round trip less a round trip "
        "awake. Grey points are echoes with EEE on; the line is the fitted policy."
    )
    drawings = tuple(_drawing(number, path) for number, path in enumerate(paths[:_PATHS]))
    return Section("delay", title, text, drawings, (_table(paths),), tuple(warnings))


def _paths(data: ReportData) -> list[_Path]:
    """Each path once, with the echoes of all runs that probed it in one state of the lab."""
    groups: dict[tuple[tuple[str, ...], State], tuple[list[Echoes], list[Echoes]]] = {}
    states: dict[tuple[tuple[str, ...], State], State] = {}
    for factors, trial in ((run.factors, trial) for run in data.runs for trial in run.trials):
        if trial.what == "probe" and trial.valid and (trial.folder / "echoes.jsonl").exists():
            state = factors.state_of(trial)
            rest = tuple((name, level) for name, level in state if factors.kind(name) != "eee")
            levels_off = [level in ("off", False) for name, level in state if factors.kind(name) == "eee"]
            awake = bool(levels_off) and all(levels_off)
            if any(levels_off) and not awake:
                rest = state  # EEE on at some of the links only: a state of its own
            groups.setdefault((trial.hosts, rest), ([], []))[awake].append(read_echoes(trial.path("echoes.jsonl")))
            if not awake:
                states[trial.hosts, rest] = state
    links = data.calibration.links if data.calibration is not None else {}
    paths = []
    for (hosts, rest), (on, off) in groups.items():
        policy = _policy(hosts, states.get((hosts, rest), ()), links)
        base_us, base_from = _base(_joined(off), _joined(on), policy)
        paths.append(_Path(hosts, rest, _joined(on), _joined(off), base_us, base_from, policy))
    return paths


def _joined(echoes: Sequence[Echoes]) -> Echoes:
    none: Floats = np.array([], dtype=float)
    return Echoes(
        np.concatenate([none, *(part.gap_us for part in echoes)]),
        np.concatenate([none, *(part.rtt_us for part in echoes)]),
    )


def _base(off: Echoes, on: Echoes, policy: LinkPolicy | None) -> tuple[float, str]:
    """A round trip awake, and its source. EEE may be off at some links only, so echoes after long gaps do not count."""
    if policy is not None:
        return policy.base_us.value, "fitted round trip awake"
    for echoes, name in ((off, "off"), (on, "on")):
        good = np.isfinite(echoes.gap_us) & np.isfinite(echoes.rtt_us)
        if good.any():
            soon = good & (echoes.gap_us <= np.quantile(echoes.gap_us[good], 0.25))
            return float(np.median(echoes.rtt_us[soon])), f"median of the quarter with the shortest gaps, EEE {name}"
    return 0.0, "start of the scale"


def _policy(hosts: tuple[str, ...], state: State, links: Mapping[str, LinkPolicy]) -> LinkPolicy | None:
    """The policy of a path, by its name and state, else by its hosts; a single policy counts for all paths."""
    for name in (link_name(hosts, state), link_name(hosts, ())):
        if name in links:
            return links[name]
    for name, link in links.items():
        names = name.replace("-", " ").replace(":", " ").split()
        if hosts and all(host in names for host in hosts):
            return link
    return next(iter(links.values())) if len(links) == 1 else None


def binned(gap_us: Floats, value: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """(middle, median, lower and upper quartile) of bins of equal width in log(gap) with at least five values."""
    good = np.isfinite(gap_us) & np.isfinite(value) & (gap_us > 0)
    gap, kept = gap_us[good], value[good]
    if gap.size < _LEAST_IN_BIN:
        nothing: Floats = np.array([], dtype=float)
        return nothing, nothing, nothing, nothing
    edges = np.geomspace(gap.min(), gap.max() * 1.000001, _BINS + 1)
    place = np.digitize(gap, edges) - 1
    rows = [
        (float(np.exp(np.log(gap[place == n]).mean())), *np.quantile(kept[place == n], (0.5, 0.25, 0.75)))
        for n in range(_BINS)
        if (place == n).sum() >= _LEAST_IN_BIN
    ]
    middle, median, low, high = np.array(rows, dtype=float).T if rows else np.empty((4, 0))
    return middle, median, low, high


def _top_us(path: _Path) -> float:
    """Upper limit of the delay axis; a few echoes that were late for other reasons would compress all others."""
    delays = np.concatenate((path.on.rtt_us, path.off.rtt_us)) - path.base_us
    delays = delays[np.isfinite(delays)]
    if not delays.size:
        return 1.0
    usual = max(float(np.quantile(delays, _SHOWN_QUANTILE)), 1.0)
    if path.policy is not None:
        usual = max(usual, float(np.max(passing_delay_us(_corners(path.policy), path_of(path.policy)), initial=0.0)))
    return min(float(delays.max()), _ROOM * usual)


def _drawing(number: int, path: _Path) -> Drawing:
    hosts = path.name
    top_us = _top_us(path)
    beyond = int(sum(np.sum(echoes.rtt_us - path.base_us > top_us) for echoes in (path.on, path.off)))

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        every = -(-path.on.gap_us.size // _DOTS) or 1
        shown = slice(None, None, every)
        delay_us = path.on.rtt_us - path.base_us
        axes.plot(path.on.gap_us[shown] / 1e3, delay_us[shown], ".", color="0.7", ms=2, zorder=1)
        for place, (echoes, name) in enumerate(((path.on, "EEE on"), (path.off, "EEE off"))):
            gap_us, median, low, high = binned(echoes.gap_us, echoes.rtt_us)
            if gap_us.size:
                style = series_style(place)
                bars = (median - low, high - median)
                axes.errorbar(
                    gap_us / 1e3,
                    median - path.base_us,
                    bars,
                    color=style.colour,
                    marker=style.marker,
                    ls="none",
                    mfc=style.colour if place == 0 else "white",
                    lw=0.8,
                    label=f"{name}, medians",
                )
        if path.policy is not None:
            gaps = np.concatenate((path.on.gap_us, path.off.gap_us))
            gaps = gaps[np.isfinite(gaps) & (gaps > 0)]
            x = np.unique(np.concatenate((np.geomspace(gaps.min(), gaps.max(), 600), _corners(path.policy))))
            x = x[(x >= gaps.min()) & (x <= gaps.max())]
            expected = passing_delay_us(x, path_of(path.policy))
            axes.plot(x / 1e3, expected, color=series_style(2).colour, ls=series_style(2).line, label="fitted policy")
        logarithmic(axes, x=True)
        if beyond:
            axes.set_ylim(-top_us / 12, top_us)
        label(axes, "Idle time before the echo (ms)", "Response delay (µs)")
        axes.legend(loc="best")

    lost = int(np.isnan(path.on.rtt_us).sum() + np.isnan(path.off.rtt_us).sum())
    caption = (
        f"{hosts}: {path.on.rtt_us.size} echoes with EEE on, {path.off.rtt_us.size} with EEE off, {lost} lost. Symbols "
        f"are medians of bins with at least {_LEAST_IN_BIN} echoes, bars their quartiles (spread, not error). Zero is "
        f"the {path.base_from}, {path.base_us:.1f} µs."
    )
    if beyond:
        caption += f" {beyond} echoes are above the axis."
    return draw(f"delay-{number + 1}", f"Response delay, {hosts}", caption, paint)


def _corners(policy: LinkPolicy) -> Floats:
    """Points just before and after the edges of a policy, so that a line has its steps there."""
    edges = [edge.value for edge in (policy.hold_us,) if edge is not None]
    if policy.hold_us is not None and policy.deep_after_us is not None:
        edges.append(policy.hold_us.value + policy.deep_after_us.value)
    return np.array([edge * share for edge in edges for share in (0.99999, 1.00001)], dtype=float)


def _table(paths: Sequence[_Path]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for path in paths:
        for name, echoes in (("on", path.on), ("off", path.off)):
            rows += [
                (path.name, name, gap, median - path.base_us, low - path.base_us, high - path.base_us)
                for gap, median, low, high in zip(*binned(echoes.gap_us, echoes.rtt_us), strict=True)
            ]
    columns = (
        Column("path"),
        Column("EEE"),
        Column("idle time", "us"),
        Column("median delay", "us"),
        Column("lower quartile", "us"),
        Column("upper quartile", "us"),
    )
    return Table("delay", "Response delay by idle time", columns, tuple(rows), behind_figure=True)
