"""Open vSwitch's userspace switch between the hosts of a running lab, for comparison with the twin.

This is what a user without a kernel module would use: `datapath_type=netdev` on veth pairs, as network emulators
do. Its daemons run with a database and sockets of their own in a temporary folder and are ended by
their process ids; the veth pairs go with them.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

_SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
INTERFACE = "ovs0"
"""Name of the second data interface that each host gets."""


def _run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


class OvsSwitch:
    """A userspace bridge joined to `ovs0` in each host's network namespace.

    `hosts` maps a host's name to (process id in its namespace, IPv4 address with prefix length).
    """

    def __init__(self, hosts: Mapping[str, tuple[int, str]], *, mtu_byte: int = 1500) -> None:
        self._hosts = dict(hosts)
        self._mtu_byte = mtu_byte
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start(self, stack: contextlib.ExitStack) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ovs-beside-twin-"))
        stack.callback(shutil.rmtree, folder)
        database, socket = folder / "conf.db", folder / "db.sock"
        environment = {
            **os.environ,
            "OVS_RUNDIR": str(folder),
            "OVS_DBDIR": str(folder),
            "OVS_LOGDIR": str(folder),
        }
        subprocess.run(["ovsdb-tool", "create", database, _SCHEMA], check=True, env=environment)
        stack.enter_context(
            _daemon(folder, "ovsdb-server", str(database), f"--remote=punix:{socket}", environment=environment)
        )
        control = ("ovs-vsctl", f"--db=unix:{socket}")
        _run(*control, "--no-wait", "init")
        stack.enter_context(_daemon(folder, "ovs-vswitchd", f"unix:{socket}", environment=environment))
        # fail_mode standalone: an ordinary learning switch, no controller
        _run(*control, "add-br", "ovsbench", "--", "set", "bridge", "ovsbench", "datapath_type=netdev",
             "fail_mode=standalone")  # fmt: skip
        stack.callback(_run, *control, "del-br", "ovsbench")
        for number, (name, (pid, address)) in enumerate(self._hosts.items(), start=1):
            self._plug(stack, control, number, name, pid, address)

    def _plug(
        self,
        stack: contextlib.ExitStack,
        control: tuple[str, ...],
        number: int,
        name: str,
        pid: int,
        address: str,
    ) -> None:
        port = f"ovsb{number}"
        _run("ip", "link", "add", port, "mtu", str(self._mtu_byte), "type", "veth",
             "peer", "name", INTERFACE, "netns", str(pid), "mtu", str(self._mtu_byte))  # fmt: skip
        stack.callback(_run, "ip", "link", "del", port)
        inside = ("nsenter", "-t", str(pid), "-n")
        _run(*inside, "ip", "address", "add", address, "dev", INTERFACE)
        _run(*inside, "ip", "link", "set", INTERFACE, "up")
        # The userspace datapath reads packets as they are: checksums must be complete before they leave the host.
        _run(*inside, "ethtool", "-K", INTERFACE, "tx", "off", "tso", "off", "gso", "off")
        _run("ip", "link", "set", port, "up")
        _run(
            *control,
            "add-port",
            "ovsbench",
            port,
            "--",
            "set",
            "interface",
            port,
            f"external_ids:host={name}",
        )

    @property
    def vswitchd_version(self) -> str:
        """As ovs-vswitchd prints it."""
        return _run("ovs-vswitchd", "--version").splitlines()[0]


@contextlib.contextmanager
def _daemon(folder: Path, program: str, *arguments: str, environment: Mapping[str, str]) -> Iterator[None]:
    """`program` detaches only when it is ready to serve, which is the event awaited here."""
    pidfile = folder / f"{program}.pid"
    subprocess.run(
        [
            program,
            *arguments,
            f"--pidfile={pidfile}",
            f"--log-file={folder / program}.log",
            "--detach",
            "--no-chdir",
        ],
        check=True,
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    pid = int(pidfile.read_text())
    descriptor = os.pidfd_open(pid)
    try:
        yield
    finally:
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        _await_exit(descriptor)
        os.close(descriptor)


def _await_exit(descriptor: int) -> None:
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    if not poller.poll(10_000):
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        poller.poll()
