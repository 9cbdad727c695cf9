"""Reading a node's clock over SSH: many short exchanges over one connection, so that only a round trip is in doubt."""

import asyncio
import contextlib
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eee_testbed.controller.transports.hosts import NO_SSH, ssh_command
from eee_testbed.lab.errors import DeviceError, LabError, Unreachable, Unreadable
from eee_testbed.lab.json_text import parse_json
from eee_testbed.lab.model import Host
from eee_testbed.lab.plain_text import decoded_lines

_EXCHANGES: Final = 24
_PATIENCE_S: Final = 20.0
_AT_ONCE: Final = 16
_CHRONY_S: Final = 3.0

_PROGRAM: Final = """
import json, subprocess, sys, time
try:
    tracking = subprocess.run(["chronyc", "-c", "tracking"], capture_output=True, text=True, timeout=3).stdout
except (OSError, subprocess.TimeoutExpired):
    tracking = ""
sys.stdout.write(json.dumps(tracking) + "\\n")
sys.stdout.flush()
while sys.stdin.buffer.read1(1):
    sys.stdout.write("%d\\n" % time.time_ns())
    sys.stdout.flush()
"""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """(sent, there, received) of each exchange: monotonic ns here, CLOCK_REALTIME there; and chrony's line or ""."""

    exchanges: tuple[tuple[int, int, int], ...]
    tracking: str


def read_clocks(hosts: Sequence[Host]) -> dict[str, ClockReading | DeviceError]:
    """The clocks of nodes, some at a time; by name the reading, or what went wrong there."""
    return asyncio.run(_read_all(hosts))


def tracking_here() -> str:
    """What chrony says of this machine's clock; empty where it does not run."""
    try:
        return subprocess.run(
            ["chronyc", "-c", "tracking"], capture_output=True, text=True, timeout=_CHRONY_S, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


async def _read_all(hosts: Sequence[Host]) -> dict[str, ClockReading | DeviceError]:
    free = asyncio.Semaphore(_AT_ONCE)
    exchanging = asyncio.Lock()  # one node at a time, so that we are never late to see an answer

    async def one(host: Host) -> ClockReading | DeviceError:
        async with free:
            try:
                return await _read(host, exchanging)
            except DeviceError as error:
                return error

    readings = await asyncio.gather(*(one(host) for host in hosts))
    return {host.name: reading for host, reading in zip(hosts, readings, strict=True)}


async def _read(host: Host, exchanging: asyncio.Lock) -> ClockReading:
    try:
        process = await asyncio.create_subprocess_exec(
            *ssh_command(host, ["python3", "-c", _PROGRAM]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise LabError(NO_SSH) from error
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await _exchange(host, process, exchanging)
    except (TimeoutError, ConnectionError) as error:
        raise Unreachable(host.name, "its clock could not be read over SSH: check that it answers.") from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _exchange(host: Host, process: asyncio.subprocess.Process, exchanging: asyncio.Lock) -> ClockReading:
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise AssertionError("all three are pipes")
    first = await process.stdout.readline()
    if not first:
        lines = decoded_lines(await process.stderr.read()).strip().splitlines()
        await process.wait()
        complaint = f" ({lines[-1]})" if lines else ""
        raise Unreachable(host.name, f"does not answer by SSH{complaint}: check power, cable and ansible_host.")
    samples = []
    try:
        tracking = str(parse_json(first, several_lines=True))
        async with exchanging:
            for _ in range(_EXCHANGES):
                sent_ns = time.monotonic_ns()
                process.stdin.write(b".")
                line = await process.stdout.readline()
                received_ns = time.monotonic_ns()
                samples.append((sent_ns, int(line), received_ns))
    except ValueError as error:
        raise Unreadable(host.name, "the time", repr(first[:80])) from error
    process.stdin.close()
    return ClockReading(tuple(samples), tracking)
