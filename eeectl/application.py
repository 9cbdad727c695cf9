"""The command line as cyclopts parses it: every verb of the table, and errors as one sentence."""

import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TextIO

from cyclopts import App, Parameter
from cyclopts.exceptions import CycloptsError

from eee_testbed.eeectl import after_dashes
from eee_testbed.eeectl.default_text import default_text
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, REFUSED, WRONG_USE, Unsuccessful
from eee_testbed.eeectl.usage import usage_of
from eee_testbed.eeectl.verb_table import ABOUT, VERBS
from eee_testbed.eeectl.version import version_text
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.lab.untrusted_files import DamagedPart

_HELP: Final = frozenset({"--help", "-h"})

app: Final = App(
    name="eeectl", help=ABOUT, version=version_text, default_parameter=Parameter(show_default=default_text)
)
for _verb in VERBS:
    app.command(_verb.place, name=_verb.name, help=_verb.help)


def execute(tokens: list[str]) -> int:
    """Execute one command line and return the exit status; LabErrors become one sentence on standard error."""
    debug = "--debug" in tokens[: tokens.index("--")] if "--" in tokens else "--debug" in tokens
    if debug:
        tokens.remove("--debug")
    warnings.simplefilter("default", DamagedPart)  # each once: a live view reads the same file again and again
    warnings.showwarning = _show_warning
    try:
        command = parse(tokens, print_error=True)
        signal.siginterrupt(signal.SIGINT, True)  # polars, which verbs import, lets a wait go on after Ctrl-C
        result = command()
    except CycloptsError:
        return WRONG_USE
    except BrokenPipeError:
        return DONE  # the reader, such as `head`, has seen enough
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - the one place that catches everything
        if debug:
            traceback.print_exc()
        status, sentences = _told(error)
        for sentence in sentences:
            print_text(f"eeectl: {sentence}", file=sys.stderr)
        return status
    return result if isinstance(result, int) else DONE


def parse(tokens: list[str], *, print_error: bool) -> Callable[[], Any]:
    """The call that a command line stands for; CycloptsError if it is none, which is printed if wished."""
    names, apps, _ = app.parse_commands(tokens)
    if names and names[-1] in _HELP and apps[-2].default_command is not None:
        apps[-2].usage = f"Usage: {usage_of(' '.join(('eeectl', *names[:-1])), apps[-2])}"
    given, command_words = after_dashes.split(apps[-1].default_command, tokens)
    command, bound, _ = app.parse_args(given, exit_on_error=False, print_error=print_error)
    if not after_dashes.takes_command(command):  # help, or a verb that takes none
        command_words = {}
    return partial(command, *bound.args, **bound.kwargs, **command_words)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What was lost of a damaged file, as a line on standard error; other warnings as Python shows them."""
    if issubclass(category, DamagedPart):
        print(f"eeectl: {message}", file=sys.stderr)
    else:
        (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def _told(error: BaseException) -> tuple[int, tuple[str, ...]]:
    """The exit status and the sentences for an error, which a person reads."""
    match error:
        case Unsuccessful():
            return error.status, error.sentences
        case LabError():
            return REFUSED, (str(error),)
        case KeyboardInterrupt():
            left = str(error)  # what was done, or has to be: said by whoever began it and read it back
            return INTERRUPTED, (f"interrupted; {left}" if left else "interrupted.",)
        case OSError(filename=str(name), strerror=str(why)):
            return REFUSED, (f"{name} cannot be used: {why}.",)
        case _:
            name = type(error).__name__
            return REFUSED, (f"unexpected {name}: {error}; run it again with --debug and report the trace.",)
