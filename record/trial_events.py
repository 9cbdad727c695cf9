"""How trials are recorded in a run's folder: events in `events.jsonl`, raw files in `trials/NNNN/`.

::

    {"kind": "trial_begun", "trial": 3, "slot": 2, "block": 1, "repetition": 0,
     "levels": {"eee": "on", "sleep_us": 500}, "what": "program", "program": "alltoall", "parameters": {...},
     "hosts": ["n1", "n2"], "ranks_per_host": 1}
    {"kind": "trial_ended", "trial": 3, "state": "valid", "why": "", "answer_right": true,
     "figures": [{"name": "time", "value": 1.23, "unit": "s"}], "begun_ns": ..., "ended_ns": ...,
     "loop_ns": [..., ...]}
    {"kind": "actuation", "what": "eee", "link": "sw1:gi1/0/11 - n1:eth0", "after": "on", "begun_ns": ...,
     "ended_ns": ...}

`slot` is the trial's place in the order of the experiment, `trial` the number of the attempt: a slot whose trial was
invalid or failed is tried again under a new number, with a folder of its own. `levels` are the levels of the
experiment's factors; `parameters` are all parameters of the program. The measured window is begun_ns..ended_ns, on the
run's clock; `loop_ns` is present if the program reports when the loop that it measured ran, by the clock of its first
node. Levels are text, whole numbers, numbers or booleans (`eee` is "on" or "off").

Both events have `wall_s` if the lab is virtual: the wall's monotonic time, by which people wait. Views say with it
what time is left; measurements do not use it.

An actuation is recorded when it is done, once for each link that it touched; `what` is "eee", "link", "speed",
"hold_us" or "routing".

A trial that has begun and not ended was cut short: its process was killed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Level = str | int | float | bool
"""A factor's setting."""

What = Literal["program", "probe", "idle", "power"]
"""A program of the table, a ping-interval probe, an idle lab, or one stage of a power calibration."""

TrialState = Literal["valid", "invalid", "failed"]
"""Valid: its figures count. Invalid: it ran, but something spoiled its figures. Failed: it did not finish."""


@dataclass(frozen=True, slots=True)
class TrialBegun:
    """What a trial is, recorded before it starts."""

    trial: int
    slot: int
    block: int
    repetition: int
    levels: Mapping[str, Level]
    what: What
    program: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    hosts: Sequence[str] = ()
    ranks_per_host: int = 0

    def plain(self) -> dict[str, Any]:
        """For an event, without its kind."""
        place = {"trial": self.trial, "slot": self.slot, "block": self.block, "repetition": self.repetition}
        work = {"levels": dict(self.levels), "what": self.what, "program": self.program}
        nodes = {"hosts": list(self.hosts), "ranks_per_host": self.ranks_per_host}
        return place | work | {"parameters": dict(self.parameters)} | nodes


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """How a trial ended. `figures` are (name, value, unit)."""

    trial: int
    state: TrialState
    why: str
    begun_ns: int
    ended_ns: int
    answer_right: bool | None = None
    figures: Sequence[tuple[str, float, str]] = ()
    loop_ns: tuple[int, int] | None = None

    def plain(self) -> dict[str, Any]:
        """For an event, without its kind."""
        figures = [{"name": name, "value": value, "unit": unit} for name, value, unit in self.figures]
        result = {"trial": self.trial, "state": self.state, "why": self.why, "answer_right": self.answer_right}
        whole = result | {"figures": figures, "begun_ns": self.begun_ns, "ended_ns": self.ended_ns}
        return whole if self.loop_ns is None else whole | {"loop_ns": list(self.loop_ns)}


def trial_folder(run_folder: Path, trial: int) -> Path:
    """The folder of a trial's raw files."""
    return run_folder / "trials" / f"{trial:04d}"
