"""A virtual machine with Debian's kernel, emulated by QEMU, that SSH reaches on loopback. Nothing is installed in it.

Outside it is one process and some ports on 127.0.0.1. Inside are network namespaces, each with a management interface
and an SSH server of its own.
"""

import os
import platform
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import paramiko

from tests.support import ROOT
from tests.support.needs import lacking, needs
from tests.support.ports import reserved_ports
from tests.support.qemu.initramfs import Archive

HERE = Path(__file__).parent
KERNEL = ROOT / ".tools/kernel"
MODULES = ["virtio_pci", "virtio_net", "bridge", "veth", "bonding"]
OPERATOR = "operator"
"""A namespace without a switch, through which the tests connect."""

_MEMORY_MB = 384
_START_S = 60.0  # it takes 15 on two cores that are idle

_SSHD_CONFIG = """\
HostKey /etc/ssh/host_key
PermitRootLogin prohibit-password
UsePAM no
UseDNS no
PidFile none
SetEnv PATH=/usr/sbin:/usr/bin:/sbin:/bin
LogLevel ERROR
"""


def require() -> None:
    """Fail without QEMU and its like, and skip where they would not do."""
    if platform.machine() != "x86_64":
        lacking(f"the virtual machine is x86_64, this machine is {platform.machine()}")
    needs("qemu-system-x86_64", "busybox", "sshd", "ethtool")
    if not list(KERNEL.glob("boot/vmlinuz-*")):
        lacking("tests/support/qemu/fetch_kernel.sh, which `make setup` runs, could not fetch a kernel")


def _which(name: str) -> str | None:
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


class Machine:
    """A running machine. `ports` maps a namespace to the port on 127.0.0.1 that leads to its SSH server."""

    def __init__(self, folder: Path, namespaces: Sequence[str]) -> None:
        self.folder = folder
        self.key = folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key)], check=True)
        self._host_key = folder / "host_key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._host_key)], check=True)
        inside = {name: f"10.0.2.{n}" for n, name in enumerate((OPERATOR, *namespaces), 15)}
        image = folder / "initramfs"
        image.write_bytes(self._image(inside))
        self._held = ExitStack()
        ports = self._held.enter_context(reserved_ports(len(inside)))
        self.ports: Mapping[str, int] = dict(zip(inside, ports, strict=True))
        self.known_hosts = folder / "known_hosts"
        host_key = self._host_key.with_suffix(".pub").read_text(encoding="ascii").rsplit(" ", 1)[0]
        self.known_hosts.write_text(
            "".join(f"[127.0.0.1]:{port} {host_key}\n" for port in self.ports.values()), encoding="ascii"
        )
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{self.ports[name]}-{to}:22" for name, to in inside.items())
        self._process = subprocess.Popen(
            [
                *(
                    "setpriv",
                    "--pdeathsig",
                    "KILL",
                    "qemu-system-x86_64",
                    "-accel",
                    "tcg,thread=multi",
                    "-cpu",
                    "max",
                    "-smp",
                    "2",
                    "-m",
                    str(_MEMORY_MB),
                ),
                *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"),
                *("-kernel", str(next(KERNEL.glob("boot/vmlinuz-*"))), "-initrd", str(image)),
                *(
                    "-append",
                    "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on ipv6.disable=1 no_timer_check",
                ),
                *("-netdev", f"user,id=outside,ipv6=off,restrict=on{forwards}"),
                *("-device", "virtio-net-pci,netdev=outside,romfile="),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.client = paramiko.SSHClient()
        self.client.load_host_keys(str(self.known_hosts))
        try:
            self._await_ready()
            self.client.connect(
                "127.0.0.1",
                self.ports[OPERATOR],
                "root",
                key_filename=str(self.key),
                look_for_keys=False,
                allow_agent=False,
            )
        except BaseException:
            self.close()
            raise

    def _await_ready(self) -> None:
        assert self._process.stdout is not None
        said = []
        watchdog = threading.Timer(_START_S, self._process.kill)
        watchdog.start()
        for line in self._process.stdout:
            said.append(line)
            if "GUEST ready" in line:
                watchdog.cancel()
                return
        watchdog.cancel()
        raise RuntimeError(f"the virtual machine stopped while it started:\n{''.join(said)}")

    def run(self, script: str) -> str:
        """Run a shell script in the machine; RuntimeError with all its output if it fails."""
        stdin, stdout, _ = self.client.exec_command("exec sh -e 2>&1")
        stdin.write(script)
        stdin.channel.shutdown_write()
        output = stdout.read().decode()
        if stdout.channel.recv_exit_status():
            raise RuntimeError(f"in the virtual machine:\n{output}")
        return output

    def close(self) -> None:
        """Turn it off."""
        self._process.kill()
        self._process.wait()
        self._held.close()
        if self._process.stdout:
            self._process.stdout.close()

    def _image(self, inside: Mapping[str, str]) -> bytes:
        made = Archive()
        made.file("/init", (HERE / "guest_init.sh").read_bytes(), 0o755)
        made.file("/bin/busybox", Path(_which("busybox") or "").read_bytes(), 0o755)
        for program in ("dash", "ip", "bridge", "ethtool", "sshd"):
            made.program(program)
        for helper in sorted(Path("/usr/lib/openssh").glob("sshd-*")):  # since OpenSSH 9.8 sshd is in parts
            made.program(str(helper))
        made.script(HERE / "frame_agent.py", "/frame_agent.py")
        (release,) = KERNEL.glob("lib/modules/*")
        made.modules(release, MODULES)
        made.file("/etc/passwd", b"root:x:0:0::/root:/bin/sh\nsshd:x:101:65534::/run/sshd:/bin/false\n")
        made.file("/etc/group", b"root:x:0:\nnogroup:x:65534:\n")
        made.file("/etc/shadow", b"root:*:1::::::\nsshd:*:1::::::\n", 0o600)
        made.file("/etc/nsswitch.conf", b"passwd: files\nshadow: files\ngroup: files\n")
        made.file("/etc/ssh/host_key", self._host_key.read_bytes(), 0o600)
        made.file("/etc/ssh/sshd_config", _SSHD_CONFIG.encode())
        made.file("/namespaces", "".join(f"{name} {address}\n" for name, address in inside.items()).encode())
        made.file("/root/.ssh/authorized_keys", self.key.with_suffix(".pub").read_bytes(), 0o600)
        return made.finish()
