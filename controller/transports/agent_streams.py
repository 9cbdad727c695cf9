"""Agents on nodes over SSH: their JSON lines come as they are written, and they end when their connection does.

An agent (`agents/`) travels as one text on standard input, so a node needs nothing but Python and an SSH server; what
follows it there is the agent's own standard input. When it ends - we are done with it, or our end died, however it died
- the agent gets a SIGTERM, upon which it writes its summary; one that does not end by itself within seconds is killed
there.
"""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from eee_testbed.agents.pack import packed
from eee_testbed.controller.transports.hosts import NO_SSH, TAKE, Program, failure, lasting_command
from eee_testbed.lab.errors import DeviceError, LabError, Rejected, Unreachable
from eee_testbed.lab.model import Host
from eee_testbed.lab.plain_text import decoded

_BOOT: Final = (
    TAKE
    + """
import signal, threading, time
said, say = os.pipe()
def watch():
    while data := os.read(0, 4096):
        os.write(say, data)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)
    os.killpg(0, signal.SIGKILL)
if os.getpgrp() != os.getpid():
    os.setpgid(0, 0)
sizes = take(20).split()
program, words = take(int(sizes[0])), take(int(sizes[1])).decode()
sys.argv = ["agent", *__import__("json").loads(words)]
sys.stdin = os.fdopen(said)
threading.Thread(target=watch, daemon=True).start()
exec(compile(program, "agent", "exec"), {"__name__": "__main__"})
"""
)
_FIRST_WITHIN_S: Final = 30.0
_LAST_WITHIN_S: Final = 10.0


class AgentStream:
    """One agent on one node, from entering the context to leaving it; `take` gets its output, line by line.

    Entering raises DeviceError if the agent writes nothing; `take` is called by a thread of its own.
    """

    def __init__(
        self, host: Host, agent: str, words: Sequence[str], take: Callable[[bytes], None], user: str = ""
    ) -> None:
        self.agent = agent
        self.host = replace(host, user=user) if user else host
        self._words = tuple(words)
        self._take = take
        self._said: list[str] = []
        self._first = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._threads: tuple[threading.Thread, ...] = ()

    def __enter__(self) -> Self:
        self.begin()
        try:
            self.await_first()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> None:
        """Start it, and return at once."""
        program, words = packed(self.agent).encode(), json.dumps(self._words).encode()
        try:
            process = subprocess.Popen(
                lasting_command(self.host, [self.host.agent_python, "-c", _BOOT]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # a Ctrl-C at the terminal is ours to pass on
            )
        except FileNotFoundError as error:
            raise LabError(NO_SSH) from error
        self._process = process
        name = f"{self.agent} {self.host.name}"
        message = f"{len(program)} {len(words)}".ljust(20).encode() + program + words
        targets = (lambda: self._give(message), self._read, self._read_errors)
        self._threads = tuple(threading.Thread(target=target, name=name, daemon=True) for target in targets)
        for thread in self._threads:
            thread.start()

    def await_first(self) -> None:
        """Wait for its header; DeviceError if none comes."""
        if self._process is None:
            raise AssertionError("begin() comes first")
        if not self._first.wait(_FIRST_WITHIN_S):
            raise Unreachable(
                self.host.name, f"{self.agent} wrote nothing within {_FIRST_WITHIN_S:g} s: log in there and check."
            )
        self._require_well()

    def tell(self, line: str) -> None:
        """Give it a line on its standard input; one that has ended does not mind."""
        self._threads[0].join()
        self._give(f"{line}\n".encode())

    def wait(self, timeout_s: float) -> None:
        """Wait until it ends by itself; DeviceError if it fails, or does not end."""
        process = self._begun()
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise Unreachable(self.host.name, f"{self.agent} did not finish there within {timeout_s:g} s.") from None
        for thread in self._threads:
            thread.join()
        self._require_well()

    def ask_to_end(self) -> None:
        """Ask it to end, and return; harmless when it has ended."""
        stdin = self._begun().stdin
        if stdin is not None:
            self._threads[0].join(_LAST_WITHIN_S)
            try:
                stdin.close()
            except (OSError, ValueError):
                self._said.append("the connection is gone")

    def end(self) -> None:
        """End it and wait for its last line; a missing last line is not an error. Harmless when it has ended."""
        process = self._begun()
        self.ask_to_end()
        try:
            process.wait(_LAST_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for thread in self._threads:
            thread.join()

    def _begun(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise AssertionError("begin() comes first")
        return self._process

    def _require_well(self) -> None:
        status = self._begun().poll()
        if status:
            for thread in self._threads:
                thread.join()
            raise self._failure(status)

    def _failure(self, status: int) -> DeviceError:
        complaint = "\n".join(self._said).strip()
        if status < 0:
            return Rejected(self.host.name, self.agent, f"ended by signal {-status}")
        return failure(Program(self.agent, ""), self.host, status, complaint)

    def _give(self, data: bytes) -> None:
        """Send it something; standard input stays open, as the agent lives as long as it does."""
        stream = self._begun().stdin
        if stream is None:
            raise AssertionError("it is a pipe")
        try:
            stream.write(data)
            stream.flush()
        except (OSError, ValueError) as error:
            self._said.append(f"the connection ended: {error}")

    def _read(self) -> None:
        stream = self._begun().stdout
        if stream is None:
            raise AssertionError("it is a pipe")
        for line in stream:
            self._take(line)
            self._first.set()
        self._begun().wait()
        self._first.set()

    def _read_errors(self) -> None:
        stream = self._begun().stderr
        if stream is None:
            raise AssertionError("it is a pipe")
        for line in stream:
            self._said.append(decoded(line).rstrip())


@contextmanager
def at_once(
    streams: Sequence[AgentStream], await_first: Callable[[AgentStream], None] = AgentStream.await_first
) -> Iterator[None]:
    """Agents that begin together and end together; the context begins when all run. DeviceError if one does not."""
    with ExitStack() as stack:
        for stream in streams:
            stream.begin()
            stack.callback(stream.end)
        for stream in streams:
            stack.callback(stream.ask_to_end)
        for stream in streams:
            await_first(stream)
        yield
