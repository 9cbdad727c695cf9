"""The command table of the family: every line that the switch knows, in every mode."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from twin.fastpath import dialogues, port_commands, show_commands, switch_commands, vlan_commands
from twin.fastpath.tokens import tokens
from twin.grammar import Grammar

if TYPE_CHECKING:
    from twin.grammar import Command
    from twin.shell import Handler

COMMANDS: tuple[Command[Handler], ...] = (
    *dialogues.COMMANDS,
    *show_commands.COMMANDS,
    *switch_commands.COMMANDS,
    *vlan_commands.COMMANDS,
    *port_commands.COMMANDS,
)


@functools.cache
def grammar(physical: int) -> Grammar[Handler]:
    """Commands of a switch with so many physical ports."""
    return Grammar(COMMANDS, tokens(physical))
