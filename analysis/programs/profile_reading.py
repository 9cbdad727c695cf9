"""Profiles of the programs of a run, from its trials without EEE.

Sources of each number, in order of preference:

* run time: the figure `time_steady`, which iterations far slower than the median do not enter; else `time`; else
  `mpi_time`, between MPI_Init and MPI_Finalize; else the length of the measured window.
* n: the figure `communications`, calls of MPI functions; else the messages that a node sent to other nodes
  (`traffic.json`).
* S: the figure `communication_size`; else the bytes that a node sent to other nodes, divided by n: as counted by Open
  MPI, else by the gap recorder on the wire.

Gaps are those of the program's own loop if the program reports when that ran, else of the whole window. A row of the
recorder counts if its middle is within; if no row's is, those that overlap count. Simplification: so gaps of up to half
a row at the program's start and end are included; a row is 20 ms long, or 1/500 of the time since the start.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError

from eee_testbed.analysis.agent_file import read_agent_file
from eee_testbed.analysis.calibration import Estimate
from eee_testbed.analysis.configurations import Configuration, Factors
from eee_testbed.analysis.interval import Floats, of_median
from eee_testbed.analysis.power.trial_energy import run_time_s
from eee_testbed.analysis.programs.profile import Direction, Gaps, NodeGaps, Profile, ProfileError, Traffic
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import Trial

_T = TypeVar("_T")


def time_of(trial: Trial) -> float:
    """Run time of a trial, seconds: as the program or its ranks report it, else the length of its window."""
    return run_time_s(trial)


def profiles_of(run: RunSamples, link_mbps: float = 1_000.0) -> tuple[Profile, ...]:
    """A profile of each configuration of a run that has valid trials without EEE; ProfileError if it has none."""
    factors = Factors.of_run(run.facts)
    groups: dict[Configuration, list[Trial]] = {}
    for trial in run.trials:
        if trial.what == "program" and trial.valid and factors.saves_nothing(factors.state_of(trial)):
            groups.setdefault(factors.configuration_of(trial), []).append(trial)
    if not groups:
        ran = sum(trial.what == "program" for trial in run.trials)
        raise ProfileError(
            f"{run.folder} has no valid trial of a program with EEE off among its {ran}: measure one with "
            "`eeectl sweep` and the factor eee."
        )
    lab = str(run.facts.get("lab", ""))
    return tuple(_profile(config, group, run.folder.name, lab, link_mbps) for config, group in groups.items())


def _profile(config: Configuration, trials: Sequence[Trial], run: str, lab: str, link_mbps: float) -> Profile:
    traffic = _last(trials, _traffic)
    gaps = _last(trials, _all_gaps) or {}
    count = _call_count(trials, config, traffic)
    return Profile(
        name=config.name,
        program=config.program,
        parameters=dict(config.parameters),
        hosts=config.hosts,
        ranks_per_host=max(config.ranks_per_host, 1),
        lab=lab,
        runs=(run,),
        trial_count=len(trials),
        base_s=Estimate.of(of_median([time_of(trial) for trial in trials])),
        call_count=count,
        message_byte=_message_byte(trials, config, traffic, gaps, count),
        link_mbps=link_mbps,
        gaps=gaps,
        traffic=traffic,
    )


def _last(trials: Sequence[Trial], read: Callable[[Trial], _T | None]) -> _T | None:
    """The result for the last trial that has one."""
    for trial in reversed(trials):
        value = read(trial)
        if value:
            return value
    return None


def _call_count(trials: Sequence[Trial], config: Configuration, traffic: Traffic | None) -> float:
    counts = _figures(trials, "communications")
    if counts:
        return float(np.median(counts))
    return 0.0 if traffic is None else _between_nodes(traffic.messages, config.ranks_per_host) / len(config.hosts)


def _figures(trials: Sequence[Trial], name: str) -> list[float]:
    return [trial.figures[name].value for trial in trials if name in trial.figures]


def _message_byte(
    trials: Sequence[Trial],
    config: Configuration,
    traffic: Traffic | None,
    gaps: Mapping[str, NodeGaps],
    call_count: float,
) -> float:
    sizes_byte = _figures(trials, "communication_size")
    if sizes_byte:
        return float(np.median(sizes_byte))
    return _sent_byte(config, traffic, gaps) / call_count if call_count else 0.0


def _sent_byte(config: Configuration, traffic: Traffic | None, gaps: Mapping[str, NodeGaps]) -> float:
    """Bytes that a node sent to other nodes, mean over nodes."""
    if traffic is not None:
        return _between_nodes(traffic.bytes, config.ranks_per_host) / len(config.hosts)
    return float(np.mean([node_gaps.transmit.size_byte for node_gaps in gaps.values()])) if gaps else 0.0


def _between_nodes(matrix: Iterable[Iterable[float]], ranks_per_host: int) -> float:
    values = np.array([list(row) for row in matrix], dtype=float)
    node = np.arange(len(values)) // max(ranks_per_host, 1)
    return float(values[node[:, None] != node[None, :]].sum())


def _traffic(trial: Trial) -> Traffic | None:
    path = trial.folder / "traffic.json"
    if not path.exists():
        return None
    try:
        return Traffic.model_validate_json(path.read_bytes())
    except (ValidationError, OSError) as error:
        raise ProfileError(f"{path} is not a traffic matrix: run the program again with --traffic.") from error


def _all_gaps(trial: Trial) -> dict[str, NodeGaps]:
    by_node = {}
    for path in sorted(trial.folder.glob("gaps-*.jsonl")):
        gaps = read_gaps(path, *(trial.loop_ns or (trial.begun_ns, trial.ended_ns)))
        if gaps is not None:
            by_node[path.stem.removeprefix("gaps-")] = gaps
    return by_node


def read_gaps(path: Path, from_ns: int, to_ns: int) -> NodeGaps | None:
    """What the gap recorder saw in a window; None if it has no row there. LabError if the file is of another agent."""
    recording = read_agent_file(path, "idle_gaps")
    edges_us = np.array(recording.header["lower_edges_ns"], dtype=float) / 1e3
    inside = [row for row in recording.rows if from_ns <= (row["start_ns"] + row["end_ns"]) / 2 <= to_ns]
    inside = inside or [row for row in recording.rows if row["start_ns"] < to_ns and from_ns < row["end_ns"]]
    if not inside:
        return None
    window_us = sum(row["end_ns"] - row["start_ns"] for row in inside) / 1e3
    return NodeGaps(
        transmit=_direction("transmit", inside, edges_us, window_us),
        receive=_direction("receive", inside, edges_us, window_us),
    )


def _direction(direction: Direction, rows: Sequence[Mapping[str, Any]], edges_us: Floats, window_us: float) -> Gaps:
    bins: dict[int, float] = {}
    for row in rows:
        for number, count in row[f"{direction}_gaps"]:
            bins[number] = bins.get(number, 0.0) + count
    upper_us = np.append(edges_us[1:], 2 * edges_us[-1] - edges_us[-2])
    numbers = sorted(bins)
    return Gaps(
        low_us=tuple(float(edges_us[number]) for number in numbers),
        high_us=tuple(float(upper_us[number]) for number in numbers),
        count=tuple(bins[number] for number in numbers),
        frame_count=float(sum(row[f"{direction}_frames"] for row in rows)),
        size_byte=float(sum(row[f"{direction}_byte"] for row in rows)),
        busy_us=sum(row[f"{direction}_busy_ns"] for row in rows) / 1e3,
        window_us=window_us,
    )
