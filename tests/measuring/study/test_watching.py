"""A study as `eeectl watch` shows it: its newest run, the next one, its steps, and what is left of its budget."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.measuring.live.feeds import Feed, RunFeed
from eee_testbed.measuring.live.state.view import LabView
from eee_testbed.measuring.study.design import Design
from eee_testbed.measuring.study.folder import Aim, Block, StudyFolder
from eee_testbed.measuring.study.standing import ParameterRow, Standing, read_standing, write_standing
from eee_testbed.measuring.study.watching import StudyFeed, newest_run
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.store import Run
from tests.support.labs.toy_view import LAB

_ROW = ParameterRow(name="sw1: port up", now="1.2 ± 0.1 W", wanted="± 0.02 W", verdict="needs more")


class _Opened:
    """Opens runs, and notes which feeds were closed."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []

    def __call__(self, folder: Path) -> Feed:
        self.opened.append(folder.name)
        opened = self

        class Noted(RunFeed):
            def close(self) -> None:
                opened.closed.append(folder.name)
                super().close()

        return Noted(folder, LAB)


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    content = [{"name": "probe-sweep"}, {"name": "power-staged"}]
    return StudyFolder.create(tmp_path / "studies", "toy", "toy", Design(tuple(content), ()), Aim(0.02, 600.0))


def _begin(folder: StudyFolder, name: str, second: int) -> Run:
    """A run of a study whose run.yaml was written so many seconds after the first."""
    run = Run.create(folder.runs, name, {"lab": "toy"}, RunClock())
    os.utime(run.folder / "run.yaml", (1_750_000_000 + second, 1_750_000_000 + second))
    return run


def _stand(folder: StudyFolder, step: str, at_s: float = 100.0, **more: object) -> None:
    standing = Standing(step=step, why="it narrows most", left_s=300.0, at_s=at_s, parameters=(_ROW,))
    write_standing(folder.path, standing.model_copy(update=more))


def _watch(folder: StudyFolder, check: Callable[[StudyFeed, _Opened], None], wall_s: float = 100.0) -> None:
    opened = _Opened()
    feed = StudyFeed(folder, LAB, opened, lambda: wall_s)
    try:
        check(feed, opened)
    finally:
        feed.close()


def test_before_its_first_run_only_the_study_is_shown(folder: StudyFolder) -> None:
    def check(feed: StudyFeed, opened: _Opened) -> None:
        view = feed.poll()
        assert view.run is None
        assert view.study is not None
        assert (view.study.state, view.study.left_s) == ("not begun", None)
        assert [step.state for step in view.study.steps] == ["waiting", "waiting"]
        assert opened.opened == []

    _watch(folder, check)


def test_it_goes_over_to_the_next_run_and_back_to_one_that_is_extended(folder: StudyFolder) -> None:
    def shown(view: LabView) -> str:
        assert view.run is not None
        return view.run.name

    first = _begin(folder, "probe-sweep", 1)

    def check(feed: StudyFeed, opened: _Opened) -> None:
        assert shown(feed.poll()) == "probe-sweep"
        second = _begin(folder, "power-staged", 2)
        assert shown(feed.poll()) == "power-staged"
        assert opened.closed == [first.folder.name]
        second.close()
        os.utime(first.folder / "run.yaml", (1_999_999_999, 1_999_999_999))  # as `run --resume --blocks` writes it
        assert shown(feed.poll()) == "probe-sweep"
        feed.close()
        assert opened.closed == [first.folder.name, second.folder.name, first.folder.name]

    _watch(folder, check)
    assert newest_run(folder) == first.folder
    first.close()


def test_its_steps_and_what_is_left_of_its_budget_by_the_walls_clock(folder: StudyFolder) -> None:
    folder.add_block(Block(kind="probe-sweep", time_s=40.0))
    folder.add_block(Block(kind="probe-sweep", time_s=20.0, complete=False))
    _stand(folder, "edges-n01-n02")

    def check(feed: StudyFeed, _: _Opened) -> None:
        study = feed.poll().study
        assert study is not None
        assert (study.state, study.step, study.left_s) == ("running", "edges-n01-n02", 275.0)
        steps = [(step.name, step.state, step.blocks, step.time_s) for step in study.steps]
        assert steps == [
            ("probe-sweep", "incomplete", 2, 60.0),
            ("power-staged", "waiting", 0, 0.0),
            ("edges-n01-n02", "running", 0, 0.0),
        ]
        assert [one.verdict for one in study.parameters] == ["needs more"]

    _watch(folder, check, wall_s=125.0)


@pytest.mark.parametrize(("more", "state"), [({"ended": True}, "ended"), ({"process": 2**30}, "stopped")])
def test_a_study_that_ended_or_whose_process_is_gone_measures_nothing(
    folder: StudyFolder, more: dict[str, object], state: str
) -> None:
    _stand(folder, "power-staged", **more)

    def check(feed: StudyFeed, _: _Opened) -> None:
        study = feed.poll().study
        assert study is not None
        assert (study.state, study.step, study.left_s) == (state, "", None)
        assert not any(step.state == "running" for step in study.steps)

    _watch(folder, check)


def test_a_standing_that_cannot_be_read_is_as_none(folder: StudyFolder) -> None:
    (folder.path / "standing.json").write_text('{"step": 3}')
    assert read_standing(folder.path) is None


# -- the command


def test_the_command_shows_the_newest_study_or_the_one_that_is_named(
    folder: StudyFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = _begin(folder, "probe-sweep", 1)
    run.close()
    _stand(folder, "power-staged")
    for words in (
        [str(folder.path)],
        ["--runs", str(tmp_path / "runs")],
        [folder.path.name, "--runs", str(tmp_path / "runs")],
    ):
        assert eeectl(["watch", *words, "--once"]) == 0
        text = capsys.readouterr().out
        assert "toy · probe-sweep · finished" in text
        assert "0 of 1 parameters known" in text
        assert "sw1: port up  1.2 ± 0.1 W  ± 0.02 W  needs more" in text
    broken = replace(folder, path=folder.path / "broken")
    broken.path.mkdir()
    (broken.path / "study.yaml").write_text("lab: [")
    assert eeectl(["watch", str(broken.path), "--once"]) == 1
    assert "is not a study" in capsys.readouterr().err
