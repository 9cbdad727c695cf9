"""`eeectl probe A B`: round-trip time of echoes by the pause before them, and the EEE policy fitted to them."""

import itertools
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from eee_testbed.agents.echo.plan import parse_range, parse_steps
from eee_testbed.agents.recording import Recording
from eee_testbed.agents.stream import AgentError
from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.lab_name import LabName, known_lab, lab_operand, require_up
from eee_testbed.eeectl.set_options import pair_in
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.yaml_source import CommandLine
from eee_testbed.measuring.experiments.experiment_file import experiment_of
from eee_testbed.record.trial_events import trial_folder
from eee_testbed.twin.lab.lateness import Lateness

if TYPE_CHECKING:
    from eee_testbed.analysis.calibration import Estimate, LinkPolicy
    from eee_testbed.analysis.links.fit_links import ProbedPair
    from eee_testbed.record.trials import Trial

_MOST_US: Final = 60e6
_BINS: Final = 16


probe_app = App(name="probe")


@probe_app.default
def probe(
    a: str,
    b: str = "",
    /,
    *,
    lab: LabName = "",
    gap_us: str = "50:100000",
    steps_us: str = "",
    count: int = 1000,
    per_step: int = 1000,
    draw: str = "log",
    since: str = "answer",
    payload_byte: int = 56,
    stream_from: str = "",
    stream_every_us: float = 250.0,
    paired: Annotated[bool, Parameter(negative="")] = False,
    seed: int = 1,
    agent_user: str = "",
    runs: Path = Path("runs"),
    no_fit: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Send echoes from one host to another after pauses; show round-trip time by pause, and the links' EEE policy.

    The inventory says which ports and cards an echo passes. The switches are asked first whether EEE is in force on
    that path. The measurement is invalid if a link changed, or if a virtual lab delivered frames late. It is repeated
    then, twice at most.

    Parameters
    ----------
    a
        The host that sends the echoes; or FROM:TO.
    b
        The host that answers them, unless it was named as FROM:TO.
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
        ICMP payload, bytes; the default is that of `ping`.
    stream_from
        A third host, which meanwhile sends a small frame to both hosts every --stream-every-us. This keeps the
        switches' ports to them awake, so echoes wait for the hosts' cards (NICs) only.
    stream_every_us
        Time between two frames of that stream to a host, in microseconds: at most a quarter of the hold.
    paired
        Measure in turns with EEE on and off on the whole path. A policy is only fitted if there are echoes with EEE
        off. Changes EEE of the path's links, and restores it.
    seed
        Seed of the random pauses.
    agent_user
        User that runs the agent on the node, if not the inventory's.
    runs
        Folder in which the run's folder is made.
    no_fit
        Do not fit the policy.
    as_json
        Print JSON.

    """
    from eee_testbed.analysis.links.probed_path import path_links
    from eee_testbed.measuring.experiments.probing import ECHOES
    from eee_testbed.measuring.experiments.session import RunOptions, run_new, validated_lab
    from eee_testbed.record.trials import read_trials

    known = known_lab(lab)
    a, b = pair_in(f"{a}:{b}" if b else a, [host.name for host in known.hosts])
    measured: dict[str, Any] = {"from": a, "to": b, "count": count, "draw": draw, "since": since}
    measured |= {"payload_byte": payload_byte, "per_step": per_step}
    if stream_from:
        measured |= {"stream_from": stream_from, "stream_every_us": stream_every_us}
    try:
        if steps_us:
            measured["steps_us"] = list(parse_steps(steps_us, _MOST_US))
        else:
            measured["gap_us"] = list(parse_range(gap_us, _MOST_US))
    except AgentError as error:
        raise LabError(str(error)) from error
    content = {
        "name": f"probe-{a}-{b}",
        "lab": lab_operand(lab),
        "measure": {"probe": measured},
        "blocks": 1,
        "seed": seed,
    }
    content |= {"guards": {"retry_failed": False}, "recordings": {"user": agent_user}, "sampling": {"lpi_period_s": 0}}
    if paired:
        links = path_links(known, (a, b))
        if not links:
            raise LabError(f"the inventory of {known.name} has no path from {a} to {b}: check its cables.")
        ends = [a, b, *(str(link.a) for link in links[1:-1])]
        content |= {"factors": {"eee": {"links": ends, "levels": ["on", "off"]}}, "slow": ["eee"]}
    source = CommandLine(content)
    experiment = experiment_of(source)
    require_up(validated_lab(experiment, source))
    result = run_new(experiment, source, RunOptions(runs), Lateness.of)
    trials = read_trials(result.folder)
    failed = next((trial for trial in trials if trial.state == "failed"), None)
    if failed is not None or result.outcome.interrupted or len(trials) < 1 + paired:
        path = trial_folder(result.folder, 0) / ECHOES
        why = (failed.why if failed else "") or str(result.outcome.cause or "it was stopped")
        where = f" The echoes until then are in {path}." if path.exists() else ""
        sentence = f"the probe is not valid: {why}{where}"
        raise KeyboardInterrupt(sentence) if result.outcome.interrupted else LabError(sentence)
    kept, invalid = counted(trials, 1 + paired)
    shown = [_Shown.of(a, trial) for trial in kept]
    found, policy, why = (None, None, "") if no_fit or invalid else _policy(result.folder)
    if as_json:
        print(json.dumps(_plain(result.folder, shown, found, policy, why or invalid), indent=1))
    else:
        for one in shown:
            _print(a, b, one)
        _print_policy(found, policy, why)
        print(f"run {result.folder}")
    if invalid:
        raise LabError(f"the probe is not valid: {invalid}")
    return DONE


def counted(trials: "Sequence[Trial]", slots: int) -> "tuple[Sequence[Trial], str]":
    """The valid trials; if slots lack one, all trials, and why the last invalid one is not valid."""
    valid = [trial for trial in trials if trial.valid]
    if len(valid) >= slots:
        return valid, ""
    return trials, next(trial.why for trial in reversed(trials) if not trial.valid)


@dataclass(frozen=True, slots=True)
class _Shown:
    """One trial, to print: its echoes, and (low, high, echoes, median round trip in us) by gap."""

    state: str
    recording: Recording
    rows: list[tuple[float, float, int, float]]

    @classmethod
    def of(cls, host: str, trial: "Trial") -> Self:
        """From a trial's folder."""
        from eee_testbed.measuring.experiments.probing import ECHOES, read_lines

        recording = read_lines(host, trial.path(ECHOES).read_bytes())
        state = f", EEE {trial.levels['eee']}" if "eee" in trial.levels else ""
        return cls(state, recording, _medians_by_gap(recording, _edges(recording)))


def _medians_by_gap(recording: Recording, edges_us: Sequence[float]) -> list[tuple[float, float, int, float]]:
    """(low, high, echoes, median round trip in us) of each bin of actual gaps that has echoes.

    A gap is the time before the echo in which the host transmitted nothing (`idle_transmit_ns`).
    """
    idle, rtt = recording.column("idle_transmit_ns"), recording.column("rtt_ns")
    medians = []
    for low, high in itertools.pairwise(edges_us):
        rtts_us = [r / 1000 for gap, r in zip(idle, rtt, strict=True) if gap and r and low <= gap / 1000 < high]
        if rtts_us:
            medians.append((low, high, len(rtts_us), statistics.median(rtts_us)))
    return medians


def _edges(recording: Recording) -> list[float]:
    """Edges of bins over actual gaps, uniform in the logarithm; one bin for each step where there are few."""
    import numpy as np

    options = sorted({gap / 1000 for gap in recording.column("wanted_ns")})
    if len(options) <= 2 * _BINS:  # the edge between two steps is their geometric mean
        middles = [float(np.sqrt(low * high)) for low, high in itertools.pairwise(options)]
        return [options[0] / 2, *middles, options[-1] * 2]
    gaps = [gap / 1000 for gap in recording.column("idle_transmit_ns") if gap is not None and gap > 0]
    low, high = np.quantile(gaps or options, [0.0, 0.99])
    return [float(edge) for edge in np.geomspace(low, max(high, low * 1.01), _BINS + 1)]


def _policy(folder: Path) -> "tuple[ProbedPair | None, LinkPolicy | None, str]":
    """The path, and its fitted policy or why it cannot be fitted."""
    from eee_testbed.analysis.interval import NotEnoughData
    from eee_testbed.analysis.links.fit_links import link_policy, probed_pairs
    from eee_testbed.record.samples import RunSamples

    pair = next(iter(probed_pairs(RunSamples(folder))), None)
    if pair is None:
        return None, None, "no echo left the host: check its link."
    try:
        fit = pair.fit()
    except NotEnoughData as error:
        return pair, None, str(error)
    if fit.kind != "off" and fit.explained <= 0:
        return pair, None, "no policy explains these round trips: probe again on a quiet lab."
    return pair, link_policy(fit, pair.path, fit.lost - len(pair.trials), pair.symptoms), ""


def _plain(
    folder: Path, shown: Sequence[_Shown], pair: "ProbedPair | None", policy: "LinkPolicy | None", why: str
) -> dict[str, Any]:
    first = shown[0]
    gaps = [{"from_us": low, "to_us": high, "echoes": count, "rtt_us": rtt} for low, high, count, rtt in first.rows]
    facts: dict[str, Any] = {"folder": str(folder), "gaps": gaps, "summary": dict(first.recording.summary)}
    facts |= {"weaker": first.recording.header.get("weaker", [])}
    if pair is not None:
        facts["path"] = [one.end for one in pair.path.transmitters]
        facts["eee_in_force"], facts["eee_not_in_force"] = list(pair.path.in_force), list(pair.path.not_in_force)
        facts["paired"] = bool(pair.awake)
    plain = None if policy is None else json.loads(policy.model_dump_json(exclude_none=True))
    return facts | {"policy": plain, "no_policy": why}


def _print(a: str, b: str, shown: _Shown) -> None:
    title = f"round trip {a} - {b} by the pause before the echo{shown.state}"
    table = Table(title=title, title_justify="left", box=None)
    for heading in ("PAUSE US", "ECHOES", "MEDIAN RTT US"):
        table.add_column(heading, justify="right")
    table.add_column("")
    least = min((rtt for *_, rtt in shown.rows), default=0.0)
    most = max((rtt for *_, rtt in shown.rows), default=0.0)
    for low, high, count, rtt in shown.rows:
        bar = "#" * round(40 * (rtt - least) / (most - least)) if most > least else ""
        table.add_row(f"{low:.0f} - {high:.0f}", str(count), f"{rtt:.1f}", bar)
    print_table(Console(highlight=False), table)
    summary = shown.recording.summary
    print(f"{summary['echoes_sent']} echoes, {summary['echoes_lost']} lost, {summary['echoes_unsent']} never left")
    for sentence in shown.recording.header.get("weaker", []):
        print(f"weaker: {sentence}")


def _print_policy(pair: "ProbedPair | None", policy: "LinkPolicy | None", why: str) -> None:
    from eee_testbed.measuring.experiments.probing import eee_sentence

    if pair is not None:
        print(f"path and back: {', '.join(transmitter.end for transmitter in pair.path.transmitters)}")
        if sentence := eee_sentence(pair.path):
            print(sentence)
    if policy is None:
        if why:
            print(f"no policy: {why}")
        return
    for line in policy_lines(policy, paired=pair is not None and (bool(pair.awake) or pair.path.sleeps_nowhere)):
        print(line)


def policy_lines(policy: "LinkPolicy", *, paired: bool) -> list[str]:
    """A policy in words; not `paired`: what it would be if sleep made the delays."""
    if policy.kind == "off":
        return [f"policy: off, nothing slept after gaps of up to {policy.largest_gap_us:.0f} us"]
    lines = [f"policy: {policy.kind}" if paired else f"as if by EEE, not compared with EEE off: {policy.kind}"]
    if policy.path_wake_us is not None:
        lines.append(f"  wakes of a whole round trip {_us(policy.path_wake_us)}")
    second = policy.card_wake_us is not None
    names = (
        ("one group", "the other") if not policy.which else ("ports", "cards") if second else ("those that sleep", "")
    )
    groups = (
        (names[0], policy.sleeper_count, policy.hold_us, policy.sleep_us, policy.wake_us),
        (names[1], policy.card_count, policy.card_hold_us, policy.card_sleep_us, policy.card_wake_us),
    )
    for name, count, hold_us, sleep_us, wake_us in groups[: 1 + second]:
        times = (("hold", hold_us), ("Ts", sleep_us), ("wake", wake_us))
        parts = [f"{what} {_us(time)}" for what, time in times if time is not None]
        lines.append(f"  {name} ({count}): {', '.join(parts)}")
    more = (("fast wake", policy.fast_wake_us), ("deep after", policy.deep_after_us), ("wait", policy.wait_us))
    lines += [f"  {what} {_us(time)}" for what, time in more if time is not None]
    lines += [f"  {sentence}" for sentence in (*policy.unknown, *policy.symptoms)]
    if not paired:
        lines.append("  Hosts may be slower after pauses by themselves: --paired measures with EEE off, too.")
    return lines


def _us(estimate: "Estimate") -> str:
    return f"{estimate.value:.1f} us ({estimate.low:.1f} - {estimate.high:.1f})"
