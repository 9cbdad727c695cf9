"""The form of a ROS configuration command: a pattern and a function on the configuration.

The same table serves a user at the terminal and a startup configuration read at boot, so a handler knows the
`RosConfig`, the ports and its mode's subject (`Mode.about`), but neither device nor session. It returns nothing, text
to print, or a move between modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.families.ros.config import PortConfig, RosConfig
    from eee_testbed.twin.switch.personality import Port


@dataclass(frozen=True, slots=True)
class Where:
    """What a handler works on. `about` is the subject of the mode: `{"ports": (3, 4)}` or `{"vlans": (11,)}`."""

    config: RosConfig
    ports: Sequence[Port]
    about: dict[str, Any]

    def chosen(self) -> list[tuple[Port, PortConfig]]:
        """The interfaces of this interface mode."""
        return [(self.ports[n - 1], self.config.ports[n]) for n in self.about["ports"]]

    def settings(self) -> list[PortConfig]:
        """Their settings."""
        return [setting for _, setting in self.chosen()]

    def copper(self) -> list[tuple[Port, PortConfig]]:
        """The interfaces of this mode, refusing LAGs: for settings of physical ports."""
        chosen = self.chosen()
        if any(p.is_lag for p, _ in chosen):
            raise Refused("a port-channel does not have this setting: set it on the member ports", reason="bad-value")
        return chosen


@dataclass(frozen=True, slots=True)
class Enter:
    """Enter a mode."""

    mode: str
    about: dict[str, Any]


class Leave(Enum):
    """Leave the mode: `UP` one level, `END` to privileged exec."""

    UP = 1
    END = 2


Outcome: TypeAlias = "str | Enter | Leave | None"
ConfigHandler: TypeAlias = "Callable[[Where, Match[Any]], Outcome]"

CONFIG = frozenset({"config"})
VLAN_DATABASE = frozenset({"vlandb"})
INTERFACE = frozenset({"if"})
VLAN_INTERFACE = frozenset({"ifvlan"})
LINE = frozenset({"line"})
EVERYWHERE = CONFIG | VLAN_DATABASE | INTERFACE | VLAN_INTERFACE | LINE


def switch(name: str) -> ConfigHandler:
    """Make a handler that sets a switch-wide yes-or-no setting by the presence of `no`."""

    def run(where: Where, match: Match[Any]) -> None:
        setattr(where.config, name, not match.negated)

    return run


def port_switch(name: str, *, inverted: bool = False) -> ConfigHandler:
    """Make one for the chosen ports; `inverted` for settings that the command disables."""

    def run(where: Where, match: Match[Any]) -> None:
        for setting in where.settings():
            setattr(setting, name, match.negated is inverted)

    return run
