"""A process at a terminal is told from one without."""

import os
import pty
import subprocess
from pathlib import Path

from eee_testbed.twin.machine.terminals import program_at_terminal


def _begin(*, terminal: int | None) -> "subprocess.Popen[bytes]":
    """`sleep` in a session of its own, with this terminal as its controlling one."""
    if terminal is None:
        begun = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, start_new_session=True)
    else:
        begun = subprocess.Popen(["setsid", "--ctty", "sleep", "600"], stdin=terminal)
    command = Path(f"/proc/{begun.pid}/comm")
    while command.read_text(encoding="ascii").strip() != "sleep":
        pass
    return begun


def test_who_has_a_terminal_is_named_and_who_has_none_or_has_ended_is_not() -> None:
    master, slave = pty.openpty()
    found = []
    for terminal in (slave, None):
        with _begin(terminal=terminal) as process:
            found.append(program_at_terminal(process.pid))
            process.kill()
    os.close(master)
    os.close(slave)
    assert found == ["sleep", ""]
    assert program_at_terminal(process.pid) == ""
