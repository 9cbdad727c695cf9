"""A client of a running lab, with standard tools only: OpenSSH, net-snmp, `eeectl`; and waiting for events."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import pexpect

from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.twin.lab.lifecycle import order, status
from tests.support import ROOT
from tests.support.waiting import PATIENCE_S, eventually

T = TypeVar("T")
Done = subprocess.CompletedProcess[str]


EEECTL = (sys.executable, "-m", "eee_testbed.eeectl.cli")

IF_NAME = "1.3.6.1.2.1.31.1.1.1.1"
IF_ADMIN = "1.3.6.1.2.1.2.2.1.7"
IF_OPER = "1.3.6.1.2.1.2.2.1.8"
IF_OUT_UCAST = "1.3.6.1.2.1.31.1.1.1.11"
IF_OUT_DISCARDS = "1.3.6.1.2.1.2.2.1.19"
BASE_PORT_IF_INDEX = "1.3.6.1.2.1.17.1.4.1.2"
UP, DOWN = "1", "2"


def run(argv: Sequence[str], *, check: bool = True, patience_s: float = PATIENCE_S, **options: Any) -> Done:
    """Run a command in the checkout; a failure shows what it printed."""
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, timeout=patience_s, cwd=ROOT, stdin=subprocess.DEVNULL,
        **options,
    )  # fmt: skip
    assert not check or done.returncode == 0, f"{shlex.join(argv)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def eeectl(*arguments: str, check: bool = True, **options: Any) -> Done:
    """Run eeectl."""
    return run([*EEECTL, *arguments], check=check, **options)


class Terminal:
    """A terminal on a switch over OpenSSH, in privileged mode, without paging."""

    def __init__(self, config: Path, switch: str, family: str) -> None:
        # A prompt stands alone on the last line: a name, a mode in parentheses, # or >.
        self._prompt = re.compile(rf"\n\r?\(?{switch}\)? ?(?:\([^()\r\n]*\))?[#>] ?$")
        self._child = pexpect.spawn(
            "ssh", ["-tt", "-F", str(config), switch], encoding="utf-8", timeout=PATIENCE_S, dimensions=(1000, 200)
        )
        self._child.delaybeforesend = None
        self._child.expect(self._prompt)
        for line in ("terminal datadump",) if family == "dell_powerconnect_55xx" else ("enable", "terminal length 0"):
            self.type(line)

    def type(self, line: str) -> str:
        """Type one line; return what the switch printed until its next prompt."""
        self._child.send(line + "\r")
        self._child.expect_exact(line)
        self._child.expect(self._prompt)
        return str(self._child.before).replace("\r", "").strip("\n")

    def configure(self, *lines: str) -> None:
        """Type lines in configuration mode and leave it; any answer of the switch is a failure."""
        self.type("configure")
        for line in lines:
            shown = self.type(line)
            assert not shown.strip(), f"{line!r} was answered with {shown!r}"
        self.type("end")

    def ask(self, line: str, question: str, answer: str) -> str:
        """Type a line to which the switch asks a question, and answer it."""
        self._child.send(line + "\r")
        self._child.expect(question)
        self._child.send(answer)
        self._child.expect(self._prompt)
        return str(self._child.before).replace("\r", "")

    def closed(self) -> None:
        """Wait until the other side has closed the session."""
        self._child.expect(pexpect.EOF)

    def close(self) -> None:
        """Hang up."""
        self._child.close(force=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LabClient:
    """What a user with the lab's files and keys can do on the machine that it runs on."""

    def __init__(self, lab: Lab, state: Path) -> None:
        self.lab = lab
        self.name = lab.name
        self.state = state
        self.config = state / "ssh_config"
        self.hosts = [host.name for host in lab.hosts]
        self.switches = [switch.name for switch in lab.switches]

    @classmethod
    def of(cls, folder: Path, state_root: Path) -> Self:
        """Make a client of a lab that is up."""
        lab = load_lab(folder)
        return cls(lab, state_root / lab.name)

    def secret(self, name: str) -> str:
        """A password or community."""
        return (self.state / "secrets" / name).read_text(encoding="utf-8")

    # -- eeectl

    def status(self) -> Any:
        """Return what `eeectl lab status --json` prints, without the time that it takes to start."""
        return status(self.name)

    def truth(self) -> Any:
        """Return what `eeectl lab truth --json` prints."""
        return order(self.name, "truth")

    def fault(self, *words: str, check: bool = True) -> Done:
        """`eeectl lab fault ...`."""
        return eeectl("lab", "fault", *words, "--lab", self.name, check=check)

    def link_state(self, end: str) -> str:
        """Return the state of the cable at an end, as in `lab status`."""
        return str(next(link["state"] for link in self.status()["links"] if end in (link["a"], link["b"])))

    def await_link(self, end: str, state: str) -> None:
        """Wait until a cable is up, down, shut or cut."""
        eventually(f"the cable at {end} is {state}", lambda: self.link_state(end) == state)

    # -- hosts

    def ssh(self, host: str, command: str, *, root: bool = False, check: bool = True, **options: Any) -> Done:
        """Run a command on a host over OpenSSH."""
        target = f"root@{host}" if root else host
        return run(["ssh", "-F", str(self.config), target, command], check=check, **options)

    def reaches(self, a: str, b: str) -> bool:
        """Whether an echo from one host to another's data address is answered."""
        return self.ssh(a, f"ping -q -n -c 1 -W 0.5 {b}", check=False).returncode == 0

    def await_ping(self, a: str, b: str) -> None:
        """Wait until a host reaches another."""
        eventually(f"{a} reaches {b}", lambda: self.reaches(a, b))

    def address(self, host: str) -> str:
        """Address on the data network."""
        return self.lab.host(host).data_address

    def mac(self, host: str) -> str:
        """MAC address on the data network."""
        return self.lab.host(host).mac.hex(":")

    # -- switches

    def terminal(self, switch: str) -> Terminal:
        """Open a terminal."""
        return Terminal(self.config, switch, self.lab.switch(switch).family)

    def configure(self, switch: str, *lines: str) -> None:
        """Change a switch's configuration."""
        with self.terminal(switch) as terminal:
            terminal.configure(*lines)

    def reboot(self, *switches: str) -> None:
        """Reboot switches, so that they lose unsaved changes, and wait for their links."""
        for switch in switches:
            self.fault("reboot", switch)
        self.await_links()

    def await_links(self) -> None:
        """Wait until every switch is ready and every link that was not shut is up."""

        def settled() -> bool:
            now = self.status()
            return all(switch["state"] == "ready" for switch in now["switches"]) and not any(
                link["state"] == "down" for link in now["links"]
            )

        eventually("all switches are ready and all links up", settled)

    # -- SNMP

    def agent(self, device: str) -> str:
        """Return the agent address of a switch or strip, for net-snmp's tools."""
        known = {switch.name: (switch.address, switch.snmp_port) for switch in self.lab.switches}
        known |= {strip.name: (strip.address, strip.snmp_port) for strip in self.lab.strips}
        address, port = known[device]
        return f"udp:{address}:{port}"

    def v2c(self, community: str = "snmp_write_community") -> list[str]:
        """Options of net-snmp's tools for v2c."""
        return ["-v2c", "-c", self.secret(community)]

    def v3(self) -> list[str]:
        """Options of net-snmp's tools for v3 with authentication and privacy."""
        auth, priv = self.secret("snmp_auth_password"), self.secret("snmp_priv_password")
        return ["-v3", "-l", "authPriv", "-u", "eee", "-a", "SHA", "-A", auth, "-x", "AES", "-X", priv]

    def get(self, device: str, oid: str, *, how: Sequence[str] | None = None) -> str:
        """Value of one object."""
        argv = ["snmpget", *(how or self.v2c()), "-Oqv", self.agent(device), oid]
        return run(argv).stdout.strip().strip('"')

    def set(self, device: str, *triples: str, how: Sequence[str] | None = None, check: bool = True) -> Done:
        """SET objects: OID, net-snmp's type letter, value."""
        return run(["snmpset", *(how or self.v2c()), self.agent(device), *triples], check=check)

    def walk(self, device: str, oid: str, *, how: Sequence[str] | None = None) -> Mapping[str, str]:
        """Index to value of all objects below an OID."""
        argv = ["snmpbulkwalk", *(how or self.v2c()), "-Onq", self.agent(device), oid]
        found = {}
        for line in run(argv).stdout.splitlines():
            name, _, value = line.partition(" ")
            found[name.removeprefix(f".{oid}.")] = value.strip().strip('"')
        return found

    def if_index(self, switch: str, port: str) -> str:
        """ifIndex of a port by its ifName."""
        return next(index for index, name in self.walk(switch, IF_NAME).items() if name == port)

    # -- frames

    @contextmanager
    def watching(self, cable: str, *tcpdump: str) -> Iterator["Watch"]:
        """Run tcpdump on `eeectl lab capture CABLE` inside the block."""
        capture = subprocess.Popen(
            [*EEECTL, "lab", "capture", cable, "--lab", self.name],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        assert capture.stderr is not None
        try:
            shown = capture.stderr.readline()
            assert shown.startswith("capturing"), shown + capture.stderr.read()
            reader = subprocess.Popen(
                ["tcpdump", "-nne", "-l", "--immediate-mode", "-r", "-", *tcpdump],
                stdin=capture.stdout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        except BaseException:
            capture.kill()
            raise
        watch = Watch(capture, reader)
        try:
            yield watch
        finally:
            watch.stop()


class Watch:
    """A running capture; `lines` is what tcpdump printed, complete after the with block."""

    def __init__(self, capture: "subprocess.Popen[str]", reader: "subprocess.Popen[str]") -> None:
        self._capture = capture
        self._reader = reader
        if capture.stdout is not None:
            capture.stdout.close()
        self.lines: list[str] = []

    def stop(self) -> None:
        """End the capture as Ctrl-C does, and let tcpdump print the rest."""
        self._capture.send_signal(2)
        printed, _ = self._reader.communicate(timeout=PATIENCE_S)
        self.lines = printed.splitlines()
        self._capture.wait(PATIENCE_S)
        if self._capture.stderr is not None:
            self._capture.stderr.close()

    def seen(self, *words: str) -> list[str]:
        """Lines that hold all these words."""
        return [line for line in self.lines if all(word in line for word in words)]


def state_root() -> Path:
    """Return the folder where labs of this environment keep their state."""
    return Path(os.environ.get("EEE_STATE_DIR", "/run/eee-testbed"))
