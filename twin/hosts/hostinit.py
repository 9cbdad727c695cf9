"""Process 1 of a virtual host: builds the host's environment, starts sshd, reaps, and executes the daemon's commands.

The daemon is reached over one socket, a message per datagram (JSON). Up: ``{"step": "tap", "index": number}`` with the
descriptors of the TAP and of a netlink socket, ``{"step": "up"}``, ``{"step": "down"}``, or ``{"error": sentence}``.
Down: ``{"do": "configure"}`` once the management cable is plugged in, ``{"do": "off"}`` and ``{"do": "on"}`` for the
mains. When the daemon closes its end, process 1 ends, and with it every process, interface and mount of the host.
"""

import errno
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from eee_testbed.twin.hosts.hostfiles import HOMES, USER
from eee_testbed.twin.hosts.hostroot import build_root, empty_volatile, mount_volatile
from eee_testbed.twin.machine.cgroups import HostGroup
from eee_testbed.twin.machine.namespaces import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWUTS,
    die_with_parent,
    unshare,
)

_TUNSETIFF = 0x4004_54CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_IFF_VNET_HDR = 0x4000
_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class HostKit:
    """Everything needed to make a host. `files` maps absolute paths to (text, mode, user number)."""

    name: str
    mac: bytes
    interface: str
    mtu_byte: int
    data_address: str  # with its prefix length
    management_address: str  # with its prefix length
    group: HostGroup
    staging: str
    shared: str
    user_number: int
    files: Mapping[str, tuple[str, int, int]]
    sshd: str
    clock: str = ""  # the page of the lab's clock, if it has one
    clock_environment: Mapping[str, str] = field(default_factory=dict)


def open_tap(name: str) -> int:
    """Make a TAP in the caller's network namespace, with virtio headers; return its descriptor."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    request = struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR)
    fcntl.ioctl(descriptor, _TUNSETIFF, request)
    return descriptor


def _disable_ip6() -> None:
    """Disable IPv6: its neighbour discovery would wake the links of an idle lab."""
    for which in ("all", "default"):
        try:
            Path(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6").write_text("1", encoding="ascii")
        except FileNotFoundError:
            return  # a kernel without IPv6


def _use_reno() -> None:
    """Let TCP's congestion window follow acknowledgements alone, whatever the machine's default is.

    CUBIC leaves slow start by round trips in ms, BBR paces by what it timed: at a slow rate both by the wrong clock.
    Simplification: nodes of today have CUBIC or BBR; while no frame is lost, Reno sends as CUBIC does.
    """
    Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("reno", encoding="ascii")


def _addresses(kit: HostKit) -> str:
    return (
        "link set lo up\n"
        f"link set {kit.interface} address {kit.mac.hex(':')} mtu {kit.mtu_byte} up\n"
        f"addr add {kit.data_address} brd + dev {kit.interface}\n"
        "link set mgmt0 up\n"
        f"addr add {kit.management_address} brd + dev mgmt0\n"
    )


def _drop_ping_capability() -> None:
    """Let ping preload the lab's clock, which the loader denies to programs with file capabilities.

    It needs none here: `ping_group_range` allows everybody ICMP sockets.
    """
    ping = shutil.which("ping", path=_ENVIRONMENT["PATH"])
    if ping is not None:
        with suppress(OSError):  # it has none, or the file system is read-only
            os.removexattr(ping, "security.capability")


class _Init:
    def __init__(self, kit: HostKit, channel: socket.socket) -> None:
        self.kit = kit
        self.channel = channel
        self.wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(os.dup2(wake_write, 60, inheritable=False), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def report(self, **message: str) -> None:
        self.channel.send(json.dumps(message).encode())

    def receive(self) -> str:
        data = self.channel.recv(65_536)
        if not data:
            os._exit(0)  # the daemon has ended
        return str(json.loads(data)["do"])

    def run(self) -> None:
        kit = self.kit
        kit.group.join()
        unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWCGROUP)
        socket.sethostname(kit.name)
        _disable_ip6()
        Path("/proc/sys/net/ipv4/ping_group_range").write_text("0 2147483647", encoding="ascii")
        _use_reno()
        tap = open_tap(kit.interface)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as netlink:
            message = json.dumps({"step": "tap", "index": socket.if_nametoindex(kit.interface)}).encode()
            socket.send_fds(self.channel, [message], [tap, netlink.fileno()])
        os.close(tap)
        self.receive()  # "configure"
        subprocess.run(["ip", "-batch", "-"], input=_addresses(kit), text=True, check=True, capture_output=True)
        build_root(kit.staging, kit.shared, kit.clock)
        self.write_files()
        if kit.clock:
            _drop_ping_capability()
        self.power_on()
        self.serve()

    def write_files(self) -> None:
        for user, home in HOMES.items():
            number = self.kit.user_number if user == USER else 0
            for folder in (Path(home), Path(home) / ".ssh"):
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o700)
                os.chown(folder, number, number)
        for name, (text, mode, owner) in self.kit.files.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            existed = path.exists()
            if path.is_symlink():
                path.unlink()  # such as an /etc/hostname that points into /run
            path.write_text(text, encoding="utf-8")
            if not existed or mode != 0o644:
                path.chmod(mode)
                os.chown(path, owner, owner)

    def power_on(self) -> None:
        os.mkfifo("/run/sshd.ready", 0o600)
        ready = os.open("/run/sshd.ready", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        argv = [self.kit.sshd, "-D", "-f", "/etc/ssh/sshd_config", "-E", "/var/log/sshd.log"]
        environment = {**_ENVIRONMENT, **self.kit.clock_environment}
        process = subprocess.Popen(argv, env=environment, cwd="/", stdin=subprocess.DEVNULL, start_new_session=True)
        waiting = [ready, self.wake_read, self.channel.fileno()]
        while True:
            readable, _, _ = select.select(waiting, [], [])
            if ready in readable:  # sshd writes its process number once it listens
                os.close(ready)
                break
            if self.channel.fileno() in readable and not self.channel.recv(1, socket.MSG_PEEK):
                os._exit(0)
            if process.pid in self.reap():
                log = Path("/var/log/sshd.log").read_text(encoding="utf-8", errors="replace").strip()
                raise OSError(errno.ECHILD, f"sshd ended at once: {log[-300:] or 'its log is empty'}")
            if self.channel.fileno() in readable:
                waiting.remove(self.channel.fileno())  # a command: executed when sshd is up
        self.report(step="up")

    def power_off(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        while self.reap(block=True):
            continue
        empty_volatile()
        mount_volatile("/")
        self.report(step="down")

    def reap(self, *, block: bool = False) -> list[int]:
        ended: list[int] = []
        with suppress(BlockingIOError):
            os.read(self.wake_read, 4096)
        while True:
            try:
                number, _ = os.waitpid(-1, 0 if block else os.WNOHANG)
            except ChildProcessError:
                return ended
            if number == 0:
                return ended
            ended.append(number)

    def serve(self) -> None:
        powered = True
        while True:
            readable, _, _ = select.select([self.channel.fileno(), self.wake_read], [], [])
            if self.wake_read in readable:
                self.reap()
            if self.channel.fileno() in readable:
                command = self.receive()
                if command == "off" and powered:
                    self.power_off()
                elif command == "on" and not powered:
                    self.power_on()
                powered = command == "on"


def run_host(kit: HostKit, channel: socket.socket) -> None:
    """Run as process 1 of a new PID namespace until the daemon ends; never returns."""
    try:
        die_with_parent(signal.SIGKILL)
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        descriptor = os.dup2(channel.fileno(), 61)
        os.closerange(3, 61)
        os.closerange(62, 1 << 20)
        os.set_inheritable(61, False)
        with socket.socket(fileno=descriptor) as control:
            try:
                _Init(kit, control).run()
            except subprocess.CalledProcessError as error:
                control.send(json.dumps({"error": f"{kit.name}: ip printed: {error.stderr.strip()}"}).encode())
            except OSError as error:
                control.send(json.dumps({"error": f"{kit.name}: {error}"}).encode())
    finally:
        os._exit(1)
