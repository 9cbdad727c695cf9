"""The command line as cyclopts parses it: every verb of the table, and errors as one sentence."""

import sys
import traceback
from typing import Final

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from eeectl.exit_status import DONE, INTERRUPTED, REFUSED, WRONG_USE
from eeectl.verb_table import ABOUT, VERBS
from lab.errors import LabError

app: Final = App(name="eeectl", help=ABOUT, result_action="return_value", suppress_keyboard_interrupt=False)
for _verb in VERBS:
    app.command(_verb.place, name=_verb.name, help=_verb.help)


def execute(tokens: list[str]) -> int:
    """Execute one command line and return the exit status; LabErrors become one sentence on standard error."""
    debug = "--debug" in tokens[: tokens.index("--")] if "--" in tokens else "--debug" in tokens
    if debug:
        tokens.remove("--debug")
    try:
        result = app(tokens, exit_on_error=False, print_error=True)
    except CycloptsError:
        return WRONG_USE
    except LabError as error:
        if debug:
            traceback.print_exc()
        print(f"eeectl: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        if debug:
            traceback.print_exc()
        print("eeectl: interrupted; what was begun has been undone.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return DONE  # the reader, such as `head`, has seen enough
    except Exception as error:  # noqa: BLE001 - the one place that catches everything: a person reads this
        if debug:
            traceback.print_exc()
        print(
            f"eeectl: unexpected {type(error).__name__}: {error}; run it again with --debug and report the trace.",
            file=sys.stderr,
        )
        return REFUSED
    return result if isinstance(result, int) else DONE
