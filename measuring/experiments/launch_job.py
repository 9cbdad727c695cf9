"""What a launch runs, where, and how: decided before anything is sent to a node."""

import contextlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from eee_testbed.benchmarks.figure_sets import NOTHING_MORE, FigureReader
from eee_testbed.benchmarks.program import Launch, Parameters, Placement, Program, Unfit
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Host, Lab
from eee_testbed.measuring.experiments import mpi_calls, mpi_trace
from eee_testbed.measuring.experiments.launchers.table import OPENMPI, Choice
from eee_testbed.measuring.experiments.output_file import OutputFile
from eee_testbed.measuring.experiments.preloads import Preload

OUTPUT: Final = "program.out"
_ERRORS: Final = "program.err"
Now = Callable[[], int]
"""The run's clock: UTC in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Keepalive:
    """How often a keeper hears from here, and after how long a silence it ends its job, s."""

    every_s: float = 2.0
    linger_s: float = 20.0


@dataclass(frozen=True, slots=True)
class LaunchSetup:
    """How a program is run. `folder` is created if missing, and output of an earlier program in it replaced.

    `timed` is entered when all nodes are ready, or all ranks where the program says so (`Launch.says_ready`), and left
    when the launcher has ended, before the nodes are cleared up. `choice`: the launcher.
    """

    folder: Path
    timeout_s: float
    traffic: bool = False
    trace: bool = False
    figures: FigureReader = NOTHING_MORE
    now: Now = time.time_ns
    timed: contextlib.AbstractContextManager[object] = field(default_factory=contextlib.nullcontext)
    keepalive: Keepalive = Keepalive()
    choice: Choice = OPENMPI


@dataclass(frozen=True, slots=True)
class Job:
    """What to run: `name` marks its processes on all nodes."""

    program: str
    launch: Launch
    placement: Placement
    hosts: tuple[Host, ...]
    setup: LaunchSetup
    output: OutputFile
    errors: OutputFile
    traffic: bool
    trace: bool
    calls: bool
    name: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def results(self) -> tuple[str, ...]:
        """Patterns of the files that are fetched as results."""
        return tuple(filter(None, (self.launch.result, *self.setup.figures.results)))

    @property
    def preloads(self) -> tuple[Preload, ...]:
        """The counter first: it calls the recorder's functions, and the recorder MPI's."""
        return (*([mpi_calls.COUNTER] if self.counted else []), *([self.recorder] if self.trace else []))

    @property
    def recorder(self) -> Preload:
        """The recorder of calls, made for the launcher's MPI."""
        return mpi_trace.recorder(self.setup.choice.launcher.mpicc)

    @property
    def counted(self) -> bool:
        """Whether the counter of calls is loaded: asked for, or to know when MPI ran where no loop is reported."""
        return self.calls or (self.launch.monitored and not self.launch.says_ready)


def job_of(lab: Lab, program: Program, parameters: Parameters, placement: Placement, setup: LaunchSetup) -> Job:
    """LabError for an unknown host, or a placement that does not fit the program."""
    hosts = hosts_of(lab, placement)
    placement = replace(placement, addresses=tuple(host.data_address for host in hosts))
    try:
        spec = program.launch(parameters, placement)
    except Unfit as error:
        raise LabError(f"{program.name}: {error}") from error
    calls = setup.traffic and spec.monitored
    return Job(
        program.name,
        spec,
        placement,
        hosts,
        setup,
        OutputFile(setup.folder / OUTPUT),
        OutputFile(setup.folder / _ERRORS),
        traffic=calls and setup.choice.launcher.counts_messages,
        trace=setup.trace and spec.monitored,
        calls=calls,
    )


def hosts_of(lab: Lab, placement: Placement) -> tuple[Host, ...]:
    """The hosts of a placement; LabError if one is unknown or listed twice, or if no rank is left to run."""
    known = {host.name: host for host in lab.hosts}
    for name in placement.hosts:
        if name not in known:
            raise LabError(f"lab {lab.name} has no host '{name}': it has {', '.join(known) or 'none'}.")
    if len(set(placement.hosts)) < len(placement.hosts):
        raise LabError("a host is listed twice: list it once and increase the ranks per host.")
    if not placement.hosts or placement.ranks_per_host < 1:
        raise LabError("a program needs at least one host with one rank: give hosts and ranks per host.")
    return tuple(known[name] for name in placement.hosts)
