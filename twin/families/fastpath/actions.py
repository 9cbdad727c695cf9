"""The kinds of line in the command table: a configuration action, or a move between modes.

Both a session and the loader of a saved configuration execute them; a session wraps an action in
`SwitchDevice.change()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Reply, Session
    from eee_testbed.twin.families.fastpath.personality import FastpathPersonality

Ports: TypeAlias = tuple[int, ...]
Action: TypeAlias = "Callable[[FastpathPersonality, Ports, Match[Any]], None]"
"""(personality, bridge ports of the interface mode, match); Refused if it cannot be."""


def flag(name: str) -> Configure:
    """Make a line that sets a yes-or-no setting of ports."""

    def run(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
        personality.config.change(ports, **{name: not match.negated})

    return Configure(run)


def value(name: str, key: str, default: object) -> Configure:
    """Make a line that sets a value of ports, with `no` the default."""

    def run(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
        personality.config.change(ports, **{name: match.get(key, default)})

    return Configure(run)


def switch(name: str) -> Configure:
    """Make a line that sets a switch-wide yes-or-no setting."""

    def run(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
        setattr(personality.config, name, not match.negated)

    return Configure(run)


def on_all(line: Configure) -> Configure:
    """Make a line apply to every port and LAG, in global configuration."""

    def run(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
        line.action(personality, tuple(personality.config.ports), match)

    return Configure(run)


@dataclass(frozen=True, slots=True)
class Configure:
    """A line that changes the configuration."""

    action: Action

    def __call__(self, session: Session, match: Match[Any]) -> Reply:
        """Execute it for a session."""
        with session.device.change():
            personality = cast("FastpathPersonality", session.device.personality)
            self.action(personality, session.mode.about.get("ports", ()), match)
        return ""


@dataclass(frozen=True, slots=True)
class Enter:
    """A line that goes one mode deeper."""

    mode: str
    about: Callable[[Match[Any]], dict[str, Any]] = lambda _match: {}

    def __call__(self, session: Session, match: Match[Any]) -> Reply:
        """Execute it for a session."""
        session.enter(self.mode, **self.about(match))
        return ""


@dataclass(frozen=True, slots=True)
class Leave:
    """`exit`."""

    def __call__(self, session: Session, match: Match[Any]) -> Reply:
        """Execute it for a session."""
        del match
        session.leave()
        return ""
