"""`eeectl`: the command line. Exit status: 0 done, 1 refused or failed, 2 wrong use, 3 changes or trials pending."""

import contextlib
import gc
import os
import shutil
import sys
import threading
from typing import Final, NoReturn

from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.lab_time import join_lab
from eee_testbed.eeectl.parent import follow_parent
from eee_testbed.eeectl.verb_table import overview

_OVERVIEW: Final[tuple[list[str], ...]] = ([], ["--help"], ["-h"])
_GARBAGE_AFTER: Final = 50_000  # new objects; what is imported stays, and looking for garbage in it costs start-up time


def run(tokens: list[str]) -> int:
    """Execute one command line and return the exit status; LabErrors become one sentence on standard error."""
    if tokens in _OVERVIEW:
        with contextlib.suppress(BrokenPipeError):  # the reader, such as `head`, has seen enough
            print(overview(shutil.get_terminal_size((100, 24)).columns))
        return DONE
    from eee_testbed.eeectl.application import execute  # noqa: PLC0415 - parsing command lines takes longer than the overview

    return execute(tokens)


def main() -> None:
    """Entry point of the command `eeectl`."""
    gc.set_threshold(_GARBAGE_AFTER)
    join_lab(sys.argv[1:])  # executes this program anew, so what follows happens once
    follow_parent()
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()
    _leave(status)


def _leave(status: int) -> NoReturn:
    """Exit; without the interpreter's own shutdown if a device that hangs, or Ctrl-C, left a thread in a library.

    That shutdown unwinds such a thread wherever it is; in native code this aborts the whole process.
    """
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    for thread in others:
        if not thread.daemon:
            thread.join()
    if any(thread.is_alive() for thread in others):
        if not sys.stderr.closed:
            sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
