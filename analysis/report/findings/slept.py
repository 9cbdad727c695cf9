"""Which links had EEE on while programs ran, and whether they slept.

Simplification: LPI counters are read seldom, so only differences within a trial count, and most trials have none. Gaps
longer than a probed hold then say how often a link could sleep, not how long it did.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.programs.profile import Profile
from eee_testbed.analysis.programs.sleeping_links import link_of, sleeping_policies
from eee_testbed.analysis.report.findings.finding import Finding, listed
from eee_testbed.analysis.report.measure import probe_command, sweep_command
from eee_testbed.analysis.report.report_data import ReportData, RunData
from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.lab.counted_text import counted
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.trials import Trial

_TOPIC: Final = "Which links had EEE, and slept"


def slept(data: ReportData) -> Finding:
    """Of all programs' trials with EEE on."""
    runs = [(run, trials) for run in data.runs if (trials := _with_eee(run))]
    if not runs:
        return Finding(_TOPIC, "no program has a valid trial with EEE on.", (), sweep_command(data))
    links = list(dict.fromkeys(name for run, trials in runs for name in _links(run, trials)))
    if not links:
        sentence = "Programs ran with EEE on, and no event says at which ports: see the switches with eeectl eee show."
        return Finding(_TOPIC, sentence)
    had = f"EEE was on at {listed(links, 6)} ({counted(len(links), 'link')})."
    shares = dict(share for run, trials in runs for share in _counted(run, trials))
    if shares:
        asleep = [f"{port} {100 * share:.2g} %" for port, share in shares.items()]
        return Finding(
            _TOPIC,
            f"{had} While programs ran, their ports slept by their own counters: {listed(asleep, 6)} of the time.",
        )
    gaps = _gaps([profile for run, _ in runs for profile in run.profiles], data.calibration)
    if gaps:
        return Finding(_TOPIC, f"{had} No counter says how long they slept; {'; '.join(gaps)}.")
    why = "Whether they slept is not known: no switch counted it during a trial, and no echoes were fitted"
    return Finding(_TOPIC, f"{had} {why}.", (), probe_command(data))


def _with_eee(run: RunData) -> Sequence[Trial]:
    eee = [name for name in {**run.factors.kinds, "eee": "eee"} if run.factors.kind(name) == "eee"]
    return [trial for trial in run.programs() if any(trial.levels.get(name) in ("on", True) for name in eee)]


def _links(run: RunData, trials: Sequence[Trial]) -> Iterator[str]:
    """Both ends of the links, by what switches were set to last before each trial."""
    lab = lab_of_run(run.facts)
    ends: dict[tuple[str, str], str] = {}
    for link in () if lab is None else lab.links:
        for end, other in ((link.a, link.b), (link.b, link.a)):
            ends[end.device, end.port] = f"{min(str(end), str(other))} – {max(str(end), str(other))}"  # noqa: RUF001
    events = [event for event in run.events if event["kind"] == EventKind.PORTS_SET]
    for trial in trials:
        for switch, ports in _set_before(events, trial.begun_ns).items():
            for port, setting in ports.items():
                if setting.get("eee"):
                    yield ends.get((switch, port), f"{switch}:{port}")


def _set_before(events: Iterable[Mapping[str, object]], at_ns: int) -> Mapping[str, Mapping[str, Mapping[str, object]]]:
    """Settings of each switch's ports."""
    settings: dict[str, Mapping[str, Mapping[str, object]]] = {}
    for event in events:
        if int(str(event["time_ns"])) <= at_ns and isinstance(event["ports"], Mapping):
            settings.update(event["ports"])
    return settings


def _counted(run: RunData, trials: Sequence[Trial]) -> Iterator[tuple[str, float]]:
    """Share of time in low-power idle of each port that counted some, the mean of both directions."""
    if run.samples.table("lpi").is_empty():
        return
    shares: dict[str, list[float]] = {}
    for column in ("tx_lpi_us", "rx_lpi_us"):
        rows = run.samples.increments("lpi", column)
        inside = pl.lit(value=False)
        for trial in trials:
            inside |= (pl.col("from_ns") >= trial.begun_ns) & (pl.col("to_ns") <= trial.ended_ns)
        span = (pl.col("to_ns") - pl.col("from_ns")).sum()
        by_port = rows.filter(inside).group_by("switch", "port", maintain_order=True)
        for switch, port, us, ns in by_port.agg(pl.col(column).sum(), span.alias("ns")).iter_rows():
            if us and ns:
                shares.setdefault(f"{switch}:{port}", []).append(1e3 * us / ns / 2)
    yield from ((port, min(sum(own), 1.0)) for port, own in shares.items())


def _gaps(profiles: Iterable[Profile], calibration: Calibration | None) -> Sequence[str]:
    """How many gaps of each program's nodes were longer than the fitted hold: over its settings, least and most."""
    none_sleeps: dict[str, None] = {}
    percents: dict[str, list[float]] = {}
    for profile in profiles:
        link = None if calibration is None else link_of(calibration, profile, None)
        if link is None or not profile.gaps:
            continue
        if link.kind == "off":
            none_sleeps[profile.program] = None
            continue
        longer = total = 0.0
        for direction, policy in sleeping_policies(link, profile).items():
            for node in profile.gaps.values():
                gap_us, count = (node.transmit if direction == "transmit" else node.receive).spread(8)
                longer += float(np.sum(count[gap_us > policy.hold_us]))
                total += float(np.sum(count))
        if total:
            percents.setdefault(profile.program, []).append(100 * longer / total)
    return [*(f"echoes of {program} found that none sleeps" for program in none_sleeps), *longer_gaps(percents)]


def longer_gaps(percents: Mapping[str, Sequence[float]]) -> Sequence[str]:
    """A sentence for each program, from the percentages of gaps longer than the hold with each of its settings."""
    return [
        f"of {program}'s gaps {_range(shares)} are longer than the fitted hold" for program, shares in percents.items()
    ]


def _range(percents: Sequence[float]) -> str:
    least, most = f"{min(percents):.2g}", f"{max(percents):.2g}"
    return f"{least} %" if least == most else f"{least} to {most} %, by its settings,"
