"""Measure one trial: run a program or a probe, or wait while devices are sampled."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Final

from eee_testbed.benchmarks.figure_sets import NOTHING_MORE
from eee_testbed.controller.transports.agent_streams import AgentStream, at_once
from eee_testbed.controller.transports.hosts import Program, run_on_hosts
from eee_testbed.lab.errors import DeviceError, Unreachable
from eee_testbed.lab.model import Host, Lab
from eee_testbed.measuring.experiments.awake_stream import AwakeStream
from eee_testbed.measuring.experiments.blocks import Slot
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.launch_job import LaunchSetup
from eee_testbed.measuring.experiments.launchers.table import OPENMPI, chosen
from eee_testbed.measuring.experiments.launching import launch
from eee_testbed.measuring.experiments.probing import probe
from eee_testbed.measuring.experiments.raw_files import RawFile
from eee_testbed.measuring.experiments.recordings import recording
from eee_testbed.measuring.experiments.validation import probe_of, program_of
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.trial_events import TrialBegun

_NS: Final = 1_000_000_000
_REACH_WITHIN_S: Final = 60
_PING_UNTIL_ANSWERED: Final = Program(
    "reach",
    """
import json, subprocess, sys, time
given = json.loads(sys.argv[1])
end_s, silent = time.monotonic() + given["patience_s"], list(given["addresses"])
while silent and time.monotonic() < end_s:
    silent = [one for one in silent if subprocess.call(["ping", "-q", "-n", "-c", "1", "-W", "1", one],
              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
print(json.dumps(silent))
""",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a trial measured; `why` is a sentence if its answer was wrong."""

    begun_ns: int
    ended_ns: int
    answer_right: bool | None = None
    why: str = ""
    figures: tuple[tuple[str, float, str], ...] = ()
    notes: tuple[str, ...] = ()
    loop_ns: tuple[int, int] | None = None
    unmatched: str = ""
    """Both as in `benchmarks.program.Answer`."""


def begun_of(experiment: Experiment, slot: Slot, trial: int) -> TrialBegun:
    """The event that announces a trial."""
    measure = experiment.measure
    fields: dict[str, Any] = {"program": measure.what, "hosts": measure.hosts}
    if measure.program is not None:
        program, parameters, placement = program_of(experiment, slot.levels)
        fields = {"program": program.name, "parameters": parameters.model_dump(mode="json"), "hosts": placement.hosts}
        fields["ranks_per_host"] = placement.ranks_per_host
    elif measure.probe is not None:
        run = probe_of(experiment, slot.levels)
        fields |= {"parameters": run.model_dump(mode="json", by_alias=True), "hosts": (run.source, run.target)}
    elif measure.window is not None:
        fields["parameters"] = measure.window.model_dump(mode="json") | {"load_mbps": _load_mbps(experiment, slot)}
    return TrialBegun(trial, slot.number, slot.block, slot.repetition, slot.levels, measure.what, **fields)


def hosts_of(experiment: Experiment, lab: Lab, slot: Slot) -> tuple[Host, ...]:
    """The hosts of a trial."""
    if experiment.measure.program is not None:
        names = program_of(experiment, slot.levels)[2].hosts
    elif experiment.measure.probe is not None:
        run = probe_of(experiment, slot.levels)
        names = (run.source, run.target)
    else:
        names = experiment.measure.hosts
    return tuple(lab.host(name) for name in names)


def await_reach(hosts: Sequence[Host]) -> None:
    """Wait until the first host can ping all others: links are up, switches forward, addresses are resolved.

    DeviceError if the first host is unreachable, or if another one does not answer in time. Simplification: pairs
    without the first host are not tested; over trees they reach each other if the first host reaches them all.
    """
    first, *others = hosts
    addresses = {host.data_address: host.name for host in others}
    request = {"addresses": list(addresses), "patience_s": _REACH_WITHIN_S}
    answer = run_on_hosts(_PING_UNTIL_ANSWERED, {first: request}, timeout_s=_REACH_WITHIN_S + 30)[first.name]
    if isinstance(answer, DeviceError):
        raise answer
    if answer:
        name = addresses[answer[0]]
        raise Unreachable(
            name, f"does not answer pings from {first.name} after {_REACH_WITHIN_S:g} s: check the path to it."
        )


def measure(
    experiment: Experiment,
    lab: Lab,
    slot: Slot,
    folder: Path,
    clock: RunClock,
    timed: AbstractContextManager[object] | None = None,
) -> Measured:
    """Measure a trial, with its raw files in `folder`; LabError if it does not reach its end.

    Within `timed` is only what is measured, not what is prepared and cleared up around it.
    """
    hosts = hosts_of(experiment, lab, slot)
    timed = nullcontext() if timed is None else timed
    with recording(hosts, experiment.recordings, folder):
        if experiment.measure.program is not None:
            return _program(experiment, lab, slot, folder, clock, timed)
        if experiment.measure.probe is not None:
            return _probe(experiment, lab, slot, folder, clock, timed)
        with timed:
            return _window(experiment, hosts, slot, folder, clock)


def _program(
    experiment: Experiment, lab: Lab, slot: Slot, folder: Path, clock: RunClock, timed: AbstractContextManager[object]
) -> Measured:
    program, parameters, placement = program_of(experiment, slot.levels)
    run = experiment.measure.program
    setup = LaunchSetup(
        folder,
        run.timeout_s if run is not None else 0.0,
        traffic=experiment.recordings.traffic,
        trace=experiment.recordings.trace,
        figures=run.reader if run is not None else NOTHING_MORE,
        now=clock.now_ns,
        timed=timed,
        choice=OPENMPI if run is None else chosen(run.launcher, run.launcher_words, os.environ),
    )
    done = launch(lab, program, parameters, placement, setup)
    figures = tuple((figure.name, figure.value, figure.unit) for figure in done.answer.figures)
    why = (
        ""
        if done.answer.right is not False
        else f"the answer is wrong: {done.answer.why or 'the program gives no reason'}"
    )
    answer = done.answer
    return Measured(
        done.begun_ns, done.ended_ns, answer.right, why, figures, done.notes, answer.loop_ns, answer.unmatched
    )


def _probe(
    experiment: Experiment, lab: Lab, slot: Slot, folder: Path, clock: RunClock, timed: AbstractContextManager[object]
) -> Measured:
    run = probe_of(experiment, slot.levels)
    seed = experiment.seed * 1_000_003 + slot.number
    user = experiment.recordings.user
    source, target = lab.host(run.source), lab.host(run.target)
    stream = None
    if run.stream_from:
        stream = AwakeStream(lab.host(run.stream_from), (source, target), run.stream_every_us, folder, user)
    with stream or nullcontext():
        done = probe(source, target, run, folder, seed=seed, now=clock.now_ns, user=user, timed=timed)
    figures = done.figures()
    why = "" if stream is None else stream.why_late()
    if done.carrier_changes:
        why = f"the link of {source.name} changed {done.carrier_changes} times during the probe: check its cable."
    elif figures[0][0] != "rtt":
        why = f"{target.name} answered no echo: check the path from {source.name} to it."
    return Measured(done.begun_ns, done.ended_ns, None, why, figures)


def _window(experiment: Experiment, hosts: tuple[Host, ...], slot: Slot, folder: Path, clock: RunClock) -> Measured:
    window = experiment.measure.window
    if window is None:
        raise AssertionError("the experiment measures no window")
    with _loaded(hosts, _load_mbps(experiment, slot), folder, experiment.recordings.user):
        never = Event()
        clock.wait_until(clock.now_ns() + round(window.settle_s * _NS), never)
        begun_ns = clock.now_ns()
        ended_ns = begun_ns + round(window.window_s * _NS)
        clock.wait_until(ended_ns, never)
    return Measured(begun_ns, ended_ns)


def _load_mbps(experiment: Experiment, slot: Slot) -> float:
    return sum(float(slot.levels[name]) for name in experiment.of_kind("load_mbps"))


@contextmanager
def _loaded(hosts: tuple[Host, ...], mbps: float, folder: Path, user: str) -> Iterator[None]:
    """Send traffic from each host to the next, and from the last to the first."""
    with ExitStack() as files:
        streams = []
        for host, target in zip(hosts, (*hosts[1:], *hosts[:1]), strict=True) if mbps else ():
            file = files.enter_context(RawFile(folder / f"load-{host.name}.jsonl"))
            words = [target.data_address, "--mbps", f"{mbps:g}"]
            streams.append(AgentStream(host, "udp_load", words, file.append, user))
        with at_once(streams):
            yield
