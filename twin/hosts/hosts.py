"""The virtual hosts, seen from the daemon: forked while it has one thread, monitored, switched off and on.

Each host is a process 1 (`twin.hosts.hostinit`) in its own PID, mount, network, UTS, IPC and cgroup namespace. It dies
with the daemon's main thread (PDEATHSIG), and when its socket to the daemon closes.
"""

import gc
import json
import os
import select
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.hosts.hostinit import HostKit, run_host
from eee_testbed.twin.machine.mgmt import Bridge, plug_cables
from eee_testbed.twin.machine.namespaces import CLONE_NEWPID, enter, unshare
from eee_testbed.twin.machine.statedir import Process

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, of how many."""


@dataclass(slots=True)
class RunningHost:
    """A running host.

    `tap` is the TAP's descriptor until it is taken over, `netlink` a socket to its kernel's routes, `index` that of the
    TAP there; `pidfd` is readable once the host has ended.
    """

    kit: HostKit
    process: Process
    pidfd: int
    channel: socket.socket
    tap: int = -1
    netlink: int = -1
    index: int = 0
    powered: bool = True
    up: bool = False
    on_change: list[Callable[["RunningHost"], None]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of the host."""
        return self.kit.name

    def take_tap(self) -> int:
        """Hand over the TAP's descriptor, once."""
        taken, self.tap = self.tap, -1
        return taken

    def data_address(self) -> tuple[str, int]:
        """Its address in the data network, and the bits of the prefix."""
        address, bits = self.kit.data_address.split("/")
        return address, int(bits)

    def cpu_s(self) -> float:
        """CPU seconds that the host has used."""
        return self.kit.group.cpu_s()

    def power(self, *, on: bool) -> None:
        """Switch its mains. Off ends all its processes and empties /run and /tmp."""
        if on != self.powered:
            self.powered = on
            self.channel.send(json.dumps({"do": "on" if on else "off"}).encode())

    def receive(self) -> None:
        """Read a message of process 1; call it when `channel` is readable. LabError if process 1 failed."""
        data, descriptors, _, _ = socket.recv_fds(self.channel, 65_536, 2)
        if not data:
            self.up = False
            raise LabError(f"{self.name}: its process 1 ended: see the lab's daemon.log, then bring the lab up again.")
        message = json.loads(data)
        if "error" in message:
            raise LabError(f"a virtual host could not start: {message['error']}.")
        if message["step"] == "tap":
            self.tap, self.netlink = descriptors
            self.index = int(message["index"])
        else:
            self.up = message["step"] == "up"
        for listener in self.on_change:
            listener(self)


def _fork(kit: HostKit, own_pid_namespace: int) -> RunningHost:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    unshare(CLONE_NEWPID)
    try:
        number = os.fork()
        if number == 0:
            run_host(kit, theirs)
    finally:
        enter(own_pid_namespace, CLONE_NEWPID)
    theirs.close()
    return RunningHost(kit, Process.of(number), os.pidfd_open(number), ours)


def _await(hosts: Sequence[RunningHost], done: Callable[[RunningHost], bool], what: str, progress: Progress) -> None:
    poller = select.poll()
    waiting = {host.channel.fileno(): host for host in hosts if not done(host)}
    for descriptor in waiting:
        poller.register(descriptor, select.POLLIN)
    while waiting:
        for descriptor, _ in poller.poll():
            host = waiting[descriptor]
            host.receive()
            if done(host):
                poller.unregister(descriptor)
                del waiting[descriptor]
                progress(what, len(hosts) - len(waiting), len(hosts))


def start_hosts(kits: Sequence[HostKit], bridge: Bridge, running: list[RunningHost], progress: Progress) -> None:
    """Make all hosts and wait until their sshd listens. `running` grows as they start, so that they can be stopped.

    The calling process must have one thread. LabError says which host failed and why.
    """
    pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    gc.collect()
    gc.freeze()  # a host's process 1 shares this memory as long as no garbage collector touches it
    try:
        for kit in kits:
            kit.group.make()
            running.append(_fork(kit, pid_namespace))
    finally:
        os.close(pid_namespace)
    _await(running, lambda host: host.tap >= 0, "making hosts", progress)
    plug_cables(bridge, {number: host.process.pid for number, host in enumerate(running, start=1)})
    for host in running:
        host.channel.send(json.dumps({"do": "configure"}).encode())
    _await(running, lambda host: host.up, "starting hosts", progress)


def stop_hosts(hosts: Sequence[RunningHost]) -> None:
    """Kill all hosts and wait for their end."""
    for host in hosts:
        signal.pidfd_send_signal(host.pidfd, signal.SIGKILL)
    for host in hosts:
        os.waitid(os.P_PIDFD, host.pidfd, os.WEXITED)
        os.close(host.pidfd)
        host.channel.close()
        if host.tap >= 0:
            os.close(host.take_tap())
        if host.netlink >= 0:
            os.close(host.netlink)
            host.netlink = -1
