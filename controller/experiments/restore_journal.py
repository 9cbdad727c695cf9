"""The way that a run has gone from what its lab was, kept in its folder, so that it can be gone back whatever happens.

A run goes forward by plans that move hosts from one tree to another. From where that leads there need not be a plain
way to the start, but the steps taken backwards pass states that were proved. So every leg is written down before it is
sent. Where a leg leads to a state that was passed before, what lies between is forgotten: the way stays as short as the
number of different states. And a state that is on it is reached by going back to it: the same levels are then the
same settings, to the last VLAN.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from controller.model.state import State, diff, replay
from controller.planning.plan import Plan, Step, invert, join_plans
from lab.errors import LabError, RunFolderFailed
from lab.model import Lab
from record.trial_events import Level

_NAME: Final = "way_home.json"


class _Leg(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="hex", val_json_bytes="hex")

    steps: tuple[Step, ...]


class _Kept(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="hex", val_json_bytes="hex", ser_json_inf_nan="strings"
    )

    home: State
    passes: tuple[_Leg, ...] = ()
    levels: tuple[dict[str, Any] | None, ...] = (None,)
    """Of each state on the way; None where they are unknown."""


class RestoreJournal:
    """The states that a run has passed, from the first one on, and the plans between them."""

    def __init__(self, folder: Path, home: State) -> None:
        self._path = folder / _NAME
        self._states = [home]
        self._plans: list[Plan] = []
        self._levels: list[Mapping[str, Level] | None] = [None]

    @classmethod
    def load(cls, folder: Path) -> "RestoreJournal | None":
        """What a run's folder holds; None if its lab was never touched. LabError if the file is broken."""
        path = folder / _NAME
        if not path.exists():
            return None
        try:
            kept = _Kept.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise LabError(
                f"{path} cannot be read: put the lab back by hand, `eeectl status` says how it is."
            ) from error
        way = cls(folder, kept.home)
        for leg, levels in zip(kept.passes, kept.levels[1:], strict=True):
            way._append(Plan(leg.steps), levels)
        way._levels[0] = kept.levels[0]
        return way

    @property
    def home(self) -> State:
        """What the lab was."""
        return self._states[0]

    @property
    def length(self) -> int:
        """How many legs lie between the last state and home."""
        return len(self._plans)

    def state(self, index: int) -> State:
        """A state of the way; 0 is home."""
        return self._states[index]

    def add(self, plan: Plan) -> None:
        """A leg is about to be gone; RunFolderFailed if it cannot be written down, and must not be gone then."""
        self._append(plan, None)
        try:
            self._save()
        except OSError as error:
            self.cut(self.length - 1)
            raise RunFolderFailed(str(self._path.parent), error.strerror or str(error)) from error

    def settle(self, found: State, levels: Mapping[str, Level] | None = None) -> None:
        """The lab is in a state: the way ends at the first place that equals it, if one does.

        A disk that does not take this keeps a longer way to the same place, which is as good.
        """
        for index, state in enumerate(self._states):
            if not diff(state, found):
                self.cut(index)
                break
        if levels is not None:
            self._levels[-1] = dict(levels)
        with contextlib.suppress(OSError):
            self._save()

    def cut(self, index: int) -> None:
        """The way ends at that state."""
        del self._states[index + 1 :], self._levels[index + 1 :], self._plans[index:]

    def index_of(self, levels: Mapping[str, Level]) -> int | None:
        """The state that has these levels, if one is known to."""
        return next((index for index, known in enumerate(self._levels) if known == levels), None)

    def back(self, lab: Lab, index: int) -> Plan:
        """The steps from the last state back to that one."""
        passes = list(zip(self._states, self._plans, strict=False))[index:]
        return join_plans(invert(lab, before, plan) for before, plan in reversed(passes))

    def _append(self, plan: Plan, levels: Mapping[str, Level] | None) -> None:
        self._states.append(replay(plan.changes, self._states[-1]))
        self._plans.append(plan)
        self._levels.append(levels)

    def _save(self) -> None:
        passes = tuple(_Leg(steps=plan.steps) for plan in self._plans)
        levels = tuple(dict(known) if known is not None else None for known in self._levels)
        data = _Kept(home=self.home, passes=passes, levels=levels).model_dump_json().encode()
        fresh = self._path.with_suffix(".new")
        try:
            with fresh.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            fresh.rename(self._path)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
