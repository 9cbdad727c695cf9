"""The pace of a lab's time is in the run's events, once for each change."""

from types import SimpleNamespace
from typing import Any, cast

from controller.experiments.running import Runner


class _Monitor:
    def __init__(self, paces: list[str]) -> None:
        self._paces = iter(paces)

    def pace(self) -> str:
        return next(self._paces)


def _notes(paces: list[str]) -> list[list[str]]:
    runner: Any = SimpleNamespace(lateness_monitor=_Monitor(paces), _pace="")
    return [list(Runner._changed_pace(cast("Runner", runner))) for _ in paces]


def test_the_walls_pace_is_not_mentioned() -> None:
    assert _notes(["", ""]) == [[], []]


def test_each_change_of_pace_is_noted_once() -> None:
    slow = "from this trial on, lab time runs at 1/10 of the wall's pace."
    back = "from this trial on, lab time runs at the wall's pace."
    tenth = "1/10 of the wall's"
    assert _notes([tenth, tenth, "", tenth]) == [[slow], [], [back], [slow]]


def test_a_rack_has_no_pace() -> None:
    runner: Any = SimpleNamespace(lateness_monitor=None, _pace="")
    assert list(Runner._changed_pace(cast("Runner", runner))) == []
