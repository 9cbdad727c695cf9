"""`eeectl completion`: shells complete verbs, options, labs, hosts, ports and runs."""

import os
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from eee_testbed.eeectl.completion.candidates import candidates, line_of
from eee_testbed.eeectl.completion.command_tree import command_tree
from eee_testbed.eeectl.completion.known_names import names_of
from eee_testbed.eeectl.completion.shells import SHELLS, install
from eee_testbed.lab.errors import LabError

completion_app = App(
    name="completion", help="Let the shell complete verbs, options, labs, hosts, ports and runs: `completion install`."
)

ShellName = Literal["bash", "zsh", "fish"]


@completion_app.command(name="install")
def install_command(shell: ShellName | None = None, /) -> int:
    """Install completion for this user: a script, and a line in the shell's startup file that reads it.

    Parameters
    ----------
    shell
        The shell. Default: the one in SHELL.

    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise LabError(f"the shell '{name}' is not known: name one of {', '.join(SHELLS)}.")
    file, changed = install(name, Path.home())
    print(f"written to {file}" + (f"; {changed} reads it" if changed is not None else ""))
    print(f"open a new {name}, or type: . {file}" if name != "fish" else "open a new fish.")
    return 0


@completion_app.command
def show(shell: ShellName, /) -> int:
    """Print a shell's script, to install it by hand.

    Parameters
    ----------
    shell
        The shell.

    """
    print(SHELLS[shell].script, end="")
    return 0


@completion_app.command(show=False)
def words(line: Annotated[str, Parameter(allow_leading_hyphen=True)] = "", /) -> int:
    """Print the words that may stand at the end of a command line, one a line; the shells' scripts call it.

    Parameters
    ----------
    line
        The command line up to the cursor.

    """
    for word in candidates(command_tree(), line_of(line), names_of):
        print(word)
    return 0
