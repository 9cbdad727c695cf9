"""Hosts for the live engine: network namespaces, each with a TAP called eth0."""

import contextlib
import fcntl
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import pytest
from eee_engine import Engine

from tests.support.needs import needs_lab

_TUNSETIFF: Final = 0x400454CA
_TAP_WITH_HEADER: Final = 0x0002 | 0x1000 | 0x4000  # IFF_TAP | IFF_NO_PI | IFF_VNET_HDR
_UP_WITHIN_S: Final = 30


def run(*argv: str) -> str:
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(argv)}: {done.stderr}{done.stdout}"
    return done.stdout


@dataclass(frozen=True, slots=True)
class Host:
    """A namespace; the engine that attaches `tap_fd` owns it."""

    namespace: str
    number: int
    tap_fd: int

    @property
    def mac(self) -> bytes:
        return bytes([2, 0, 0, 0, 7, self.number])

    @property
    def address(self) -> str:
        return f"198.19.7.{self.number}"

    @property
    def address6(self) -> str:
        return f"fd00:7::{self.number}"

    def argv(self, *argv: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.namespace, *argv)

    def run(self, *argv: str) -> str:
        return run(*self.argv(*argv))


@pytest.fixture
def make_host() -> Iterator[Callable[[], Host]]:
    """Makes a host per call, numbered from 1; all are gone after the test."""
    needs_lab()
    with contextlib.ExitStack() as stack:
        made = 0

        def make() -> Host:
            nonlocal made
            made += 1
            namespace = f"twin-test-{os.getpid()}-{made}"
            run("ip", "netns", "add", namespace)
            stack.callback(run, "ip", "netns", "del", namespace)
            tap = f"tt{os.getpid() % 1_000_000}n{made}"
            tap_fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
            fcntl.ioctl(tap_fd, _TUNSETIFF, struct.pack("16sH22x", tap.encode(), _TAP_WITH_HEADER))
            host = Host(namespace, made, tap_fd)
            run("ip", "link", "set", tap, "address", host.mac.hex(":"), "netns", namespace, "name", "eth0")
            inside = ("ip", "-n", namespace)
            run(*inside, "address", "add", f"{host.address}/24", "dev", "eth0")
            run(*inside, "address", "add", f"{host.address6}/64", "dev", "eth0", "nodad")
            run(*inside, "link", "set", "lo", "up")
            run(*inside, "link", "set", "eth0", "up")
            return host

        yield make


@dataclass(frozen=True, slots=True)
class Bed:
    """Two hosts, each on a switch of its own; between the switches a trunk that carries VLAN 1 tagged."""

    engine: Engine
    hosts: tuple[Host, Host]
    nics: tuple[int, int]
    ports: tuple[int, int]
    trunk: int


@pytest.fixture
def bed(make_host: Callable[[], Host]) -> Iterator[Bed]:
    engine = Engine(seed=1, frame_budget_per_s=0)
    try:
        yield _build(engine, (make_host(), make_host()))
    finally:
        engine.stop()


def _build(engine: Engine, hosts: tuple[Host, Host]) -> Bed:
    switches = [
        engine.add_switch(
            f"sw{number}",
            phys=["1000BASE-T", "10GBASE-T"],
            port_names=["access", "trunk"],
            base_mac=bytes([2, 0, 0, number, 8, 0]),
        )
        for number in range(2)
    ]
    trunk = engine.connect(switches[0]["ports"][1], switches[1]["ports"][1])
    nics = []
    for switch, host in zip(switches, hosts, strict=True):
        access, uplink = switch["ports"]
        engine.set_vlan(switch["switch"], 1, members=[access, uplink], untagged=[access])
        nics.append(engine.add_host(host.namespace, mac=host.mac))
        engine.connect(nics[-1], access)
        engine.attach(nics[-1], host.tap_fd)
        for port in (access, uplink, nics[-1]):
            engine.set_interruption(port, seconds=0.05)
            engine.set_port(port, eee=False)
    engine.start()
    bed = Bed(engine, hosts, (nics[0], nics[1]), (switches[0]["ports"][0], switches[1]["ports"][0]), trunk)
    # ping -w ends with the first answer: links come up, addresses get resolved
    hosts[0].run("ping", "-q", "-c", "1", "-i", "0.05", "-w", str(_UP_WITHIN_S), hosts[1].address)
    hosts[0].run("ping", "-q", "-c", "1", "-i", "0.05", "-w", str(_UP_WITHIN_S), hosts[1].address6)
    return bed
