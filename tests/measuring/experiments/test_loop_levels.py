"""A closed loop as a level of a regulation: what goes with it, and the lab that it begins from."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.rounds import LinkReport
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.planning.regulated import senders_of, trunks_on
from eee_testbed.controller.planning.wishes import LinkOff, Regulated
from eee_testbed.controller.transports.port_watch import LinkEvent
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.yaml_source import YamlSource
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.experiments.level_wishes import level_of, loop_at
from eee_testbed.measuring.experiments.session import RunOptions, run_new
from eee_testbed.record.store import Run
from tests.support.labs.toy_lab import Quiet, ToyLab, small_lab, trees_state


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))


PROGRAM = {"name": "alltoall", "parameters": {"iterations": 1, "array_byte": 64}, "hosts": ["n1", "n2"]}


def _content(**choices: dict[str, Any]) -> dict[str, Any]:
    factor = {"kind": "regulation", "levels": list(choices), "choices": choices}
    return {"name": "x", "factors": {"regulation": factor}, "measure": {"program": PROGRAM}}


def test_a_loop_has_the_papers_settings_unless_others_are_given() -> None:
    experiment = Experiment.model_validate(_content(auto={"loop": {"epoch_s": 8}}))
    loop = loop_at(experiment, {"regulation": "auto"})
    assert loop is not None
    assert (loop.epoch_s, loop.high_water_mark, loop.deactivation_epochs) == (8, 0.75, 10)
    assert loop_at(experiment, {}) is None


@pytest.mark.parametrize("level", [{}, {"loop": {}, "on": [4]}, {"loop": {}, "hold_us": 0}])
def test_a_level_has_trees_or_a_loop_alone(level: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="has either `trees`, or `loop` and nothing else"):
        Experiment.model_validate(_content(auto=level))


def test_what_a_loop_needs_beside_it_is_checked() -> None:
    content = _content(auto={"loop": {"epoch_s": 2}})
    with pytest.raises(ValidationError, match=r"needs 4 samples an epoch: reduce sampling.period_s"):
        Experiment.model_validate(content)
    content |= {"sampling": {"period_s": 0.5}}
    assert Experiment.model_validate(content)
    with pytest.raises(ValidationError, match="no other factor may change the lab"):
        Experiment.model_validate(content | {"factors": {**content["factors"], "eee": ["on", "off"]}})
    with pytest.raises(ValidationError, match="a closed loop needs a program"):
        Experiment.model_validate(content | {"measure": {"idle": {"window_s": 60}}})


class _AllUp:
    """Toy switches have no agents."""

    def is_up(self, _port: str) -> bool:
        return True

    def wait_for(self, _port: str, *, up: bool, timeout_s: float, since_ns: int = 0) -> LinkEvent | None:
        raise AssertionError((up, timeout_s, since_ns))


def test_the_loop_begins_with_the_lab_as_it_was_before_the_run(tmp_path: Path) -> None:
    lab = small_lab(tmp_path / "toy")
    toys = ToyLab(lab, trees_state(lab))
    home = toys.state
    on = trunks_on(lab, home)
    hosts = tuple(tuple(group.hosts) for group in senders_of(lab, home))
    ring = [link.number for link in lab.trunks()]
    kept = frozenset((ring[0], ring[2]))
    less = Regulated(tuple((group, kept) for group in hosts), on - {ring[1]}, frozenset({ring[1]}))
    choices = {"less": level_of(less).model_dump(mode="json"), "auto": {"loop": {}}}
    experiment = Experiment.model_validate(_content(**choices)).model_copy(update={"settle_s": 0})
    waits: list[str] = []

    @contextmanager
    def waiting() -> Iterator[None]:
        waits.append("begun")
        yield
        waits.append("ended")

    @contextmanager
    def all_up(*_: object) -> Iterator[_AllUp]:
        waits.append("links")
        yield _AllUp()

    with ExitStack() as stack:
        lock = stack.enter_context(Lock(StateFolder.of(lab), "run"))
        run = stack.enter_context(Run.create(tmp_path / "runs", "x", {"lab": lab.name}))
        controller = LabController(
            lab, experiment, run, toys.backend(), lock, Quiet(), waiting=waiting, watch_ports=all_up
        )
        controller.open()
        assert controller.set_levels({"regulation": "less"})
        assert not controller.set_levels({"regulation": "less"})
        assert waits == ["begun", "ended"], "a link that went off is not waited for"
        assert trunks_on(lab, toys.state) == on - {ring[1]}
        assert controller.set_levels({"regulation": "auto"})
        assert toys.state == home
        assert waits[2] == "begun"
        assert waits[-1] == "ended"
        assert set(waits[3:-1]) == {"links"}
        assert controller.has({"regulation": "auto"})
        controller.hand_over()
        assert not controller.has({"regulation": "auto"}), "the loop may have changed it"
        assert controller.set_levels({"regulation": "less"})
        assert "restored to its state before the run" in controller.restore()
    assert toys.state == home
    assert toys.harms == []


class _NothingSeen:
    def report(self) -> LinkReport:
        return LinkReport((), ())


def test_a_loop_beside_a_trial_waits_for_links_at_the_pace_of_the_trial(tmp_path: Path) -> None:
    """While a trial is timed, nothing may let a lab's time go faster; between trials every round's links may."""
    lab = small_lab(tmp_path / "toy")
    toys = ToyLab(lab, trees_state(lab))
    experiment = Experiment.model_validate(_content(auto={"loop": {}})).model_copy(update={"settle_s": 0})
    waits: list[str] = []

    @contextmanager
    def watch(*_: object) -> Iterator[_NothingSeen]:
        yield _NothingSeen()

    @contextmanager
    def waiting() -> Iterator[None]:
        waits.append("begun")
        yield

    link = next(lab.trunks())
    with ExitStack() as stack:
        lock = stack.enter_context(Lock(StateFolder.of(lab), "run"))
        run = stack.enter_context(Run.create(tmp_path / "runs", "x", {"lab": lab.name}))
        backend = toys.backend(watch_links=watch)
        controller = LabController(lab, experiment, run, backend, lock, Quiet(), waiting=waiting)
        controller.open()
        controller.set_levels({"regulation": "auto"})

        wish = LinkOff(link.name)
        controller.hand_over()
        assert controller.change("a link off", wish)
        assert controller.go_home()
        assert waits == []
        assert controller.change("a link off", wish)
        controller.restore()
        assert waits
    assert toys.harms == []


def test_a_command_that_runs_no_loops_says_which_one_does(tmp_path: Path) -> None:
    small_lab(tmp_path / "toy")
    content = _content(auto={"loop": {}}) | {"lab": str(tmp_path / "toy")}
    experiment = Experiment.model_validate(content)
    source = YamlSource("a file", content)
    runs = tmp_path / "runs"
    with pytest.raises(LabError, match="a level of this experiment is a closed loop: run it with `eeectl run`"):
        run_new(experiment, source, RunOptions(runs, quiet=True), lambda _: None)
    assert not runs.exists()
