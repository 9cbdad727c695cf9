"""Runs on toy switches that are killed at an order or at a time, and what a person finds who comes back."""

import os
import signal
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from eee_testbed.controller.applying.apply import require_rest
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import at_work
from eee_testbed.controller.model.state import diff
from eee_testbed.eeectl.lab_status import is_pending, report_of
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.restoring import clear_up
from tests.support.labs.described_toy import DescribedToy, described, left_by, run_experiment, spoil
from tests.support.labs.toy_lab import Quiet, trees_state

TENTHS_S = tuple(tenth / 10 for tenth in range(1, 31))
"""Times at which runs are killed, seconds after their begin."""

_LAST_S = 3.5  # so long a run's orders take then
CONDITIONS = ("intact", "full", "read-only", "gone", "damaged")
EXPERIMENT = Experiment.model_validate(
    {
        "name": "night",
        "factors": {"eee": {"links": ["n1"], "levels": ["on", "off"]}},
        "measure": {"probe": {"from": "n1", "to": "n2"}},
    }
).model_copy(update={"settle_s": 0})


def in_child(act: Callable[[], None]) -> int:
    """Run a function in a process of its own; returns its exit status, or minus the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except BaseException:  # noqa: BLE001 - a fork must not go on as the test runner
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Scene:
    """A lab in one folder, with everything that is kept of it there."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.folder = lab, folder
        self.folder.mkdir(parents=True)
        self.switches = folder / "switches.json"
        self.home = trees_state(lab)

    def toys(self, **others: Any) -> DescribedToy:
        """Its switches as they were before any run; from now on this process keeps journals of this scene."""
        os.environ["EEE_CONTROLLER_DIR"] = str(self.folder / "kept")
        return described(self.lab, self.home, self.switches, **others)

    def run(self, toys: DescribedToy) -> None:
        """A whole run on them."""

        def begun(run: Path) -> None:
            (self.folder / "name").write_text(str(run), encoding="utf-8")

        run_experiment(toys, self.folder / "runs", EXPERIMENT, begun)

    @property
    def run_folder(self) -> Path:
        return Path((self.folder / "name").read_text(encoding="utf-8"))

    def killed_at(self, number: int) -> int:
        """How a run ends whose process is killed after an order."""
        toys = self.toys(troubles={number: "die"})
        return in_child(lambda: self.run(toys))

    def restored_after(self, condition: str) -> int:
        """0 if a person who comes back after the kill finds what was left, and gets the lab back."""
        os.environ["EEE_CONTROLLER_DIR"] = str(self.folder / "kept")
        return in_child(lambda: self._require_restored(condition))

    def _require_restored(self, condition: str) -> None:
        """In a child, as folders are spoiled for it alone."""
        before = described(self.lab, self.home, self.switches.with_name("unused")).lines
        left = left_by(self.lab, self.switches)
        folder = StateFolder.of(self.lab)
        if (self.folder / "name").exists():
            spoil(self.run_folder, condition)
        report = report_of(self.lab, folder, None)
        touched = left.lines != before or bool(diff(left.state, self.home))
        assert is_pending(report) or not touched, "nobody knows what was killed"
        assert {run["state"] for run in report["runs"]} <= {"killed"}
        with at_work(self.lab, left.described_backend(), "recover", Quiet(), left.stop) as work:
            for _ in clear_up(work, lambda _: False):
                pass
            require_rest(work)
        assert left.lines == before
        assert not diff(left.state, self.home)
        assert not left.harms
        after = report_of(self.lab, folder, None)
        assert not is_pending(after)
        assert not after["runs"]


def conditions() -> tuple[str, ...]:
    """Those into which this user can bring a folder."""
    return CONDITIONS if os.geteuid() == 0 else ("intact", "gone", "damaged")


def orders_of(lab: Lab, folder: Path) -> int:
    """How many orders a run sends that nothing interrupts."""
    scene = Scene(lab, folder)
    toys = scene.toys()
    scene.run(toys)
    return toys.orders


def killed_by_time(scenes: Sequence[Scene], orders: int) -> list[int]:
    """Runs of slow switches, all at once, each of which the kernel ends after its tenth of a second; how they ended.

    The kernel's timer ends a process as SIGKILL would. `orders`: how many a whole run sends.
    """
    pids = []
    for scene, time_s in zip(scenes, TENTHS_S, strict=True):
        toys = scene.toys(order_s=_LAST_S / orders)
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, time_s)
            try:
                scene.run(toys)
            finally:
                os._exit(0)
        pids.append(pid)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
