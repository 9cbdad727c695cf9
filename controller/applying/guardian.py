"""The guardian of an apply that has to be confirmed: ``python -m eee_testbed.controller.applying.guardian LAB``.

A process of its own session, started before anything is sent. It waits for the end of the apply: the
kernel closes the guardian's standard input however the apply ends. An apply that died half-way is rolled back at once.
One that was verified is rolled back at its deadline, unless the journal says by then that it is confirmed or already
rolled back. It never polls; it waits on descriptors: its input, and a FIFO that every writer of the journal writes to.

Simplification: an apply that is stopped (Ctrl-Z) has not ended, and is waited for. The deadline is of the machine's
clock; a machine that sleeps or is off rolls nothing back: `eeectl status` says so, `eeectl recover` does it.
"""

import contextlib
import errno
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from eee_testbed.controller.applying.backend import real_backend
from eee_testbed.controller.applying.journal import Journal, JournalState, read_journal
from eee_testbed.controller.applying.progress import Log
from eee_testbed.controller.applying.put_back import as_it_was
from eee_testbed.controller.applying.recover import recover, roll_back
from eee_testbed.controller.applying.rounds import Stop
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import Backend, at_work
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab

_READY = b"ready\n"
_START_S = 30.0


def ring(folder: StateFolder) -> None:
    """Wake a guardian, if one runs, to read the journal again."""
    try:
        bell = os.open(folder.doorbell, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENOENT):  # no guardian runs
            return
        raise
    with contextlib.closing(os.fdopen(bell, "wb", buffering=0)) as stream, contextlib.suppress(BlockingIOError):
        stream.write(b"!")


@contextmanager
def guardian(lab: Lab, program: Sequence[str] = ("-m", "eee_testbed.controller.applying.guardian")) -> Iterator[int]:
    """Start a guardian for the apply in the context; yields its process number. LabError if it does not start."""
    folder = StateFolder.of(lab)
    folder.make()
    read, lifeline = os.pipe()
    try:
        with folder.guardian_log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *program, lab.folder],
                stdin=read,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        os.close(read)
        assert process.stdout is not None  # noqa: S101 - it was asked for
        with process.stdout as output:
            started = select.select([output], [], [], _START_S)[0] and output.readline() == _READY
        if not started:
            process.kill()
            process.wait()
            raise LabError(
                f"no guardian could be started, so nothing was sent: see {folder.guardian_log}, or apply without "
                "--confirm-in."
            )
        yield process.pid
    finally:
        os.close(lifeline)


class Bell:
    """The FIFO on which a guardian is woken."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def fileno(self) -> int:
        """For poll."""
        return self._descriptor

    def drain(self) -> None:
        """Forget the rings so far."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._descriptor, 4096):
                pass


def watch_over(
    lab: Lab, backend: Backend, log: Log, stop: Stop, lifeline: int = 0, ready: Callable[[], None] = lambda: None
) -> None:
    """Wait for the end of the apply, then for its confirmation or the deadline; roll back unless it is confirmed."""
    folder = StateFolder.of(lab)
    bell = Bell(folder.doorbell)
    ready()
    _wait_for_end(lifeline)
    while True:
        bell.drain()
        record = read_journal(folder.journal, folder.operand)
        left_s = _left_s(record)
        if record is None or left_s is None:
            return
        if left_s <= 0:
            break
        select.select([bell], [], [], left_s)
    with at_work(lab, backend, "guardian", log, stop, wait=True) as work:
        left_s = _left_s(read_journal(folder.journal, folder.operand))
        if left_s is None or left_s > 0:
            return
        with Journal(folder.journal) as journal:
            if journal.record.waiting:
                stay = roll_back(work, journal, "nobody confirmed it in time")
                log.say(f"not confirmed in time: {as_it_was(stay, 'before')}.")
            else:
                log.say(recover(work, journal))


def _left_s(record: JournalState | None) -> float | None:
    """Seconds until the apply is to be rolled back; None if it is not."""
    if record is None or record.finished or record.broken:
        return None
    if not record.waiting or record.deadline is None:
        return 0.0
    return (record.deadline - datetime.now(UTC)).total_seconds()


def _wait_for_end(lifeline: int) -> None:
    while os.read(lifeline, 4096):
        pass


def main(argv: Sequence[str], backend_of: Callable[[Lab], Backend] = real_backend) -> int:
    """Guard the lab in the folder given."""
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.ask())
    lab = load_lab(find_lab(argv[0]))
    log = Log(sys.stderr)

    def ready() -> None:
        sys.stdout.buffer.write(_READY)
        sys.stdout.buffer.flush()
        os.close(sys.stdout.fileno())

    try:
        watch_over(lab, backend_of(lab), log, stop, ready=ready)
    except LabError as error:
        log.say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout = None  # its descriptor was closed when we were ready
    raise SystemExit(code)
