"""Programs on nodes, over the OpenSSH client with the arguments that Ansible uses: Python in, JSON out.

A program is sent on standard input, so that a node needs nothing but Python and an SSH server. It finds its argument,
one JSON text, in `sys.argv[1]` and prints one JSON value. It lives as long as its connection: when that ends, by
Ctrl-C, a time-out or a crash here, the program and everything that it started in its process group is killed.
"""

import asyncio
import contextlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eee_testbed.lab.errors import (
    AccessDenied,
    DeviceError,
    HostKeyChanged,
    LabError,
    Rejected,
    Unreachable,
    Unreadable,
)
from eee_testbed.lab.json_text import parse_json
from eee_testbed.lab.model import Host
from eee_testbed.lab.plain_text import decoded, decoded_lines

Json = Any
"""What `parse_json` returns."""

_AT_ONCE: Final = 64
_CONNECT_S: Final = 5
_CONNECT_TRIES: Final = 3  # of the connection alone: nothing has been started yet
_SHOWN_CHARACTERS: Final = 300  # of what a program said before it failed

TAKE: Final = """
import os, sys
def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            sys.exit("the connection ended early")
        data += piece
    return data
"""
"""Beginning of what a node is started with: reads so many bytes of standard input, and not one more."""

NO_SSH: Final = "`ssh` is not installed here: install an OpenSSH client."
SSH_FAILED: Final = 255
"""Exit status of ssh itself; a program's own is below."""

_KEEP_ALIVE: Final = ("-o", "ServerAliveInterval=3", "-o", "ServerAliveCountMax=3")

_BOOT: Final = (
    TAKE
    + """
import signal, threading
def watch():
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)
if os.getpgrp() != os.getpid():
    os.setpgid(0, 0)
sizes = take(20).split()
program, sys.argv = take(int(sizes[0])), ["program", take(int(sizes[1])).decode()]
threading.Thread(target=watch, daemon=True).start()
exec(compile(program, "program", "exec"), {"__name__": "__main__"})
"""
)


@dataclass(frozen=True, slots=True)
class Program:
    """A Python program for nodes; `name` is what errors call it, `python` the interpreter there."""

    name: str
    text: str
    python: str = "python3"


def ssh_command(host: Host, remote: Sequence[str]) -> list[str]:
    """The command that runs another on a node; it never asks for anything."""
    options = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S}", "-T", "-p", str(host.ssh_port)]
    options += ["-o", f"ConnectionAttempts={_CONNECT_TRIES}"]
    if host.key_file:
        options += ["-i", host.key_file]
    where = f"{host.user}@{host.management_address}"
    return ["ssh", *shlex.split(host.ssh_arguments), *options, where, "--", shlex.join(remote)]


def lasting_command(host: Host, remote: Sequence[str]) -> list[str]:
    """The same for what stays: a node that goes away is noticed within ten seconds."""
    command = ssh_command(host, remote)
    return [command[0], *_KEEP_ALIVE, *command[1:]]


def run_on_hosts(
    program: Program, arguments: Mapping[Host, Json], *, timeout_s: float, at_once: int = _AT_ONCE
) -> Mapping[str, Json | DeviceError]:
    """Run a program on many nodes at once, each with its argument; by name its answer, or what went wrong there.

    Errors are Unreachable (with AccessDenied and HostKeyChanged), Rejected if the program failed, Unreadable if it
    printed no JSON. `at_once`: how many run together, for programs that wait for each other. A KeyboardInterrupt
    passes through when everything that was started is gone.
    """
    return asyncio.run(_run_all(program, arguments, timeout_s, at_once))


async def _run_all(
    program: Program, arguments: Mapping[Host, Json], timeout_s: float, at_once: int
) -> Mapping[str, Json | DeviceError]:
    free = asyncio.Semaphore(at_once)

    async def one(host: Host, argument: Json) -> Json | DeviceError:
        async with free:
            try:
                return await _run(program, host, argument, timeout_s)
            except DeviceError as error:
                return error

    answers = await asyncio.gather(*(one(host, argument) for host, argument in arguments.items()))
    return {host.name: answer for host, answer in zip(arguments, answers, strict=True)}


async def _run(program: Program, host: Host, argument: Json, timeout_s: float) -> Json:
    text, argument_json = program.text.encode(), json.dumps(argument).encode()
    try:
        process = await asyncio.create_subprocess_exec(
            *ssh_command(host, [program.python, "-c", _BOOT]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C at the terminal is ours to pass on
        )
    except FileNotFoundError as error:
        raise LabError(NO_SSH) from error
    try:
        sizes = f"{len(text)} {len(argument_json)}".ljust(20).encode()
        async with asyncio.timeout(timeout_s):
            output, errors = await _conversation(process, sizes + text + argument_json)
    except TimeoutError as error:
        raise Unreachable(host.name, f"{program.name} did not finish there within {timeout_s:g} s.") from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise failure(program, host, process.returncode, decoded_lines(errors))
    try:
        return parse_json(output)
    except ValueError as error:
        raise Unreadable(host.name, program.name, decoded(output)) from error


async def _conversation(process: asyncio.subprocess.Process, data: bytes) -> tuple[bytes, bytes]:
    """Send everything and read to the end; standard input stays open, as the program lives as long as it does."""
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise AssertionError("all three are pipes")
    process.stdin.write(data)
    with contextlib.suppress(ConnectionError):
        await process.stdin.drain()
    output, errors = await asyncio.gather(process.stdout.read(), process.stderr.read())
    await process.wait()
    process.stdin.close()
    return output, errors


def lines_of(output: str) -> list[str]:
    """The lines of what ssh or a program said on standard error, without empty ones."""
    return [line.strip() for line in output.splitlines() if line.strip()]


def failure(program: Program, host: Host, status: int, complaint: str) -> DeviceError:
    """The error for ssh that ended with `status`, and this `complaint` on standard error."""
    lines = lines_of(complaint)
    last = lines[-1] if lines else f"exit status {status}"
    if status != SSH_FAILED:
        return Rejected(host.name, program.name, "\n".join(lines)[-_SHOWN_CHARACTERS:] or last)
    if "REMOTE HOST IDENTIFICATION HAS CHANGED" in complaint or "Host key verification failed" in complaint:
        sentence = f"its SSH host key at {host.management_address} is not the trusted one: compare it, then correct"
        return HostKeyChanged(host.name, f"{sentence} the known_hosts file that ssh uses.")
    if "Permission denied" in complaint:
        return AccessDenied(host.name, f"does not let {host.user} in by SSH ({last}): correct its key or user.")
    return Unreachable(host.name, f"does not answer by SSH ({last}): check power, cable and ansible_host.")
