"""A lab of real Open vSwitches (userspace datapath) in network namespaces of their own, with hosts in others.

Each switch has an ovsdb-server and an ovs-vswitchd of its own, with sockets and database in a temporary folder, and
sees nothing but its ports. Namespaces have no name: they go with the process that holds them, and the veth pairs too.
"""

import contextlib
import ctypes
import os
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from eee_testbed.controller.drivers.driver import ASPECTS, Answers, Command, Line, Query, Show
from eee_testbed.controller.drivers.openvswitch.driver import OpenVSwitch, set_up
from eee_testbed.controller.model.state import Change, State, SwitchState, replay
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.lab.errors import Rejected
from eee_testbed.lab.model import Lab, Switch
from tests.support.graph_lab import graph_lab

DRIVER = OpenVSwitch()
_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
_SOL_PACKET, _AUXDATA, _STATISTICS = 263, 8, 6
_CLONE_NEWNET = 0x40000000


def ovs_lab(switch_count: int, edges: Sequence[tuple[int, int]], hosts: Sequence[int]) -> Lab:
    """A drawn lab whose switches are Open vSwitches."""
    lab = graph_lab(switch_count, edges, hosts)
    return replace(lab, switches=tuple(replace(s, family="openvswitch", model="machine") for s in lab.switches))


class Namespace:
    """A network namespace without IPv6, whose neighbour discovery would be counted as traffic."""

    def __init__(self) -> None:
        self._holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sh", "-c", "echo; exec sleep infinity"],
            stdout=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        self._holder.stdout.read(1)
        self.pid = self._holder.pid
        self.run("for f in all default; do echo 1 >/proc/sys/net/ipv6/conf/$f/disable_ipv6; done; ip link set lo up")

    def argv(self, command: str) -> list[str]:
        return ["nsenter", "-t", str(self.pid), "-n", "sh", "-c", command]

    def run(self, command: str, **environment: str) -> str:
        done = subprocess.run(
            self.argv(command), check=False, capture_output=True, text=True, env={**os.environ, **environment}
        )
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr}{done.stdout}")
        return done.stdout

    def inside(self, work: Callable[[], socket.socket]) -> socket.socket:
        """Open a socket in the namespace; it stays in that namespace."""
        made: list[socket.socket] = []

        def enter() -> None:
            with Path(f"/proc/{self.pid}/ns/net").open() as there:
                assert ctypes.CDLL(None, use_errno=True).setns(there.fileno(), _CLONE_NEWNET) == 0
            made.append(work())

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        return made[0]

    def close(self) -> None:
        self._holder.kill()
        self._holder.communicate()


class OvsSession:
    """A session as `controller.transports.session` has it, without SSH: one command a process."""

    def __init__(self, switch: Switch, space: Namespace, folder: Path) -> None:
        self.switch = switch
        self._space = space
        self.environment = {
            name: str(folder) for name in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR")
        } | {"PATH": f"{folder}/bin:{os.environ['PATH']}:/usr/sbin:/sbin"}

    def run(self, command: str) -> str:
        done = subprocess.run(
            self._space.argv(command),
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **self.environment},
        )
        if done.returncode:
            raise Rejected(self.switch.name, command, done.stdout)
        return done.stdout

    def ask(self, queries: Sequence[Query]) -> Answers:
        return {query: self.run(query.command) for query in queries if isinstance(query, Show)}

    def send(self, order: Command) -> Acknowledged:
        assert isinstance(order, Line)
        sent_ns = time.monotonic_ns()
        self.run(order.text)
        return Acknowledged(order, sent_ns, time.monotonic_ns())

    def close(self) -> None:
        """Do nothing: no connection is held open."""

    def read(self) -> SwitchState:
        aspects = frozenset(ASPECTS)
        return DRIVER.parse(self.switch, aspects, self.ask(DRIVER.queries(self.switch, aspects)), None)

    def make(self, changes: Sequence[Change]) -> None:
        for order in DRIVER.render(self.switch, changes):
            self.send(order)


class Rack:
    """A running lab. Switches are set up with RSTP on and all ports up, as `set_up` leaves them."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.sessions: dict[str, OvsSession] = {}
        self.spaces: dict[str, Namespace] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            root = Path(tempfile.mkdtemp(prefix="ovs-rack-"))
            stack.callback(shutil.rmtree, root)
            for name in [*(s.name for s in self.lab.switches), *(h.name for h in self.lab.hosts)]:
                self.spaces[name] = Namespace()
                stack.callback(self.spaces[name].close)
            for link in self.lab.links:
                a, b = self.spaces[link.a.device], self.spaces[link.b.device]
                a.run(f"ip link add {link.a.port} type veth peer name {link.b.port} netns {b.pid}")
            for host in self.lab.hosts:
                self.spaces[host.name].run(
                    f"ip link set eth0 address {host.mac.hex(':')} up; ip addr add {host.data_address}/16 dev eth0; "
                    "ethtool -K eth0 tx off tso off gso off"  # OVS reads packets as they are: checksums complete
                )
            for switch in self.lab.switches:
                folder = root / switch.name
                folder.mkdir()
                self.sessions[switch.name] = OvsSession(switch, self.spaces[switch.name], folder)
                self._start(stack, switch, folder)
            with ThreadPoolExecutor() as pool:
                list(pool.map(self._set_up, self.lab.switches))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start(self, stack: contextlib.ExitStack, switch: Switch, folder: Path) -> None:
        session = self.sessions[switch.name]
        session.run(f"ovsdb-tool create {folder}/conf.db {_SCHEMA}")
        for program, arguments in (
            ("ovsdb-server", f"{folder}/conf.db --remote=punix:{folder}/db.sock"),
            ("ovs-vswitchd", f"unix:{folder}/db.sock"),
        ):
            pidfile = folder / f"{program}.pid"
            session.run(
                f"{program} {arguments} --pidfile={pidfile} --log-file={folder}/{program}.log -vconsole:off "
                "--detach --no-chdir >/dev/null 2>&1"
            )
            stack.callback(_end, int(pidfile.read_text()))
            if program == "ovsdb-server":
                session.run("ovs-vsctl --no-wait init")

    def _set_up(self, switch: Switch) -> None:
        session = self.sessions[switch.name]
        session.run("ovs-vsctl --no-wait -- add-br br0 -- set Bridge br0 datapath_type=netdev fail_mode=secure")
        for line in set_up(switch):
            session.send(line)

    def read(self) -> State:
        """The state of every switch, as read back."""
        with ThreadPoolExecutor() as pool:
            states = pool.map(OvsSession.read, self.sessions.values())
            return State(dict(zip(self.sessions, states, strict=True)))

    def apply(self, plan: Plan, state: State) -> State:
        """Round by round: on all switches at once, then read back; AssertionError if a switch is not as it should."""
        for number in sorted({step.round for step in plan.steps}):
            changes = [step.change for step in plan.steps if step.round == number]
            state = replay(changes, state)
            with ThreadPoolExecutor() as pool:
                work = [
                    pool.submit(session.make, [change for change in changes if change.switch == name])
                    for name, session in self.sessions.items()
                ]
                for done in work:
                    done.result()
            found = self.read()
            assert found == state, f"round {number}"
        return state


def _end(pid: int) -> None:
    """End a daemon and wait until it has."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            if not selector.select(10):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                selector.select()
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Seen:
    """A frame that passed an interface: `vid` None is untagged."""

    place: str
    vid: int | None
    frame: bytes
    leaving: bool


class Capture:
    """Every frame that passes some interfaces, each way."""

    def __init__(self, places: dict[str, tuple[Namespace, str]]) -> None:
        self._sockets = {
            place: space.inside(lambda name=interface: _tap(name)) for place, (space, interface) in places.items()
        }
        self._selector = selectors.DefaultSelector()
        for place, tap in self._sockets.items():
            self._selector.register(tap, selectors.EVENT_READ, place)

    def take(self, quiet_s: float, limit_s: float = 5.0) -> list[Seen]:
        """Frames received until none has arrived for a while."""
        seen: list[Seen] = []
        until = time.monotonic() + limit_s
        while (left_s := until - time.monotonic()) > 0:
            ready = self._selector.select(min(quiet_s, left_s))
            if not ready:
                break
            for key, _ in ready:
                seen.extend(_read_tap(self._sockets[key.data], key.data))
        return seen

    def send(self, place: str, frame: bytes) -> None:
        self._sockets[place].send(frame)

    def lost(self) -> int:
        """Number of frames that were dropped because they came faster than they were read."""
        return sum(
            struct.unpack("II", tap.getsockopt(_SOL_PACKET, _STATISTICS, 8))[1] for tap in self._sockets.values()
        )

    def close(self) -> None:
        self._selector.close()
        for tap in self._sockets.values():
            tap.close()


def _tap(interface: str) -> socket.socket:
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    tap.setsockopt(_SOL_PACKET, _AUXDATA, 1)
    tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUFFORCE if hasattr(socket, "SO_RCVBUFFORCE") else 33, 8 << 20)
    tap.bind((interface, 3))
    promiscuous = struct.pack("iHH8s", socket.if_nametoindex(interface), 1, 0, b"")
    tap.setsockopt(_SOL_PACKET, 1, promiscuous)
    tap.setblocking(False)
    return tap


def _read_tap(tap: socket.socket, place: str) -> Iterator[Seen]:
    while True:
        try:
            frame, ancillary, _, address = tap.recvmsg(2048, 128)
        except BlockingIOError:
            return
        vid = None
        for level, kind, data in ancillary:
            if (level, kind) == (_SOL_PACKET, _AUXDATA):
                status, *_, tci, _ = struct.unpack("IIIHHHH", data[:20])
                vid = tci & 0xFFF if status & 16 else None
        if vid is None and frame[12:14] == b"\x81\x00":
            vid = int.from_bytes(frame[14:16]) & 0xFFF
            frame = frame[:12] + frame[16:]
        yield Seen(place, vid, frame, leaving=address[2] == 4)
