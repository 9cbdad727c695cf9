"""Exit status of the command."""

import subprocess
import sys

import pytest

_LEFT_IN_A_LIBRARY = """
import io, sys, threading, time
from typing import Annotated
from pydantic import AfterValidator, TypeAdapter
import eee_testbed.eeectl.cli as cli

class Slow(io.StringIO):
    def flush(self):
        time.sleep(0.5)

def stay(value):
    begun.set()
    time.sleep(0.2)
    return value

def run(tokens):
    threading.Thread(target=TypeAdapter(Annotated[int, AfterValidator(stay)]).validate_python, args=(1,),
                     daemon=True).start()
    begun.wait()
    print("done")
    return 130

sys.stderr, begun, cli.run = Slow(), threading.Event(), run
cli.main()
"""
"""A thread waits below native code and awakes while the interpreter ends."""


@pytest.mark.slow
def test_a_thread_left_in_native_code_does_not_change_the_exit_status() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LEFT_IN_A_LIBRARY], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "done\n", "")
