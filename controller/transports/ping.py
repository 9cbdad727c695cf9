"""The system's `ping` on a node, over SSH, for as long as something lasts."""

import subprocess
import threading
import time
from types import TracebackType
from typing import Final, Self

from eee_testbed.controller.transports.host_clock import read_clocks
from eee_testbed.controller.transports.hosts import NO_SSH, ssh_command
from eee_testbed.lab.errors import DeviceError, LabError, Rejected, Unreachable
from eee_testbed.lab.model import Host
from eee_testbed.lab.plain_text import one_line

INTERVAL_S: Final = 0.01
_FIRST_WITHIN_S: Final = 20.0
_LAST_WITHIN_S: Final = 5.0


class Ping:
    """Echoes from one node to another, each 10 ms, from entering the context to leaving it, or until `end`.

    Entering raises DeviceError if the node is not reached, has no ping, or hears nothing from the other one.
    """

    def __init__(self, sender: Host, receiver: Host) -> None:
        self._sender = sender
        self._receiver = receiver
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._answers = 0
        self._ended = False
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._read, name=f"ping {sender.name}", daemon=True)
        self.exchanges: tuple[tuple[int, int, int], ...] = ()
        """Readings of the node's clock, see `controller.transports.host_clock`."""

    def __enter__(self) -> Self:
        reading = read_clocks([self._sender])[self._sender.name]
        if isinstance(reading, DeviceError):
            raise reading
        self.exchanges = reading.exchanges
        command = ["ping", "-D", "-O", "-n", "-i", str(INTERVAL_S), self._receiver.data_address]
        try:
            self._process = subprocess.Popen(
                ssh_command(self._sender, command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,  # a Ctrl-C at the terminal is ours to pass on
            )
        except FileNotFoundError as error:
            raise LabError(NO_SSH) from error
        self._thread.start()
        if not self._await_answers(1, _FIRST_WITHIN_S):
            self._stop()
            output = " ".join(" ".join(self._lines[-2:]).split())
            if self._ended:
                raise Rejected(self._sender.name, " ".join(command), output or "nothing")
            raise Unreachable(
                self._receiver.name, f"does not answer echoes of {self._sender.name}: {output or 'silence'}."
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def end(self) -> None:
        """Send no more echoes; what was sent until then is waited for."""
        self.lines()
        self._stop()

    def lines(self) -> tuple[str, ...]:
        """What ping printed until an answer came that is younger than this call; all there is if none comes."""
        with self._changed:
            answers = self._answers
        self._await_answers(answers + 2, _LAST_WITHIN_S)
        with self._changed:
            return tuple(self._lines)

    def _await_answers(self, count: int, timeout_s: float) -> bool:
        end_s = time.monotonic() + timeout_s
        with self._changed:
            self._changed.wait_for(lambda: self._answers >= count or self._ended, max(end_s - time.monotonic(), 0.0))
            return self._answers >= count

    def _read(self) -> None:
        if self._process is None or self._process.stdout is None:
            raise AssertionError("the thread starts after the process")
        for line in self._process.stdout:
            with self._changed:
                self._lines.append(one_line(line.rstrip("\r\n")))
                self._answers += "bytes from" in line
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _stop(self) -> None:
        """End ssh; ping ends when it writes its next line to the closed connection."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._thread.join()
