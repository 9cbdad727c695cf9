"""One trial's measured thing: a program, a probe, or a window in which only the sampling goes on."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Final

from controller.experiments.blocks import Slot
from controller.experiments.experiment import Experiment
from controller.experiments.launching import launch
from controller.experiments.probing import probe
from controller.experiments.raw_files import RawFile
from controller.experiments.recordings import recording
from controller.experiments.validation import probe_of, program_of
from controller.transports.agent_streams import AgentStream
from controller.transports.hosts import Program, run_on_hosts
from lab.errors import DeviceError, Unreachable
from lab.model import Host, Lab
from record.run_clock import RunClock
from record.trial_events import TrialBegun

_NS: Final = 1_000_000_000
_PATIENCE_S: Final = 60
_PROGRAM: Final = Program(
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
    """What came of it; `why` is a sentence if its answer was wrong."""

    begun_ns: int
    ended_ns: int
    answer_right: bool | None = None
    why: str = ""
    figures: tuple[tuple[str, float, str], ...] = ()
    notes: tuple[str, ...] = ()
    loop_ns: tuple[int, int] | None = None
    """As `benchmarks.program.Answer` has it."""


def begun_of(experiment: Experiment, slot: Slot, trial: int) -> TrialBegun:
    """What a trial is, before it starts."""
    measure = experiment.measure
    told: dict[str, Any] = {"program": measure.what, "hosts": measure.hosts}
    if measure.program is not None:
        program, parameters, placement = program_of(experiment, slot.levels)
        told = {"program": program.name, "parameters": parameters.model_dump(mode="json"), "hosts": placement.hosts}
        told["ranks_per_host"] = placement.ranks_per_host
    elif measure.probe is not None:
        run = probe_of(experiment, slot.levels)
        told |= {"parameters": run.model_dump(mode="json", by_alias=True), "hosts": (run.source, run.target)}
    elif measure.window is not None:
        told["parameters"] = measure.window.model_dump(mode="json") | {"load_mbps": _load_mbps(experiment, slot)}
    return TrialBegun(trial, slot.number, slot.block, slot.repetition, slot.levels, measure.what, **told)


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


def await_reach(hosts: Sequence[Host], patience_s: float = _PATIENCE_S) -> None:
    """Let the first host ask the others until all have answered; DeviceError if it is not there, or one is silent.

    Simplification: pairs without the first host are not asked; where the first reaches all over trees, they do too.
    """
    first, *others = hosts
    addresses = {host.data_address: host.name for host in others}
    asked = {"addresses": list(addresses), "patience_s": patience_s}
    answer = run_on_hosts(_PROGRAM, {first: asked}, timeout_s=patience_s + 30)[first.name]
    if isinstance(answer, DeviceError):
        raise answer
    if answer:
        name = addresses[answer[0]]
        raise Unreachable(
            name, f"does not answer echoes of {first.name} after {patience_s:g} s: look at the way there."
        )


def measure(experiment: Experiment, lab: Lab, slot: Slot, folder: Path, clock: RunClock) -> Measured:
    """Do it, with its raw files in `folder`; a LabError if it did not come to its end."""
    hosts = hosts_of(experiment, lab, slot)
    with recording(hosts, experiment.recordings, folder):
        if experiment.measure.program is not None:
            return _program(experiment, lab, slot, folder, clock)
        if experiment.measure.probe is not None:
            return _probe(experiment, lab, slot, folder, clock)
        return _window(experiment, hosts, slot, folder, clock)


def _program(experiment: Experiment, lab: Lab, slot: Slot, folder: Path, clock: RunClock) -> Measured:
    program, parameters, placement = program_of(experiment, slot.levels)
    run = experiment.measure.program
    timeout_s = run.timeout_s if run is not None else 0.0
    traffic = experiment.recordings.traffic
    done = launch(
        lab, program, parameters, placement, timeout_s=timeout_s, folder=folder, traffic=traffic, now=clock.now_ns
    )
    figures = tuple((figure.name, figure.value, figure.unit) for figure in done.answer.figures)
    why = "" if done.answer.right is not False else f"the answer is wrong: {done.answer.why or 'it says no more'}"
    return Measured(done.begun_ns, done.ended_ns, done.answer.right, why, figures, done.notes, done.answer.loop_ns)


def _probe(experiment: Experiment, lab: Lab, slot: Slot, folder: Path, clock: RunClock) -> Measured:
    run = probe_of(experiment, slot.levels)
    seed = experiment.seed * 1_000_003 + slot.number
    user = experiment.recordings.user
    source, target = lab.host(run.source), lab.host(run.target)
    done = probe(source, target, run, folder, seed=seed, now=clock.now_ns, user=user)
    figures = done.figures()
    why = ""
    if done.carrier_changes:
        why = f"the link of {source.name} changed {done.carrier_changes} times meanwhile."
    elif figures[0][0] != "rtt":
        why = f"{target.name} answered no echo: look at the way from {source.name} to it."
    return Measured(done.begun_ns, done.ended_ns, None, why, figures)


def _window(experiment: Experiment, hosts: tuple[Host, ...], slot: Slot, folder: Path, clock: RunClock) -> Measured:
    window = experiment.measure.window
    if window is None:
        raise AssertionError("a window is measured")
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
    """Each host sends to the next one, the last one to the first."""
    with ExitStack() as stack:
        for host, target in zip(hosts, (*hosts[1:], *hosts[:1]), strict=True) if mbps else ():
            file = stack.enter_context(RawFile(folder / f"load-{host.name}.jsonl"))
            words = [target.data_address, "--mbps", f"{mbps:g}"]
            stack.enter_context(AgentStream(host, "udp_load", words, file.append, user))
        yield
