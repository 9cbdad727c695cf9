"""A command that another one started ends with it: a study that is killed leaves no run that holds the lab.

The kernel sends SIGTERM when the other one dies, by whatever signal. The other one sends it, too, in place of Ctrl-C
(`measuring/study/commands.py`). So it is Ctrl-C to this command: a run then restores its lab.
"""

import os
import signal

from eee_testbed.measuring.study.ending import PARENT


def follow_parent() -> None:
    """Ask for the signal, and take it as Ctrl-C, if a command started this one."""
    number = os.environ.pop(PARENT, "")
    if not number:
        return
    from eee_testbed.twin.machine.namespaces import die_with_parent  # noqa: PLC0415 - most commands have no parent to follow

    die_with_parent(signal.SIGTERM)
    if str(os.getppid()) != number:  # it died before
        os.kill(os.getpid(), signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
