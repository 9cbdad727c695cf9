"""Which trials can be compared: a program's configuration, and the state of the lab during the trial.

Factors of an experiment have kinds (`measuring.experiments.experiment`): some set the lab (EEE, links, speed), some
place the program, all others are parameters of the program. A run's `experiment` has the kinds; without it, a factor's
name is its kind.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from eee_testbed.record.trial_events import Level
from eee_testbed.record.trials import Trial

LAB_KINDS: Final = frozenset({"eee", "hold_us", "link", "speed_mbps", "routing", "regulation"})
_PLACE_KINDS: Final = frozenset({"host_count", "ranks_per_host"})
_NOTHING_SAVED: Final[Mapping[str, tuple[Level, ...]]] = {
    "eee": ("off", False),
    "link": ("on",),
    "regulation": ("baseline",),
    "routing": ("shortest",),
    "speed_mbps": ("auto",),
}
"""Levels at which the lab saves no energy."""

_COMMAND: Final = "command"
"""The program of the table that is any command: what it runs gives its configurations their program."""

_OF_OUTPUT: Final = frozenset({"expect", "mpi", "figures"})
"""Parameters of a command that change how its output is read, not what runs."""

STREAM: Final = "stream_from"
"""The parameter of a probe that names the host whose stream kept ports awake meanwhile."""

State = tuple[tuple[str, Level], ...]
"""Factors that set the lab, by name, with their levels; and a probe's stream, as it keeps ports awake."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What trials have in common that differ only in the lab's state."""

    program: str
    hosts: tuple[str, ...]
    ranks_per_host: int
    parameters: tuple[tuple[str, Any], ...]

    @property
    def placement(self) -> str:
        """Program and placement, as in "alltoall 4x1": four nodes with a rank each."""
        return f"{self.program} {len(self.hosts)}x{self.ranks_per_host}"

    @property
    def name(self) -> str:
        """Program, placement, and parameters as text."""
        parameters = " ".join(f"{key}={value}" for key, value in self.parameters)
        return f"{self.placement} {parameters}".strip()


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors of one run. `kinds` by name; the kind of another factor is its name."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    top_mbps: Mapping[str, int] = field(default_factory=dict)
    """The fastest level of each speed factor."""

    @classmethod
    def of_run(cls, facts: Mapping[str, Any]) -> "Factors":
        """The factors in a `run.yaml`."""
        experiment = facts.get("experiment")
        given = experiment.get("factors") if isinstance(experiment, Mapping) else None
        factors = given if isinstance(given, Mapping) else {}
        kinds, top = {}, {}
        for name, factor in factors.items():
            if not isinstance(factor, Mapping) or "kind" not in factor:
                continue
            kinds[str(name)] = str(factor["kind"])
            speeds = [level for level in factor.get("levels", ()) if isinstance(level, int)]
            if factor["kind"] == "speed_mbps" and speeds:
                top[str(name)] = max(speeds)
        return cls(kinds, top)

    def kind(self, name: str) -> str:
        """The kind of a factor."""
        is_kind = name in LAB_KINDS | _PLACE_KINDS
        return self.kinds.get(name, name if is_kind else "parameter")

    def configuration_of(self, trial: Trial) -> Configuration:
        """The configuration of a program's trial, including levels that are parameters.

        A hold threshold is included too: it has no effect with EEE off, so trials with and without EEE are compared at
        the same one.
        """
        settings = {**trial.parameters, **trial.levels}
        program = trial.program
        if program == _COMMAND:
            program = command_name(settings.get("words", ()))
            settings = {key: _line(value) if key == "words" else value for key, value in settings.items()}
            settings = {key: value for key, value in settings.items() if key not in _OF_OUTPUT}
        others = (LAB_KINDS - {"hold_us"}) | _PLACE_KINDS
        kept = {key: value for key, value in settings.items() if self.kind(key) not in others}
        parameters = tuple(sorted((key, _frozen(value)) for key, value in kept.items()))
        return Configuration(program, trial.hosts, trial.ranks_per_host, parameters)

    def hold_us(self, configuration: Configuration) -> float | None:
        """The hold threshold, if it was a factor."""
        levels = [level for name, level in configuration.parameters if self.kind(name) == "hold_us"]
        return float(levels[0]) if levels else None

    def state_of(self, trial: Trial) -> State:
        """The state of the lab during a trial."""
        levels = {key: value for key, value in trial.levels.items() if self.kind(key) in LAB_KINDS}
        if trial.what == "probe" and (source := trial.parameters.get(STREAM)):
            levels[STREAM] = source
        return tuple(sorted(levels.items()))

    def saves_nothing(self, state: State) -> bool:
        """Whether EEE was off and every link up at full speed. A hold threshold has no effect with EEE off."""
        return not any(self._saves(name, level) for name, level in state)

    def saving_count(self, state: State) -> int:
        """How many settings of a state save something."""
        return sum(self._saves(name, level) for name, level in state)

    def _saves(self, name: str, level: Level) -> bool:
        kind = self.kind(name)
        if name == STREAM or kind == "hold_us" or level == self.top_mbps.get(name):
            return False
        return level not in _NOTHING_SAVED[kind]

    def with_eee(self, state: State) -> bool | None:
        """Whether EEE was on, if nothing else saved energy; else None."""
        eee = [level in ("on", True) for name, level in state if self.kind(name) == "eee"]
        rest = tuple((name, level) for name, level in state if self.kind(name) != "eee")
        return all(eee) if eee and len(set(eee)) == 1 and self.saves_nothing(rest) else None


def command_name(words: str | Sequence[str]) -> str:
    """What a command is called: the file that it runs, of an interpreter its script.

    >>> command_name("/shared/halo 100"), command_name(["python3", "-u", "/shared/ring.py", "7"])
    ('halo', 'ring.py')
    """
    parts = shlex.split(words) if isinstance(words, str) else list(map(str, words))
    names = [PurePosixPath(part).name for part in parts if not part.startswith("-")]
    interpreted = len(names) > 1 and re.fullmatch(r"python[\d.]*|bash|sh|perl|julia|Rscript|env", names[0])
    return next(iter(names[1:] if interpreted else names), _COMMAND) or _COMMAND


def _line(words: str | Sequence[str]) -> str:
    return words if isinstance(words, str) else shlex.join(map(str, words))


def state_text(state: State) -> str:
    """A state as text."""
    return ", ".join(f"{name} {level}" for name, level in state) or "as it is"


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value
