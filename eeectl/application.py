"""The command line as cyclopts parses it: every verb of the table, and errors as one sentence."""

import signal
import sys
import traceback
from importlib import metadata
from typing import Final

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from eeectl.exit_status import DONE, INTERRUPTED, REFUSED, WRONG_USE
from eeectl.verb_table import ABOUT, VERBS
from lab.errors import LabError

app: Final = App(name="eeectl", help=ABOUT, version=lambda: f"eeectl {metadata.version('eee-testbed')}")
for _verb in VERBS:
    app.command(_verb.place, name=_verb.name, help=_verb.help)


def execute(tokens: list[str]) -> int:
    """Execute one command line and return the exit status; LabErrors become one sentence on standard error."""
    debug = "--debug" in tokens[: tokens.index("--")] if "--" in tokens else "--debug" in tokens
    if debug:
        tokens.remove("--debug")
    try:
        command, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=True)
        signal.siginterrupt(signal.SIGINT, True)  # polars, which verbs import, lets a wait go on after Ctrl-C
        result = command(*bound.args, **bound.kwargs)
    except CycloptsError:
        return WRONG_USE
    except BrokenPipeError:
        return DONE  # the reader, such as `head`, has seen enough
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - the one place that catches everything
        if debug:
            traceback.print_exc()
        status, sentence = _told(error)
        print(f"eeectl: {sentence}", file=sys.stderr)
        return status
    return result if isinstance(result, int) else DONE


def _told(error: BaseException) -> tuple[int, str]:
    """The exit status and the sentence for an error, which a person reads."""
    match error:
        case LabError():
            return REFUSED, str(error)
        case KeyboardInterrupt():
            left = str(error)  # what was done, or has to be: said by whoever began it and read it back
            return INTERRUPTED, f"interrupted; {left}" if left else "interrupted."
        case OSError(filename=str(name), strerror=str(why)):
            return REFUSED, f"{name} cannot be used: {why}."
        case _:
            name = type(error).__name__
            return REFUSED, f"unexpected {name}: {error}; run it again with --debug and report the trace."
