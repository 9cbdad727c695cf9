"""A closed loop on the toy lab: its counters show what hosts send over the trees that the switches really have."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.model.state import Draft, State
from eee_testbed.controller.planning.broadcast import is_up
from eee_testbed.controller.planning.regulated import senders_of
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.measuring.experiments.experiment import Experiment, Measure, Window
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.regulating.epoch_counters import EpochCounters, EpochCounts, PortCount
from eee_testbed.measuring.regulating.loop import ClosedLoop
from eee_testbed.measuring.regulating.looped_network import LoopedNetwork
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.store import Run, read_events
from eee_testbed.regulation.closed_loop import Settings
from eee_testbed.regulation.network import Network, path_of, tree_ways
from tests.support.labs.toy_lab import Quiet, ToyLab

EPOCH_S = 5.0
FULL_BYTE_S = 125_000_000.0
Load = Mapping[tuple[str, str], float]
"""Bytes a second by source and destination host."""

EXPERIMENT = Experiment(name="looped", lab="toy", measure=Measure(idle=Window(window_s=60)))


@dataclass
class LoopedToy:
    """A context: a loop on a toy lab, epoch by epoch."""

    lab: Lab
    toys: ToyLab
    folder: Path
    settings: Settings = field(default_factory=Settings)
    cut: set[int] = field(default_factory=set)
    """Trunks whose cable is cut."""

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self.lock = self._stack.enter_context(Lock(StateFolder.of(self.lab), "regulate"))
        self.run = self._stack.enter_context(Run.create(self.folder, "looped", {"lab": self.lab.name}))
        self.progress = Quiet()
        self.controller = LabController(
            self.lab, EXPERIMENT, self.run, self.toys.backend(), self.lock, self.progress, in_loop=True
        )
        self.controller.open()
        self.home = self.controller.home
        self.network = LoopedNetwork.of(self.lab, self.home)
        counters = EpochCounters(self.network.places())
        self.loop = ClosedLoop(self.network, self.controller, counters, self.settings, EPOCH_S)
        self.loop.decides.set()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def counts(self, load: Load) -> EpochCounts:
        """What the ports of the toy switches would count, by the trees that they have."""
        return counted(self.lab, self.toys.state, self.network.network, load, self.cut)

    def epochs(self, count: int, load: Load | None = None) -> None:
        """So many epochs; after each the trees run over links that are up."""
        for _ in range(count):
            self.loop.step(self.counts(load or {}))

    def until(self, reached: Any, load: Load | None = None, most: int = 200) -> None:
        """Epochs until something holds."""
        for _ in range(most):
            if reached():
                return
            self.epochs(1, load)
        raise AssertionError(f"not reached in {most} epochs")

    def events(self, *kinds: EventKind) -> list[dict[str, Any]]:
        """What was recorded."""
        self.run.flush()
        return [event for event in read_events(self.run.folder) if event["kind"] in kinds]

    def used(self) -> frozenset[int]:
        """The trunks of the trees that the switches have now."""
        return frozenset().union(*(group.links for group in senders_of(self.lab, self.toys.state)))


def shut(lab: Lab, state: State) -> frozenset[int]:
    """Trunks that are shut at an end."""
    topology, draft = Topology.of(lab), Draft(state)
    return frozenset(number for number in topology.trunks if not is_up(topology, draft, number))


def counted(lab: Lab, state: State, network: Network, load: Load, cut: set[int]) -> EpochCounts:
    """Rates of all ports of hosts and trunks. Frames that meet a cut cable are lost there."""
    topology, off = Topology.of(lab), shut(lab, state)
    received: dict[tuple[str, str], float] = {}
    sent: dict[tuple[str, str], float] = {}

    def add(rates: dict[tuple[str, str], float], end: Any, rate: float) -> None:
        rates[end.device, end.port] = rates.get((end.device, end.port), 0.0) + rate

    for group in senders_of(lab, state):
        ways = tree_ways(network, group.root, group.links)
        for (source, target), rate in load.items():
            if source not in group.hosts:
                continue
            home = topology.homes[target]
            add(received, topology.homes[source], rate)
            for number, here in reversed(path_of(ways, group.root, home.device)):
                link = topology.trunks[number]
                near, far = (link.a, link.b) if link.a.device == here else (link.b, link.a)
                add(sent, near, rate)
                if number in cut:
                    break
                add(received, far, rate)
            else:
                add(sent, home, rate)
    ends = [end for link in lab.links for end in (link.a, link.b)]
    down = {
        (end.device, end.port)
        for number, link in topology.trunks.items()
        if number in off or number in cut
        for end in (link.a, link.b)
    }
    ports = {
        (end.device, end.port): PortCount(
            received.get((end.device, end.port), 0.0),
            sent.get((end.device, end.port), 0.0),
            (end.device, end.port) not in down,
        )
        for end in ends
    }
    return EpochCounts(ports)
