"""Where a running lab keeps its state, and how its remains are found after a crash.

``/run/eee-testbed/LAB`` (EEE_STATE_DIR names another root), readable by root only: ``lab.json`` (the journal: what
was made or is about to be), ``control.sock``, ``ssh_config``, ``known_hosts``, ``keys/``, ``secrets/``, ``mpi/``,
``shared/``, ``daemon.log``. The journal identifies what the lab made without ambiguity: processes by
number, start time and boot, interfaces by a random group number, control groups by folder.
"""

import fcntl
import os
import secrets
import select
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import STATE_ROOT
from eee_testbed.lab.untrusted_files import lose
from eee_testbed.twin.machine.cgroups import remove_groups
from eee_testbed.twin.machine.mgmt import remove_group


def state_root() -> Path:
    """Return the folder of all running labs."""
    return Path(os.environ.get("EEE_STATE_DIR", STATE_ROOT))


def boot_id() -> str:
    """Identify the machine's present boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


class Process(BaseModel):
    """A process that cannot be mistaken for a later one of the same number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    start_ticks: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> Self:
        """Identify a running process; ProcessLookupError if no process has that number."""
        return cls(pid=pid, start_ticks=_stat(pid).start_ticks, boot=boot_id())

    def alive(self) -> bool:
        """Whether that very process still runs; one that is ending or a zombie does not."""
        try:
            stat = _stat(self.pid)
        except ProcessLookupError:
            return False
        return not stat.ending and self._is(stat)

    def _is(self, stat: "_Stat") -> bool:
        return self.boot == boot_id() and stat.start_ticks == self.start_ticks

    def end(self, signal_number: int = signal.SIGKILL, timeout_s: float | None = None) -> bool:
        """Send a signal to that very process and wait until it ends; False if it has not ended in time."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            if not self._is(_stat(self.pid)):
                return True
            signal.pidfd_send_signal(descriptor, signal_number)
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            return bool(poller.poll(None if timeout_s is None else timeout_s * 1000))
        except ProcessLookupError:
            return True
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _Stat:
    start_ticks: int
    ending: bool


_PF_EXITING = 0x4
"""Set as soon as a task begins to exit: its memory and sockets may be released long before it is a zombie (sched.h)."""


def _stat(pid: int) -> _Stat:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError) as error:
        raise ProcessLookupError(f"no process {pid}") from error
    fields = text.rpartition(")")[2].split()
    return _Stat(start_ticks=int(fields[19]), ending=fields[0] in "ZX" or bool(int(fields[6]) & _PF_EXITING))


class Journal(BaseModel):
    """What a lab has made, or is about to make."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lab: str
    folder: str
    group: int  # interface group of the management network
    bridge: str
    management_network: str
    listeners: tuple[str, ...]  # address:port/protocol
    cgroups: str
    cpu_groups: str = ""  # with a CPU controller, where that is another folder
    cpu_ratios: dict[str, float] = {}  # of hosts that have one
    daemon: Process | None = None
    hosts: dict[str, Process] = {}
    ready: bool = False


State = Literal["up", "starting", "crashed", "down", "root's"]
"""What a lab is; `root's`: somebody brought it up, and only root may see more."""


def state_of(journal: Journal | None) -> State:
    """Derive a lab's state from its journal."""
    if journal is None:
        return "down"
    if journal.daemon is None or not journal.daemon.alive():
        return "crashed"
    return "up" if journal.ready else "starting"


CLOCK: Final = "clock"
"""The page of a lab's clock, in its state folder; missing if the lab runs in real time for good."""


class StateDir:
    """The state folder of one lab."""

    def __init__(self, lab: str) -> None:
        self.lab = lab
        self.path = state_root() / lab

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock this lab against other `lab up` and `lab down`; LabError if another one holds the lock."""
        state_root().mkdir(parents=True, exist_ok=True)
        path = state_root() / f".{self.lab}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "?"
                raise LabError(
                    f"another eeectl (process {holder}) is bringing lab {self.lab} up or down: wait until it is done."
                ) from error
            if not path.exists() or path.stat().st_ino != os.fstat(descriptor).st_ino:
                raise LabError(f"another eeectl has just finished with lab {self.lab}: try again.")
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
                self._drop_root()
        finally:
            os.close(descriptor)

    def _drop_root(self) -> None:
        try:
            state_root().rmdir()
        except OSError:
            return  # other labs run, or the folder is not ours to remove

    def create(self) -> None:
        """Make the folder with its subfolders."""
        self.path.mkdir(parents=True)
        self.path.chmod(0o700)
        for name in ("keys", "secrets", "mpi", "root", "shared"):
            (self.path / name).mkdir(mode=0o700)
        (self.path / "shared").chmod(0o1777)

    def load(self) -> Journal | None:
        """Read the journal; None if it does not exist."""
        try:
            return Journal.model_validate_json((self.path / "lab.json").read_bytes())
        except FileNotFoundError:
            return None
        except PermissionError as error:
            raise LabError(f"lab {self.lab} belongs to root, who brought it up: use sudo.") from error
        except ValidationError as error:
            raise LabError(
                f"{self.path}/lab.json cannot be read: this lab was brought up by another version; take it down with "
                "that version, or remove the folder and reboot."
            ) from error

    def save(self, journal: Journal) -> None:
        """Write the journal; a crash leaves the old or the new one."""
        durable.replace(self.path / "lab.json", journal.model_dump_json(indent=1))

    def write_secret(self, name: str, text: str) -> None:
        """Write a file that only root can read."""
        path = self.path / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)

    def sweep(self, *, own_process: bool = False) -> None:
        """Remove all that the journal names, and the folder itself; what is missing is ignored.

        With `own_process` the daemon cleans up after itself and is not ended.
        """
        journal = self.load()
        if journal is not None:
            if journal.daemon is not None and not own_process:
                journal.daemon.end()
            for process in journal.hosts.values():
                process.end()
            self._end_members(Path(journal.cgroups))
            remove_group(journal.group)
            for folder in (journal.cgroups, journal.cpu_groups):
                if folder:
                    remove_groups(Path(folder))
        if self.path.exists():
            shutil.rmtree(self.path)

    def _end_members(self, groups: Path) -> None:
        """End the processes left in the hosts' control groups: hosts forked after the last journal entry."""
        for file in groups.glob("*/cgroup.procs"):
            for line in file.read_text(encoding="ascii").split():
                try:
                    Process.of(int(line)).end()
                except ProcessLookupError:
                    continue


def new_group() -> int:
    """Return a random interface group, far from the small numbers that administrators choose."""
    return secrets.randbelow(0x3FFF_FFFF) + 0x4000_0000


def running_labs() -> dict[str, Journal]:
    """Every lab with a journal under the state root, by name, crashed ones included; only those that may be read.

    A journal that cannot be read is lost (DamagedPart).
    """
    labs = {}
    for path in sorted(state_root().glob("*/lab.json")):
        try:
            journal = StateDir(path.parent.name).load()
        except LabError as error:
            lose(path, 0, f"this lab is left out: {error}")
            continue
        if journal is not None:
            labs[path.parent.name] = journal
    return labs


def hidden_labs() -> tuple[str, ...]:
    """Labs under the state root that this user may not look into."""
    return tuple(path.name for path in sorted(state_root().glob("*/")) if not os.access(path, os.X_OK))
