"""Toy switches whose ports have descriptions, and which may take a while for an order; a run on them to be killed."""

# ruff: noqa: ARG002  (a protocol gives its methods what a toy does not need)
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.port_proof import PortProofs, restore_descriptions
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import Backend
from eee_testbed.controller.drivers.driver import Answers, Command, Line, Query, Show
from eee_testbed.controller.transports.port_watch import LinkEvent
from eee_testbed.controller.transports.session import Session
from eee_testbed.lab.model import Lab, Switch
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.record.store import Run
from eee_testbed.twin.machine.namespaces import CLONE_NEWNS, unshare
from tests.support.labs.toy_lab import Quiet, Saved, ToyDriver, ToyLab, ToySession

_DESCRIPTIONS = Show("descriptions")


class DescribedDriver(ToyDriver):
    """A toy driver that has descriptions of ports too."""

    description_query: ClassVar[Show] = _DESCRIPTIONS

    def descriptions(self, switch: Switch, answers: Answers) -> Mapping[str, str]:
        lines: dict[str, str] = json.loads(str(answers[_DESCRIPTIONS]))
        return lines

    def describe(self, switch: Switch, lines: Mapping[str, str]) -> tuple[Command, ...]:
        return tuple(Line(json.dumps({"describe": port, "line": line})) for port, line in lines.items())


@dataclass
class DescribedToy(ToyLab):
    """`lines`: descriptions by switch and port, in `file` beside the configurations. `order_s`: what an order takes."""

    lines: dict[str, dict[str, str]] = field(default_factory=dict)
    order_s: float = 0.0

    def connect(self, switch: Switch) -> "DescribedSession":
        return DescribedSession(self, switch)

    def execute(self, name: str, order: Line) -> None:
        if self.order_s:
            threading.Event().wait(self.order_s)
        fields = json.loads(order.text)
        if "describe" not in fields:
            super().execute(name, order)
            return
        with self._guard:
            number, self.orders = self.orders, self.orders + 1
            self.lines[name][fields["describe"]] = fields["line"]
            self._write()
            if self.troubles.get(number) == "die":
                os.kill(os.getpid(), signal.SIGKILL)

    def _write(self) -> None:
        super()._write()
        if self.file is not None:
            fresh = self.file.with_suffix(".lines.new")
            fresh.write_text(json.dumps(self.lines), encoding="utf-8")
            fresh.rename(self.file.with_suffix(".lines"))

    def described_backend(self) -> Backend:
        """With a proof of ports as the real one: what was there is on the disk first, then marks, then it again."""
        return Backend(
            self.connect,
            lambda _: DescribedDriver(),
            self.abilities,
            prove_ports=_prove,
            patience_s=20.0,
            pauses_s=(0.001,),
            fresh_s=0.0,
        )


def _prove(switch: Switch, session: Session, proofs: PortProofs) -> None:
    driver = DescribedDriver()
    restore_descriptions(switch, session, proofs, driver)
    if proofs.proved(switch.name):
        return
    before = dict(driver.descriptions(switch, session.ask([driver.description_query])))
    proofs.begin(switch.name, before)
    marks = {port: f"mark {number}" for number, port in enumerate(before)}
    for lines in (marks, before):
        for command in driver.describe(switch, lines):
            session.send(command)
    proofs.end(switch.name, {port: number for number, port in enumerate(before, 1)})


@dataclass
class DescribedSession(ToySession):
    """A conversation with one of them."""

    def ask(self, queries: Sequence[Query]) -> Answers:
        toys = self.toys
        assert isinstance(toys, DescribedToy)
        described = [query for query in queries if query == _DESCRIPTIONS]
        answers = dict(super().ask([query for query in queries if query != _DESCRIPTIONS]))
        return answers | dict.fromkeys(described, json.dumps(toys.lines[self.switch.name]))


def described(lab: Lab, initial: Any, file: Path, **others: Any) -> DescribedToy:
    """Switches with a description at every port."""
    lines = {one.name: {port.name: f"to {one.name} {port.name}" for port in one.ports} for one in lab.switches}
    return DescribedToy(lab, initial, file=file, lines=lines, **others)


def left_by(lab: Lab, file: Path) -> DescribedToy:
    """The switches as a process that was killed left them."""
    saved = Saved.model_validate_json(file.read_text(encoding="utf-8"))
    lines = json.loads(file.with_suffix(".lines").read_text(encoding="utf-8"))
    return DescribedToy(lab, saved.running, saved.startup, file=file, lines=lines)


class AlwaysUp:
    """A watch on links that are up at once: a toy has no agent."""

    def is_up(self, port: str) -> bool:
        return True

    def wait_for(self, port: str, *, up: bool, timeout_s: float, since_ns: int = 0) -> LinkEvent | None:
        return None


@contextmanager
def always_up(_switch: Switch, _ports: Sequence[str]) -> Iterator[AlwaysUp]:
    yield AlwaysUp()


def run_experiment(toys: DescribedToy, runs: Path, experiment: Experiment, begun: Callable[[Path], None]) -> None:
    """A run that sets the lab to each level of its only factor, then restores it. `begun` gets its folder."""
    with Lock(StateFolder.of(toys.lab), f"run {experiment.name}") as lock:
        facts = {"what": "experiment", "lab": toys.lab.name, "lab_folder": toys.lab.folder}
        run = Run.create(runs, experiment.name, facts)
        begun(run.folder)
        controller = LabController(
            toys.lab, experiment, run, toys.described_backend(), lock, Quiet(), watch_ports=always_up
        )
        controller.begin()
        controller.open()
        for factor in experiment.factors.values():
            for level in factor.levels:
                controller.set_levels(dict.fromkeys(experiment.factors, level))
        controller.restore()
        controller.end()
        run.close()


def spoil(folder: Path, condition: str) -> None:
    """Bring a run's folder into a condition; "full" and "read-only" for this process alone, which must be root's."""
    match condition:
        case "gone":
            subprocess.run(["rm", "-r", str(folder)], check=True)
        case "damaged":
            for path in [path for path in folder.rglob("*") if path.is_file()]:
                path.write_bytes(b"\0\xff{" * 9)
        case "full" | "read-only":
            unshare(CLONE_NEWNS)
            kept = folder.with_name("kept")
            subprocess.run(["mount", "--make-rprivate", "/"], check=True)
            subprocess.run(["cp", "-a", str(folder), str(kept)], check=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], check=True)
            subprocess.run(["cp", "-a", f"{kept}/.", str(folder)], check=True)
            if condition == "read-only":
                subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
            else:
                _fill(folder / "filler")


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return
