"""A process that has imported what many tests import, but nothing of the checkout, and forks for each run of pytest.

To import pytest, hypothesis, numpy and their like takes five times as long as most of the tests that kill a mutant. A
request is a line of JSON on standard input: the arguments of pytest, and the file for what it prints. The answer is a
line with the process; after another line on standard input the next is its exit status, once it has ended.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path


def main(preloaded: Sequence[str]) -> None:
    """Import some modules, then fork until standard input ends."""
    for name in preloaded:
        importlib.import_module(name)
    while line := sys.stdin.readline():
        arguments, output = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _run(arguments, Path(output))
        with contextlib.suppress(ProcessLookupError):
            os.setpgid(pid, pid)  # here and there, so that it is so before anybody kills the group
        print(pid, flush=True)
        sys.stdin.readline()
        end = os.pidfd_open(pid)
        select.select([end, sys.stdin], [], [])  # nothing more comes before its end, unless nobody is left to ask
        if not select.select([end], [], [], 0.0)[0]:
            os.killpg(pid, signal.SIGKILL)
        os.close(end)
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # what the tests left
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(arguments: Sequence[str], output: Path) -> None:
    """Run pytest in a group of its own; never returns."""
    code = 1
    try:
        os.setpgid(0, 0)
        nothing, file = os.open(os.devnull, os.O_RDONLY), os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for here, there in ((nothing, 0), (file, 1), (file, 2)):
            os.dup2(here, there)
        code = int(sys.modules["pytest"].main(list(arguments)))
        sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
