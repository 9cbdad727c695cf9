"""A program on a node that exchanges JSON lines, and a command that streams its output, over the OpenSSH client.

Where `hosts.run_on_hosts` asks once, a session stays. A node that goes away is noticed within seconds, as ssh itself
asks whether the other end is alive. Everything here is asynchronous; a session that is left is closed.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

from eee_testbed.controller.transports.hosts import (
    NO_SSH,
    SSH_FAILED,
    TAKE,
    Json,
    Program,
    failure,
    lasting_command,
    lines_of,
)
from eee_testbed.lab.errors import LabError, Unreachable, Unreadable
from eee_testbed.lab.json_text import parse_json
from eee_testbed.lab.model import Host
from eee_testbed.lab.plain_text import decoded, decoded_lines

_LONGEST_LINE: Final = 1 << 27
_PIECE_BYTE: Final = 1 << 16

Take = Callable[[bytes], None]
"""Gets a piece of what a command printed."""

_BOOT: Final = (
    TAKE
    + """
exec(compile(take(int(take(20))), "program", "exec"), {"__name__": "__main__"})
"""
)
"""Takes the program and nothing more from standard input: what follows is the program's own."""


_PARTING_S: Final = 2.0
"""How long ssh may take to end after its input has, and its words to end after it has."""


class NodeSession:
    """A Python program on a node that reads and prints JSON lines; a context that ends it.

    Errors are those of `run_on_hosts`: Unreachable with AccessDenied and HostKeyChanged, Rejected if the program
    failed, Unreadable if it printed something else.
    """

    def __init__(self, program: Program, host: Host) -> None:
        self.host = host
        self.parted = False
        """Whether it was asked to end; set by the session's user."""
        self._program = program
        self._process: asyncio.subprocess.Process | None = None
        self._complaints: asyncio.Task[bytes] | None = None

    async def __aenter__(self) -> Self:
        try:
            process = await asyncio.create_subprocess_exec(
                *lasting_command(self.host, [self._program.python, "-c", _BOOT]),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
                start_new_session=True,  # a Ctrl-C at the terminal is ours to pass on
            )
        except FileNotFoundError as error:
            raise LabError(NO_SSH) from error
        if process.stderr is None:
            raise AssertionError("all three are pipes")
        self._process = process
        self._complaints = asyncio.create_task(process.stderr.read())
        text = self._program.text.encode()
        await self._write(f"{len(text)}".ljust(20).encode() + text)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the connection, and see ssh end, by itself if it can: the program sees the end of its input."""
        process, complaints = self._alive()
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(_PARTING_S):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
        complaints.cancel()

    async def send(self, value: Json | None) -> None:
        """Send a line; None sends an empty one."""
        await self._write((b"" if value is None else json.dumps(value).encode()) + b"\n")

    async def answer(self) -> Json:
        """The next line of the program; the errors of the class if it ended instead."""
        process, complaints = self._alive()
        if process.stdout is None:
            raise AssertionError("all three are pipes")
        line = await process.stdout.readline()
        if not line.endswith(b"\n"):
            status = await process.wait()
            complaint = decoded_lines(await complaints)
            if status:
                raise failure(self._program, self.host, status, complaint)
            raise Unreachable(self.host.name, f"{self._program.name} ended early there: try again.")
        try:
            return parse_json(line)
        except ValueError as error:
            raise Unreadable(self.host.name, self._program.name, decoded(line)) from error

    @property
    def begun(self) -> bool:
        """Whether ssh was started."""
        return self._process is not None

    async def gone(self) -> str:
        """Wait until the connection or the program has ended; what ssh or the program said last, or how it ended."""
        process, complaints = self._alive()
        status = await process.wait()
        await asyncio.wait([complaints], timeout=_PARTING_S)  # a master of shared connections may keep it open
        complaint = decoded_lines(complaints.result()) if complaints.done() else ""
        silent = "the SSH connection ended" if status == SSH_FAILED else f"exit status {status}"
        return (lines_of(complaint) or [silent])[-1]

    def _alive(self) -> tuple[asyncio.subprocess.Process, "asyncio.Task[bytes]"]:
        if self._process is None or self._complaints is None:
            raise AssertionError("a session is used inside its context")
        return self._process, self._complaints

    async def _write(self, data: bytes) -> None:
        process, _ = self._alive()
        if process.stdin is None:
            raise AssertionError("all three are pipes")
        with contextlib.suppress(ConnectionError):  # `answer` raises the error
            process.stdin.write(data)
            await process.stdin.drain()


async def stream_from(
    host: Host, remote: Sequence[str], output: Take, errors: Take, begun: Callable[[], None] | None = None
) -> int:
    """Run a command on a node until it ends, and give what it prints to two functions as it comes; its exit status.

    Unreachable if the connection was lost or never made. Cancelled, it lets go of the connection: the command there
    may live on, and the caller has to end it. `begun` is called when ssh has been started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *lasting_command(host, remote),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise LabError(NO_SSH) from error
    if process.stdout is None or process.stderr is None:
        raise AssertionError("both are pipes")
    if begun is not None:
        begun()
    try:
        await asyncio.gather(_give(process.stdout, output), _give(process.stderr, errors))
        status = await process.wait()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if status == SSH_FAILED:
        raise Unreachable(host.name, "the SSH connection to it was lost: check power and cable, then run it again.")
    return status


async def _give(stream: asyncio.StreamReader, take: Take) -> None:
    while data := await stream.read(_PIECE_BYTE):
        take(data)
