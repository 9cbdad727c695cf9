"""Two nodes in network namespaces of their own, joined by a veth pair; agents reach them as over SSH: on stdin."""

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from eee_testbed.agents.pack import packed
from eee_testbed.agents.recording import Recording, read_stream

PATIENCE_S = 60.0
"""Ends a wait on a busy machine; it is never what is measured."""

NOBODY = 65_534
_COUNT = itertools.count()


@dataclass(frozen=True, slots=True)
class Node:
    """One namespace with one interface."""

    namespace: str
    interface: str
    address: str

    def inside(self, *argv: str) -> list[str]:
        """The argv that runs something there."""
        return ["ip", "netns", "exec", self.namespace, *argv]

    def run(self, *argv: str) -> str:
        """Run something there; its output."""
        done = subprocess.run(self.inside(*argv), check=True, capture_output=True, text=True, timeout=PATIENCE_S)
        return done.stdout

    def ip(self, *words: str) -> str:
        """`ip`, in JSON where it can."""
        return self.run("ip", "-json", *words)

    def sysctl(self, key: str, value: str) -> None:
        """Set a kernel parameter of the namespace."""
        self.run("sysctl", "-q", "-w", f"{key}={value}")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two nodes that reach each other."""

    a: Node
    b: Node


@dataclass(frozen=True, slots=True)
class Ended:
    """Processes and files that an agent left behind."""

    status: int
    output: str
    errors: str

    @property
    def recording(self) -> Recording:
        return read_stream(self.output)


@contextmanager
def nodes() -> Iterator[Pair]:
    number = next(_COUNT)
    names = [f"eee{os.getpid()}-{number}{side}" for side in "ab"]
    pair = Pair(Node(names[0], "veth-a", "198.19.251.1"), Node(names[1], "veth-b", "198.19.251.2"))
    made = []
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            made.append(name)
        a, b = pair.a, pair.b
        subprocess.run(
            ["ip", "link", "add", a.interface, "netns", a.namespace, "type", "veth",
             "peer", "name", b.interface, "netns", b.namespace],
            check=True,
        )  # fmt: skip
        for node in (a, b):
            node.sysctl("net.ipv6.conf.all.disable_ipv6", "1")  # no frames except those that a test sends
            node.run("ip", "address", "add", f"{node.address}/24", "dev", node.interface)
            node.run("ip", "link", "set", node.interface, "up")
            node.run("ip", "link", "set", "lo", "up")
        for node, other in ((a, b), (b, a)):  # nor do they ask for each other's address
            mac = json.loads(other.ip("link", "show", other.interface))[0]["address"]
            node.run(
                "ip", "neighbour", "replace", other.address, "lladdr", mac, "dev", node.interface, "nud", "permanent"
            )
        a.run("ping", "-q", "-c", "1", "-w", "20", b.address)
        yield pair
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=True)


Run = Callable[..., Ended]


def agent_argv(
    node: Node, words: Sequence[str], prefix: Sequence[str] = (), program: Sequence[str] = ("-",)
) -> list[str]:
    return node.inside(*prefix, sys.executable, "-I", *program, *words)


class Running:
    """An agent that runs; its output is read line by line. One that `listens` has a standard input of its own."""

    def __init__(self, node: Node, agent: str, *words: str, listens: bool = False) -> None:
        program = packed(agent)
        argv = agent_argv(node, words, program=("-c", program) if listens else ("-",))
        self._child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if not listens:
            self.tell(program)
            self.hang_up()
        self._lines: list[str] = []

    def tell(self, text: str) -> None:
        """Give it something to read."""
        assert self._child.stdin is not None
        self._child.stdin.write(text)
        self._child.stdin.flush()

    def hang_up(self) -> None:
        """End its standard input."""
        assert self._child.stdin is not None
        self._child.stdin.close()

    @property
    def pid(self) -> int:
        """The agent's own process: `ip netns exec` becomes it."""
        return self._child.pid

    def line(self) -> str:
        """The next line; empty at the end."""
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        self._lines.append(line)
        return line

    def line_with(self, text: str) -> str:
        """Read until a line holds this."""
        while line := self.line():
            if text in line:
                return line
        raise AssertionError(f"no line with {text!r}: {self._lines} {self.errors()}")

    def errors(self) -> str:
        assert self._child.stderr is not None
        return self._child.stderr.read()

    def signal(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def ended(self) -> Ended:
        """Wait for the end."""
        while self.line():
            pass
        errors = self.errors()
        return Ended(self._child.wait(PATIENCE_S), "".join(self._lines), errors)

    def close(self) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait(PATIENCE_S)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            if stream is not None:
                stream.close()
