"""A run is killed at every order, and every 0.1 s of a slow change: the lab is restored, whatever became of its folder.

`evaluation/accuracy/killed_runs.py` does so for every condition of the folder at every moment; here they take turns.
"""

import json
import os
import signal
from pathlib import Path

import pytest

from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.run_notes import RunNote, RunNotes, note_of
from eee_testbed.controller.applying.statefolder import StateFolder, digest_of
from eee_testbed.controller.applying.work import at_work
from eee_testbed.controller.model.state import diff
from eee_testbed.eeectl.lab_status import is_pending, report_of
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.experiments.restore_journal import IN_RUN
from eee_testbed.measuring.experiments.restoring import clear_up, finish_interrupted, restore_killed
from eee_testbed.measuring.experiments.session import lab_of_run
from eee_testbed.record.store import Run, RunFolder, read_facts
from tests.support.labs.described_toy import DescribedToy, left_by, run_experiment
from tests.support.labs.killed_run import EXPERIMENT, TENTHS_S, Scene, conditions, killed_by_time, orders_of
from tests.support.labs.toy_lab import Quiet, small_lab


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return small_lab(tmp_path / "toys")


@pytest.mark.slow
def test_killed_at_every_order_the_lab_is_restored_with_or_without_the_folder(lab: Lab, tmp_path: Path) -> None:
    count = orders_of(lab, tmp_path / "whole")
    assert count > 2 * len(lab.switches[0].ports), "descriptions are among them"
    for number in range(count):
        scene = Scene(lab, tmp_path / f"order {number}")
        assert scene.killed_at(number) == -signal.SIGKILL
        condition = conditions()[number % len(conditions())]
        assert scene.restored_after(condition) == 0, (number, condition)


@pytest.mark.slow
def test_killed_at_every_tenth_of_a_second_the_lab_is_restored(lab: Lab, tmp_path: Path) -> None:
    scenes = [Scene(lab, tmp_path / f"after {time_s} s") for time_s in TENTHS_S]
    assert set(killed_by_time(scenes, orders_of(lab, tmp_path / "whole"))) == {-signal.SIGALRM}
    for number, scene in enumerate(scenes):
        condition = conditions()[number % len(conditions())]
        assert scene.restored_after(condition) == 0, (scene.folder.name, condition)


def test_a_run_that_goes_on_is_never_called_killed(lab: Lab, tmp_path: Path) -> None:
    """Even if nobody seems to hold the lab, and its folder is gone."""
    scene = Scene(lab, tmp_path / "scene")
    toys = scene.toys()
    ready, written = os.pipe()
    pid = os.fork()
    if pid == 0:
        run_experiment(toys, scene.folder / "runs", EXPERIMENT.model_copy(update={"settle_s": 3600.0}), lambda _: None)
    folder = StateFolder.of(lab)
    os.close(written)
    try:
        while not RunNotes(folder).all():
            os.sched_yield()
        folder.lock.unlink(missing_ok=True)
        (run,) = report_of(lab, folder, None)["runs"]
        assert run["state"] == "in progress"
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
        assert report_of(lab, folder, None)["runs"][0]["state"] == "stopped"
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(ready)
    report = report_of(lab, folder, None)
    assert report["runs"][0]["state"] == "killed"
    assert is_pending(report)


def killed_at_level(lab: Lab, folder: Path) -> tuple[Scene, DescribedToy]:
    """A run that was killed after it had changed the lab."""
    count = orders_of(lab, folder / "whole")
    scene = Scene(lab, folder / "scene")
    assert scene.killed_at(count - 1) == -signal.SIGKILL
    return scene, left_by(lab, scene.switches)


def test_a_run_is_found_by_its_name_when_its_folder_is_gone_or_was_moved(lab: Lab, tmp_path: Path) -> None:
    scene, _ = killed_at_level(lab, tmp_path)
    run = scene.run_folder
    moved = run.rename(tmp_path / run.name)
    for place in (run, moved):
        found, note = lab_of_run(place)
        assert (found.name, note.run, note.lab_digest) == (lab.name, str(run.resolve()), digest_of(lab))
    assert note_of(run.with_name("another")) is None


def test_settings_of_others_are_undone_only_if_that_is_agreed(lab: Lab, tmp_path: Path) -> None:
    scene, left = killed_at_level(lab, tmp_path)
    (note,) = RunNotes(StateFolder.of(lab)).all()
    with at_work(lab, left.described_backend(), "recover", Quiet(), left.stop) as work:
        finish_interrupted(work)
        left.meddle("sw2")
        with pytest.raises(LabError, match="nothing was sent"):
            restore_killed(work, note, lambda _: False)
        restore_killed(work, note, lambda _: True)
    assert not diff(left.state, scene.home)
    assert read_facts(scene.run_folder)["state"] == "interrupted"
    assert json.loads((scene.run_folder / IN_RUN).read_bytes())["legs"] == [], "a resumed run restores this state"


def test_a_run_whose_resumption_is_refused_is_pending_only_if_it_left_the_lab_changed(lab: Lab, tmp_path: Path) -> None:
    scene = Scene(lab, tmp_path / "whole")
    toys = scene.toys()
    scene.run(toys)
    toys.meddle("sw2")

    def resume(run: Path, switches: DescribedToy) -> None:
        with Lock(StateFolder.of(lab), "run") as lock, Run.resume(RunFolder.read(run)) as resumed:
            controller = LabController(lab, EXPERIMENT, resumed, switches.described_backend(), lock, Quiet())
            controller.begin()
            with pytest.raises(LabError, match="nothing was sent"):
                controller.ask_about_changes(lambda _: False)
            controller.end()

    resume(scene.run_folder, toys)
    assert not RunNotes(StateFolder.of(lab)).all(), "its lab had been restored"
    killed, left = killed_at_level(lab, tmp_path / "killed")
    with at_work(lab, left.described_backend(), "recover", Quiet(), left.stop) as work:
        finish_interrupted(work)
    left.meddle("sw2")
    resume(killed.run_folder, left)
    assert RunNotes(StateFolder.of(lab)).all()


def test_a_folder_of_an_earlier_version_restores_its_lab(lab: Lab, tmp_path: Path) -> None:
    """Its journal is in the folder, and a line names it."""
    scene, left = killed_at_level(lab, tmp_path)
    folder = StateFolder.of(lab)
    notes = RunNotes(folder)
    run = scene.run_folder
    notes.journal(run).rename(run / IN_RUN)
    notes.forget(run)
    (folder.path / "run").write_text(f"{run.resolve()}\n", encoding="utf-8")
    facts = (run / "run.yaml").read_text(encoding="utf-8")
    (run / "run.yaml").write_text(f"{facts}lab_digest: {digest_of(lab)}\n", encoding="utf-8")
    assert [note.run for note in notes.all()] == [str(run.resolve())]
    assert is_pending(report_of(lab, folder, None))
    with at_work(lab, left.described_backend(), "recover", Quiet(), left.stop) as work:
        assert any("restored to its state" in said for said in clear_up(work, lambda _: False))
    assert not diff(left.state, scene.home)
    assert not notes.all()


def test_a_note_or_journal_that_is_damaged_is_refused_in_one_sentence(lab: Lab, tmp_path: Path) -> None:
    scene, left = killed_at_level(lab, tmp_path)
    folder = StateFolder.of(lab)
    (note,) = RunNotes(folder).all()
    journal = RunNotes(folder).journal(scene.run_folder)
    content = json.loads(journal.read_bytes())
    with at_work(lab, left.described_backend(), "recover", Quiet(), left.stop) as work:
        for damage in (
            "{",
            json.dumps({**content, "levels": []}),
            json.dumps({**content, "legs": content["legs"] * 2}),
        ):
            journal.write_text(damage, encoding="utf-8")
            with pytest.raises(LabError, match="restore the lab by hand"):
                restore_killed(work, note, lambda _: True)
    (folder.path / "runs" / f"{scene.run_folder.name}.json").write_text("{", encoding="utf-8")
    with pytest.raises(LabError, match="cannot be read"):
        report_of(lab, folder, None)


def test_a_run_whose_inventory_has_changed_is_not_restored(lab: Lab, tmp_path: Path) -> None:
    _, left = killed_at_level(lab, tmp_path)
    (note,) = RunNotes(StateFolder.of(lab)).all()
    with at_work(lab, left.described_backend(), "recover", Quiet(), left.stop) as work:
        other: RunNote = note.model_copy(update={"lab_digest": "other"})
        with pytest.raises(LabError, match="the inventory of lab toys has changed"):
            restore_killed(work, other, lambda _: True)
