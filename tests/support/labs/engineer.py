"""A person who runs eeectl on a lab, and another view of the switches' real settings.

The second reads with net-snmp's tools and with OpenSSH, and knows nothing of drivers.
"""

import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from eee_testbed.eeectl import cli
from tests.support.labs.lab_client import EEECTL, ROOT, Done, LabClient, eventually, run

SETTINGS = (
    "1.3.6.1.2.1.17.7.1.4.3.1",  # dot1qVlanStaticTable
    "1.3.6.1.2.1.17.7.1.4.5.1",  # dot1qPortVlanTable
    "1.3.6.1.2.1.17.7.1.3.1",  # dot1qStaticUnicastTable
    "1.3.6.1.2.1.2.2.1.7",  # ifAdminStatus
)
RESIDUE = ("switchport mode general", "switchport trunk allowed vlan ", "port-security", "interface ", "exit")
"""Starts of lines that a rollback may leave, as they have no effect: a port in general mode with VLAN 1 alone works
like an access port, and a trunk's list has no effect on a port in another mode."""

COPIES_PER_FRAME = 10
"""A broadcast crosses each host's cable and two trunks once, which makes eight; a loop would make thousands."""

LONG_S = 150.0
"""Ends a test that hangs, however busy the machine is."""

Settings = dict[str, frozenset[str]]


class Engineer:
    """Runs eeectl on one lab."""

    figures: ClassVar[list[tuple[str, float]]] = []

    def __init__(self, lab: LabClient, kept: Path) -> None:
        self.lab = lab
        self.kept = kept
        self.folder = lab.lab.folder
        self.before: Settings = {}
        self.after: Settings = {}
        self.head_byte = 0  # what an apply's journal begins with
        self._broadcasters: list[subprocess.Popen[bytes]] = []
        self._open = ExitStack()
        self._pool = self._open.enter_context(ThreadPoolExecutor(6))

    def __enter__(self) -> Self:
        for host in ("n01", "n03", "n05"):
            argv = ["ssh", "-F", str(self.lab.config), f"root@{host}", "ping -b -q -n -i 0.1 198.19.255.255"]
            null = subprocess.DEVNULL
            self._broadcasters.append(subprocess.Popen(argv, stdin=null, stdout=null, stderr=null))
        self.lab.await_links()
        self.before = self.read()
        self._find_after()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._broadcasters:
            process.kill()
            process.wait()
        self._open.close()

    # -- eeectl

    @staticmethod
    def _here(words: list[str], kept: Path) -> Done:
        """Run eeectl to its end in this process, which saves the second that a new process takes to start."""
        printed, said = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(said):
            patch.setenv("EEE_CONTROLLER_DIR", str(kept))
            status = cli.run(words)
        return subprocess.CompletedProcess(words, status, printed.getvalue(), said.getvalue())

    def fault(self, *words: str) -> None:
        """`eeectl lab fault ...`."""
        done = self._here(["lab", "fault", *words, "--lab", self.lab.name], self.kept)
        assert done.returncode == 0, done.stderr

    def environment(self, kept: Path | None = None) -> dict[str, str]:
        """Environment of an eeectl that keeps its journal in a folder of this test."""
        return {**os.environ, "EEE_CONTROLLER_DIR": str(kept or self.kept)}

    def argv(self, verb: str, *options: str) -> list[str]:
        """A command line on the lab."""
        return [*EEECTL, *verb.split(), self.folder, *options]

    def eeectl(self, verb: str, *options: str, kept: Path | None = None) -> Done:
        """Run a verb on the lab to its end."""
        return self._here([*verb.split(), self.folder, *options], kept or self.kept)

    def words(self, *words: str) -> Done:
        """Run a command line that does not end with the lab's folder."""
        return self._here([*words], self.kept)

    def program(self, verb: str, *options: str) -> Done:
        """The same in a process of its own, which takes its children with it."""
        return run(self.argv(verb, *options), check=False, patience_s=LONG_S, env=self.environment())

    def start(self, verb: str, *options: str, kept: Path | None = None) -> "Running":
        """Start a verb on the lab and return while it runs."""
        return Running(self.argv(verb, *options), self.environment(kept))

    def apply(self, *options: str, kept: Path | None = None) -> Done:
        """Apply trees for all hosts; without the check between hosts, which takes seconds."""
        return self.eeectl("apply", "--yes", "--no-host-check", *options, kept=kept)

    def start_apply(self, *options: str) -> "Running":
        """Start `apply` and return while it runs."""
        return self.start("apply", "--yes", "--no-host-check", *options)

    def on_link(self, verb: str, link: str, *options: str, group: str = "link") -> Done:
        """`eeectl link VERB` or, with that group, `eeectl eee VERB`."""
        since_s = time.monotonic()
        done = self._here([group, verb, link, *options, "--yes", "--lab", self.folder], self.kept)
        self.figures.append((shlex.join([group, verb, *options]), time.monotonic() - since_s))
        return done

    def timed(self, what: str, verb: str, *options: str) -> Done:
        """Run a verb and keep how long it took for the summary."""
        since_s = time.monotonic()
        done = self.program(verb, *options)
        self.figures.append((what, time.monotonic() - since_s))
        return done

    # -- the journal, which shows when something happens

    @property
    def journal(self) -> Path:
        """Journal of the last apply."""
        return self.kept / self.lab.name / "journal.jsonl"

    def entries(self) -> list[dict[str, Any]]:
        """Entries of the journal, without a line that is still being written."""
        try:
            lines = self.journal.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def kinds(self) -> list[str]:
        """Kinds of the journal's entries."""
        return [entry["kind"] for entry in self.entries()]

    def await_round(self, running: "Running", number: int) -> None:
        """Wait until a round has been announced: its orders are on their way."""

        def announced() -> bool:
            if self.kinds().count("sending") >= number:
                return True
            assert running.process.poll() is None, running.end()
            return False

        eventually(f"round {number} is announced", announced, every_s=0.005, shown=self.kinds)

    # -- reading the state of the lab

    def read(self) -> Settings:
        """All settings of all switches, by SNMP and as they print them."""
        found = self._pool.map(self._read, self.lab.switches)
        return dict(zip(self.lab.switches, found, strict=True))

    def _read(self, switch: str) -> frozenset[str]:
        lines: list[str] = []
        for number in SETTINGS:
            # Objects of ports that the switch makes as it likes (LAGs without members) come and go with no setting.
            walk = ["snmpbulkwalk", *self.lab.v2c(), "-On", "-Oe", "-t2", "-r3", self.lab.agent(switch), number]
            lines += run(walk).stdout.splitlines()
        with self.lab.terminal(switch) as terminal:
            shown = terminal.type("show running-config")
        section = ""
        for line in shown.splitlines():
            if line.startswith("interface"):
                section = line
            if line.strip() and not line.strip().startswith(("!", *RESIDUE)):
                lines.append(f"{section}: {line.strip()}")
        return frozenset(_in_effect(lines))

    def _find_after(self) -> None:
        """Record the state after an apply without faults, and roll it back."""
        done = self.apply()
        assert done.returncode == 0, done.stderr
        self.after = self.read()
        self.head_byte = len(self.journal.read_bytes().split(b"\n")[0])
        done = self.eeectl("rollback", "--yes")
        assert done.returncode == 0, done.stderr
        self.require_before()

    def require_before(self) -> None:
        """Fail unless every switch has its settings from before the apply."""
        self._require(self.before)

    def require_after(self) -> None:
        """Fail unless every switch is as an apply makes it."""
        self._require(self.after)

    def _require(self, wanted: Settings) -> None:
        now = self.read()
        differing = {name: sorted(now[name] ^ wanted[name])[:10] for name in wanted if now[name] != wanted[name]}
        assert not differing, differing

    def frames(self) -> dict[str, int]:
        """The engine's counts so far."""
        return dict(self.lab.status()["engine"]["frames"])

    def loops(self) -> list[str]:
        """What the twin said of storms so far; not what it said of its processor, which another program may use."""
        alarms = [alarm["sentence"] for alarm in self.lab.status()["engine"]["alarms"]]
        return [sentence for sentence in alarms if "loop" in sentence]

    def require_no_loop_since(self, before: dict[str, int]) -> None:
        """Fail if frames multiplied, or if the twin saw a storm."""
        loops = self.loops()
        assert not loops, loops
        now = self.frames()
        offered, copies = (now[name] - before[name] for name in ("offered", "copies"))
        assert offered > 0, "no host broadcasts, so a loop would not show"
        assert copies <= COPIES_PER_FRAME * (offered + 100), (offered, copies)

    # -- beginning and end

    def forget(self) -> None:
        """Delete the lab's journal, as if nothing had ever been applied; the proof of its ports stays."""
        proof = self.proof.read_bytes()
        shutil.rmtree(self.kept / self.lab.name, ignore_errors=True)
        self.keep_proof(self.kept, proof)

    def keep_proof(self, kept: Path, proof: bytes | None = None) -> None:
        """Put the proof of the lab's ports, which its first apply made, where another eeectl keeps its journal."""
        folder = kept / self.lab.name
        folder.mkdir(exist_ok=True)
        (folder / self.proof.name).write_bytes(proof or self.proof.read_bytes())

    @property
    def proof(self) -> Path:
        """The file of the proof of the lab's ports."""
        return self.kept / self.lab.name / "ports.json"

    def restore(self) -> None:
        """Repair everything, and reset switches that do not have factory settings."""
        if self.lab.status()["faults"]:
            self.fault("clear")
        eventually("all switches are ready", lambda: all(s["state"] == "ready" for s in self.lab.status()["switches"]))
        now = self.read()
        changed = [name for name in now if now[name] != self.before[name]]
        if changed:
            self.lab.reboot(*changed)
            self.require_before()
        self.lab.await_links()


def _in_effect(lines: Sequence[str]) -> list[str]:
    """Without the speeds of ports that negotiate: a Dell switch keeps the line, and does not use it."""
    fixed = {line.partition(": ")[0] for line in lines if line.endswith(": no negotiation")}
    dell = "interface gigabitethernet"
    return [
        line
        for line in lines
        if not (line.startswith(dell) and ": speed " in line and line.partition(": ")[0] not in fixed)
    ]


class Running:
    """A running eeectl."""

    def __init__(self, argv: Sequence[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            env=environment,
        )  # fmt: skip

    def kill(self) -> None:
        """Kill it with SIGKILL, as the kernel does when memory runs out."""
        self.process.kill()
        self.process.communicate()

    def interrupt(self) -> None:
        """Send SIGINT, as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def await_words(self, words: str) -> None:
        """Read its progress output until these words appear."""
        assert self.process.stderr is not None
        said = ""
        while words not in said:
            line = self.process.stderr.readline()
            assert line, said
            said += line

    def end(self) -> Done:
        """Wait for its end."""
        printed, said = self.process.communicate(timeout=LONG_S)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, printed, said)
