"""`eeectl probe A B`: round-trip time of echoes by the pause before them, and the EEE policy fitted to them."""

import itertools
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from agents.echo.plan import parse_range, parse_steps
from agents.recording import Recording
from agents.stream import AgentError
from analysis.interval import NotEnoughData
from analysis.links.eee_policy import PolicyFit, fit_policy
from analysis.links.probes import LATE_NS, Probes
from controller.experiments.experiment_file import ExperimentSource, experiment_of
from controller.experiments.probing import ECHOES, read_lines
from controller.experiments.session import RunOptions, run_new
from eeectl.exit_status import INTERRUPTED
from lab.errors import LabError
from record.trial_events import trial_folder
from record.trials import read_trials
from twin.lab.lateness import Lateness

_MOST_US: Final = 60e6
_BINS: Final = 16


probe_app = App(name="probe")


@probe_app.default
def probe(
    a: str,
    b: str,
    /,
    *,
    lab: str = "virtual",
    gap_us: str = "50:100000",
    steps_us: str = "",
    count: int = 1000,
    per_step: int = 1000,
    draw: str = "log",
    since: str = "answer",
    payload_byte: int = 56,
    sleepers: int = 4,
    seed: int = 1,
    agent_user: str = "",
    runs: Path = Path("runs"),
    no_fit: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Send echoes from one host to another after pauses; show round-trip time by pause, and the links' EEE policy.

    Parameters
    ----------
    a
        The host that sends the echoes.
    b
        The host that answers them.
    lab
        Name of a lab, or a folder.
    gap_us
        LOW:HIGH: range from which pauses are drawn, in microseconds.
    steps_us
        A,B,C or LOW:HIGH:COUNT: fixed pauses instead of random ones, each for --per-step echoes (Miwa 2013, Fig. 3).
    count
        Number of echoes with random pauses.
    per_step
        Number of echoes at each fixed pause.
    draw
        Distribution of random pauses: `log` (uniform in the logarithm) or `uniform`.
    since
        A pause starts at the last answer (`answer`) or at the last echo (`echo`, as `ping -i` does).
    payload_byte
        Data behind an echo's ICMP header of 8 bytes, bytes; the default is Miwa's and that of `ping`.
    sleepers
        Transmitters on the path and back that may enter LPI: 4 for two hosts at one switch.
    seed
        Seed of the random pauses.
    agent_user
        User that runs the agent on the node, if not the inventory's.
    runs
        Folder in which the run gets its own.
    no_fit
        Do not fit the policy.
    as_json
        Print JSON.

    """
    measured: dict[str, Any] = {"from": a, "to": b, "count": count, "draw": draw, "since": since}
    measured |= {"payload_byte": payload_byte, "per_step": per_step}
    try:
        if steps_us:
            measured["steps_us"] = list(parse_steps(steps_us, _MOST_US))
        else:
            measured["gap_us"] = list(parse_range(gap_us, _MOST_US))
    except AgentError as error:
        raise LabError(str(error)) from error
    content = {"name": f"probe-{a}-{b}", "lab": lab, "measure": {"probe": measured}, "blocks": 1, "seed": seed}
    content |= {"guards": {"retries": 0}, "recordings": {"user": agent_user}, "sampling": {"lpi_period_s": 0}}
    source = ExperimentSource("the command line", content)
    result = run_new(experiment_of(source), source, RunOptions(runs), Lateness.of)
    path = trial_folder(result.folder, 0) / ECHOES
    trial = next(iter(read_trials(result.folder)), None)
    if trial is None or trial.state == "failed":
        why = (trial.why if trial else "") or str(result.outcome.cause or "it was stopped")
        where = f" The echoes until then are in {path}." if path.exists() else ""
        print(f"eeectl: the probe is not valid: {why}{where}", file=sys.stderr)
        return INTERRUPTED if result.outcome.interrupted else 1
    recording = read_lines(a, path.read_bytes())
    rows = _medians_by_gap(recording, _edges(recording))
    fit, why = (None, "") if no_fit or not trial.valid else _policy(recording, sleepers)
    if as_json:
        print(json.dumps(_plain(result.folder, recording, rows, fit, why or trial.why), indent=1))
    else:
        _print(a, b, recording, rows, fit, why)
        print(f"run {result.folder}")
    if not trial.valid:
        print(f"eeectl: the probe is not valid: {trial.why}", file=sys.stderr)
    return 0 if trial.valid else 1


def _medians_by_gap(recording: Recording, edges_us: Sequence[float]) -> list[tuple[float, float, int, float]]:
    """(low, high, echoes, median round trip in us) of each bin of actual gaps that has echoes.

    A gap is the time before the echo in which the host transmitted nothing (`idle_transmit_ns`).
    """
    idle, rtt = recording.column("idle_transmit_ns"), recording.column("rtt_ns")
    found = []
    for low, high in itertools.pairwise(edges_us):
        rtts_us = [r / 1000 for gap, r in zip(idle, rtt, strict=True) if gap and r and low <= gap / 1000 < high]
        if rtts_us:
            found.append((low, high, len(rtts_us), statistics.median(rtts_us)))
    return found


def _edges(recording: Recording) -> list[float]:
    """Edges of bins over actual gaps, uniform in the logarithm; one bin for each step where there are few."""
    options = sorted({gap / 1000 for gap in recording.column("wanted_ns")})
    if len(options) <= 2 * _BINS:  # the edge between two steps is their geometric mean
        middles = [float(np.sqrt(low * high)) for low, high in itertools.pairwise(options)]
        return [options[0] / 2, *middles, options[-1] * 2]
    gaps = [gap / 1000 for gap in recording.column("idle_transmit_ns") if gap is not None and gap > 0]
    low, high = np.quantile(gaps or options, [0.0, 0.99])
    return [float(edge) for edge in np.geomspace(low, max(high, low * 1.01), _BINS + 1)]


def _policy(recording: Recording, sleepers: int) -> tuple[PolicyFit | None, str]:
    """The fitted policy, or why it cannot be fitted."""
    columns = (recording.column(name) for name in ("sent_ns", "rtt_ns", "late_ns"))
    left = [(sent, rtt, late or 0) for sent, rtt, late in zip(*columns, strict=True) if sent is not None]
    if not left:
        return None, "no echo left the host: check its link."
    zero = left[0][0]
    sent_us = np.array([(sent - zero) / 1000 for sent, _, _ in left])
    rtt_us = np.array([np.nan if rtt is None else rtt / 1000 for _, rtt, _ in left])
    punctual = np.array([late < LATE_NS for _, _, late in left])
    try:
        probes = Probes.of(sent_us, rtt_us, punctual=punctual)
        return fit_policy(probes, sleepers=sleepers, cards=True), ""
    except NotEnoughData as error:
        return None, str(error)


def _plain(
    folder: Path, recording: Recording, rows: list[tuple[float, float, int, float]], fit: PolicyFit | None, why: str
) -> dict[str, Any]:
    gaps = [{"from_us": low, "to_us": high, "echoes": count, "rtt_us": rtt} for low, high, count, rtt in rows]
    facts: dict[str, Any] = {"folder": str(folder), "gaps": gaps, "summary": dict(recording.summary)}
    return facts | {"weaker": recording.header.get("weaker", []), "policy": _fit_plain(fit), "no_policy": why}


def _fit_plain(fit: PolicyFit | None) -> dict[str, Any] | None:
    if fit is None:
        return None
    fields: dict[str, Any] = {"kind": fit.kind}
    for name in ("base_us", "hold_us", "sleep_us", "wake_us"):
        interval = getattr(fit, name, None)
        fields[name] = (
            None if interval is None else {"value": interval.value, "low": interval.low, "high": interval.high}
        )
    return fields


def _print(
    a: str, b: str, recording: Recording, rows: list[tuple[float, float, int, float]], fit: PolicyFit | None, why: str
) -> None:
    table = Table(title=f"round trip {a} - {b} by the pause before the echo", title_justify="left", box=None)
    for heading in ("PAUSE US", "ECHOES", "MEDIAN RTT US"):
        table.add_column(heading, justify="right")
    table.add_column("")
    least = min((rtt for *_, rtt in rows), default=0.0)
    most = max((rtt for *_, rtt in rows), default=0.0)
    for low, high, count, rtt in rows:
        bar = "#" * round(40 * (rtt - least) / (most - least)) if most > least else ""
        table.add_row(f"{low:.0f} - {high:.0f}", str(count), f"{rtt:.1f}", bar)
    console = Console(highlight=False)
    console.print(table)
    summary = recording.summary
    print(f"{summary['echoes_sent']} echoes, {summary['echoes_lost']} lost, {summary['echoes_unsent']} never left")
    for sentence in recording.header.get("weaker", []):
        print(f"weaker: {sentence}")
    if fit is not None:
        words = [f"policy: {fit.kind}"]
        for name, interval in (("hold", fit.hold_us), ("sleep", fit.sleep_us), ("wake", fit.wake_us)):
            if interval is not None:
                words.append(f"{name} {interval.value:.1f} us ({interval.low:.1f} - {interval.high:.1f})")
        print(", ".join(words))
    elif why:
        print(f"no policy: {why}")
