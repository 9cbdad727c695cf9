"""A study for `eeectl watch`: its newest run, with the study's steps and parameters on top."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from eee_testbed.lab.model import Lab
from eee_testbed.measuring.live.feeds import Feed
from eee_testbed.measuring.live.state.live_state import LiveState
from eee_testbed.measuring.live.state.view import LabView, ParameterView, StepView, StudyView
from eee_testbed.measuring.study.folder import StudyFolder
from eee_testbed.measuring.study.standing import Standing, read_standing

OpenRun = Callable[[Path], Feed]
"""The feed of a run's folder."""


class StudyFeed:
    """Follows the newest run of a study, and goes over to the next one. `wall_s`: the wall's monotonic time.

    Each run has a feed of its own, which is closed before the next one is opened.
    """

    def __init__(self, folder: StudyFolder, lab: Lab, open_run: OpenRun, wall_s: Callable[[], float]) -> None:
        self._folder = folder
        self._open = open_run
        self._wall_s = wall_s
        self._nothing = LiveState(lab)
        self._run: Path | None = None
        self._feed: Feed | None = None
        self._follow()

    def poll(self) -> LabView:
        """The newest run, or an empty view before the first, and the study."""
        self._follow()
        view = self._nothing.view(time.time_ns()) if self._feed is None else self._feed.poll()
        return replace(view, study=study_view(self._folder, read_standing(self._folder.path), self._wall_s()))

    @property
    def url(self) -> str:
        """Address of the metrics of the run for Prometheus; empty without them."""
        return self._feed.url if self._feed is not None else ""

    @property
    def trouble(self) -> str:
        """Why samples of the run are not exported; empty if they are, or need not be."""
        return self._feed.trouble if self._feed is not None else ""

    def close(self) -> None:
        """Close the feed of the run."""
        if self._feed is not None:
            self._feed.close()
        self._feed = self._run = None

    def _follow(self) -> None:
        run = newest_run(self._folder)
        if run is None or run == self._run:
            return
        self.close()
        self._feed = self._open(run)
        self._run = run


def newest_run(folder: StudyFolder) -> Path | None:
    """The run that began, was resumed or ended last: a study measures another block by resuming a run."""
    return max(folder.all_runs(), key=begun_last, default=None)


def begun_last(run: Path) -> tuple[int, str]:
    """A key by which the run that began, was resumed or ended last is the largest."""
    try:
        return (run / "run.yaml").stat().st_mtime_ns, run.name
    except FileNotFoundError:
        return 0, run.name


def study_view(folder: StudyFolder, standing: Standing | None, wall_s: float) -> StudyView:
    """The study at a moment of the wall's monotonic time."""
    rows = () if standing is None else standing.parameters
    running = standing is not None and standing.running
    left_s = standing.left_s - (wall_s - standing.at_s) if standing is not None and running else None
    state = "not begun" if standing is None else "ended" if standing.ended else "running" if running else "stopped"
    return StudyView(
        name=folder.path.name,
        state=state,
        step=standing.step if standing is not None and running else "",
        why="" if standing is None else standing.why,
        left_s=None if left_s is None else max(left_s, 0.0),
        steps=tuple(_steps(folder, standing.step if standing is not None and running else "")),
        parameters=tuple(ParameterView(row.name, row.now, row.wanted, row.verdict) for row in rows),
    )


def _steps(folder: StudyFolder, step: str) -> Iterator[StepView]:
    """A step for each kind of block: those of the pilot in their order, then what the study chose."""
    blocks = folder.blocks
    kinds = dict.fromkeys([*folder.names, *(block.kind for block in blocks), *([step] if step else [])])
    for kind in kinds:
        of_kind = [block for block in blocks if block.kind == kind]
        if kind == step:
            state = "running"
        elif not of_kind:
            state = "waiting"
        else:
            state = "done" if of_kind[-1].complete else "incomplete"
        yield StepView(kind, state, len(of_kind), sum(block.time_s for block in of_kind))
