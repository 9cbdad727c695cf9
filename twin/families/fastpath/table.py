"""The command table of the family: every line of every mode."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from eee_testbed.twin.cli.grammar import Grammar
from eee_testbed.twin.families.fastpath import dialogues, port_commands, switch_commands, vlan_commands
from eee_testbed.twin.families.fastpath.shows import commands as show_commands
from eee_testbed.twin.families.fastpath.tokens import tokens

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Command
    from eee_testbed.twin.cli.shell import Handler

COMMANDS: tuple[Command[Handler], ...] = (
    *dialogues.COMMANDS,
    *show_commands.COMMANDS,
    *switch_commands.COMMANDS,
    *vlan_commands.COMMANDS,
    *port_commands.COMMANDS,
)


@functools.cache
def grammar(physical: int) -> Grammar[Handler]:
    """Return the commands of a switch with this number of physical ports."""
    return Grammar(COMMANDS, tokens(physical))
