"""The plans that a run has applied since its start, kept with the lab's state, so that the lab can always be restored.

A run applies plans that move hosts from one tree to another. From the state that it reaches there need not be a safe
plan straight to the first state, but the applied steps in reverse order pass states that were proved. So every plan is
written down before it is sent: beside the lab's own journal (`controller.applying.run_notes`), as a run's folder may be
full, read-only or gone when it is needed. When the lab reaches a state for the second time, the plans in between
are dropped: the journal is never longer than the number of different states. A state that is in the journal is reached
by going back to it, so the same levels are the same settings, to the last VLAN.

A run whose lab was restored keeps the first state in its folder: a run that is resumed restores that one. Folders of
earlier versions have the whole journal there, in the same format.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

from pydantic import Field, model_validator

from eee_testbed.controller.applying.stored import Stored
from eee_testbed.controller.model.state import Change, State, diff, replay
from eee_testbed.controller.planning.plan import invert
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.steps import Plan, Step, join_plans
from eee_testbed.lab import durable
from eee_testbed.lab.errors import JournalFailed, LabError, PlanError
from eee_testbed.lab.model import Lab
from eee_testbed.record.trial_events import Level

IN_RUN: Final = "way_home.json"
"""The file in a run's folder."""


class _StoredPlan(Stored):
    steps: tuple[Step, ...]


class _Content(Stored):
    home: State
    plans: tuple[_StoredPlan, ...] = Field(default=(), alias="legs")
    levels: tuple[dict[str, Any] | None, ...] = (None,)
    """Of each state; None where they are unknown."""

    @model_validator(mode="after")
    def _one_state_more(self) -> Self:
        if len(self.levels) != len(self.plans) + 1:
            raise ValueError("it has levels of other states than its plans lead to")
        return self


class RestoreJournal:
    """The states that a run's lab has passed, from the first one on, and the plans between them."""

    def __init__(self, path: Path, home: State) -> None:
        self._path = path
        self._states = [home]
        self._plans: list[Plan] = []
        self._levels: list[Mapping[str, Level] | None] = [None]

    @classmethod
    def load(cls, path: Path, run: Path) -> "RestoreJournal | None":
        """What the file has, or else a run's folder; None if the run's lab was never touched.

        From now on it is written to `path`. LabError if neither can be parsed.
        """
        source = next((one for one in (path, run / IN_RUN) if one.exists()), None)
        if source is None:
            return None
        try:
            content = _Content.model_validate_json(source.read_bytes())
            journal = cls(path, content.home)
            for plan, levels in zip(content.plans, content.levels[1:], strict=True):
                journal._append(Plan(plan.steps), levels)
            journal._levels[0] = content.levels[0]
        except (OSError, ValueError, LookupError, PlanError) as error:  # a plan may name what no state has
            raise LabError(
                f"{source} cannot be read: restore the lab by hand; `eeectl status` with the lab's name or folder "
                "shows its present state."
            ) from error
        return journal

    @property
    def home(self) -> State:
        """The state of the lab before the run."""
        return self._states[0]

    def changed_since(self, found: State) -> tuple[Change, ...]:
        """What somebody changed: what leads from the nearest of the run's states to what was found."""
        return min((diff(state, found) for state in self._states), key=len)

    @property
    def length(self) -> int:
        """How many plans lie between the first and the last state."""
        return len(self._plans)

    def state(self, index: int) -> State:
        """One of the states; 0 is the first."""
        return self._states[index]

    def add(self, plan: ProvedPlan) -> None:
        """Write down a plan that is about to be applied; JournalFailed if that fails: then do not apply it."""
        self._append(plan, None)
        try:
            self._save()
        except OSError as error:
            self.cut(self.length - 1)
            raise JournalFailed(str(self._path), error.strerror or str(error)) from error

    def settle(self, found: State, levels: Mapping[str, Level] | None = None) -> None:
        """The lab is in a state: drop everything after the first state that equals it, if one does.

        If the disk is full, a longer journal stays there, which leads to the same state.
        """
        for index, state in enumerate(self._states):
            if not diff(state, found):
                self.cut(index)
                break
        if levels is not None:
            self._levels[-1] = dict(levels)
        with contextlib.suppress(OSError):
            self._save()

    def shorten(self, plan: ProvedPlan) -> None:
        """Replace all plans by one from the first state to the last one.

        If the disk is full, the longer journal stays there, which leads to the same state.
        """
        if diff(plan.start, self.home) or diff(plan.end, self._states[-1]):
            raise AssertionError("the plan does not lead from the first state to the last one")
        levels = self._levels[-1]
        self.cut(0)
        self._append(Plan(plan.steps), levels)
        with contextlib.suppress(OSError):
            self._save()

    def cut(self, index: int) -> None:
        """Drop everything after a state."""
        del self._states[index + 1 :], self._levels[index + 1 :], self._plans[index:]

    def index_of(self, levels: Mapping[str, Level]) -> int | None:
        """The state that has these levels, if one is known to."""
        return next((index for index, known in enumerate(self._levels) if known == levels), None)

    def back(self, lab: Lab, index: int) -> Plan:
        """The steps from the last state back to an earlier one."""
        applied = list(zip(self._states, self._plans, strict=False))[index:]
        return join_plans(invert(lab, before, plan) for before, plan in reversed(applied))

    def leave_home(self, run: Path) -> None:
        """The lab is restored: put the first state into the run's folder, for a resumed run, if that can be written."""
        with contextlib.suppress(OSError):
            durable.replace(run / IN_RUN, _Content(home=self.home).model_dump_json(by_alias=True))

    def _append(self, plan: Plan, levels: Mapping[str, Level] | None) -> None:
        self._states.append(replay(plan.changes, self._states[-1]))
        self._plans.append(plan)
        self._levels.append(levels)

    def _save(self) -> None:
        plans = tuple(_StoredPlan(steps=plan.steps) for plan in self._plans)
        levels = tuple(dict(known) if known is not None else None for known in self._levels)
        content = _Content(home=self.home, legs=plans, levels=levels)
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        durable.replace(self._path, content.model_dump_json(by_alias=True))
