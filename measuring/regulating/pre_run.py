"""A program's traffic from a run: counted by Open MPI between ranks, or by the switches' ports."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eee_testbed.analysis.programs.profile_reading import time_of
from eee_testbed.benchmarks.program import Placement
from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.regulated import senders_of, trunks_on
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.measuring.experiments.traffic import read_traffic
from eee_testbed.measuring.regulating.kinds import Source
from eee_testbed.record.sample_tables import TABLES
from eee_testbed.record.samples import RunSamples, increments
from eee_testbed.record.trials import Trial, read_trials
from eee_testbed.regulation.network import Network, tree_ways
from eee_testbed.regulation.traffic import Counted, HostBytes, between_hosts, from_counters


@dataclass(frozen=True, slots=True)
class PreRun:
    """What hosts sent to each other in a run of a program that took `time_s`; `note` says how well it is known."""

    byte_by_pair: HostBytes
    time_s: float
    note: str


def traffic_in(folder: Path, lab: Lab, state: State, source: Source) -> PreRun:
    """Of the last valid trial of a program in a run; LabError if there is none, or it was not counted."""
    trials = [trial for trial in read_trials(folder) if trial.valid and trial.what == "program"]
    if not trials:
        raise LabError(f"{folder} has no valid trial of a program: see its events, or run the program again.")
    trial = trials[-1]
    if source == "counters":
        return _by_counters(RunSamples(folder), trial, lab, state)
    if not (trial.folder / "traffic.json").exists():
        raise LabError(
            f"Open MPI counted no messages of {trial.program} in {folder}: use --traffic counters if it sends past "
            "MPI or over one-sided windows, which the trial's notes name."
        )
    placement = Placement(trial.hosts, trial.ranks_per_host)
    counted = read_traffic(trial.folder / "traffic.json")
    note = "bytes of MPI messages, as Open MPI counted them between ranks"
    return PreRun(between_hosts(counted.size_byte, placement.host_of), time_of(trial), note)


def _by_counters(samples: RunSamples, trial: Trial, lab: Lab, state: State) -> PreRun:
    """What ports counted from the last reading before the trial to the first one after it, other traffic included."""
    topology = Topology.of(lab)
    received, sent = (_port_bytes(samples, trial, column) for column in ("in_byte", "out_byte"))
    hosts = {host: (end.device, end.port) for host, end in topology.homes.items()}
    places = {host: place for host, place in hosts.items() if place in received and place in sent}
    if not places:
        raise LabError(f"{samples.folder} has no counters of ports: check SNMP with `eeectl lab check`.")
    on = trunks_on(lab, state)
    channels = {}
    for number in on:
        link = topology.trunks[number]
        for end in (link.a, link.b):
            if (end.device, end.port) in sent:
                channels[number, end.device] = sent[end.device, end.port]
    network = Network.of(topology, off=frozenset(topology.trunks) - on)
    senders = senders_of(lab, state)
    trees = [tree_ways(network, group.root, group.links) for group in senders]
    counted = Counted(
        {host: received[place] for host, place in places.items()},
        {host: sent[place] for host, place in places.items()},
        channels,
    )
    homes = {host: end.device for host, end in topology.homes.items()}
    estimate = from_counters(senders, trees, homes, counted)
    note = (
        "estimated from counters of ports, which do not show pairs; the worst counter differs from the estimate by "
        f"{estimate.worst_share:.1%}"
    )
    return PreRun(estimate.byte_by_pair, time_of(trial), note)


def _port_bytes(samples: RunSamples, trial: Trial, column: str) -> dict[tuple[str, str], float]:
    """Bytes by port over all readings that enclose the trial; LabError if counters were not read after it."""
    rows = increments(samples.table("ports"), TABLES["ports"].keys, column)
    inside = rows.filter((pl.col("to_ns") > trial.begun_ns) & (pl.col("from_ns") < trial.ended_ns))
    sums = inside.group_by("switch", "port").agg(pl.col(column).sum(), pl.col("to_ns").max(), pl.col("from_ns").min())
    byte_by_port = {}
    for switch, port, amount, last_ns, first_ns in sums.iter_rows():
        if first_ns > trial.begun_ns or last_ns < trial.ended_ns:
            raise LabError(
                f"{samples.folder}: the counters of {switch} were not read before and after the program, which ran for "
                f"{trial.window_s:.3g} s: make it longer than the period of sampling, or use --traffic messages."
            )
        byte_by_port[switch, port] = float(amount)
    return byte_by_port
