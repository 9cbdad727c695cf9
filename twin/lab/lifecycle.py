"""Brings a lab up and down and finds the running ones: what `eeectl lab` does before and after the daemon."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from eee_engine import read_lab_clock

from eee_testbed.lab.errors import InventoryError, LabError, Problem
from eee_testbed.lab.folder import device_lines, find_lab, known_labs, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.twin.hosts.hostfiles import HOMES, USER
from eee_testbed.twin.lab.preflight import check_listeners, check_machine, check_networks, check_paths
from eee_testbed.twin.machine import lab_clock
from eee_testbed.twin.machine.asking import ask
from eee_testbed.twin.machine.foreground import run_in_foreground
from eee_testbed.twin.machine.lab_clock import make_page, rate_of
from eee_testbed.twin.machine.neighbours import raise_limits, restore_limits
from eee_testbed.twin.machine.statedir import CLOCK, Journal, State, StateDir, hidden_labs, running_labs, state_of
from eee_testbed.twin.machine.terminals import program_at_terminal

Progress = Callable[[str, int, int], None]

_END_S = 15.0


@dataclass(frozen=True, slots=True)
class KnownLab:
    """A lab that is known by name or is running; `folder` is empty if its files were removed."""

    name: str
    state: State
    folder: str


def resolve(name: str) -> str:
    """Return the name under which a lab runs; for a path the folder's name, even if the folder was removed."""
    last = Path(name).name
    if StateDir(last).path.is_dir() and not ("/" in name and Path(name).is_dir()):
        return last
    return find_lab(name).name


def journal_of(name: str) -> Journal | None:
    """The journal of a lab that somebody brought up and this user may see; None of any other."""
    try:
        return StateDir(resolve(name)).load()
    except LabError:
        return None


def running(name: str) -> tuple[StateDir, Journal]:
    """Return a lab that is up; LabError says how to bring it up."""
    state = StateDir(resolve(name))
    journal = state.load()
    current = state_of(journal)
    if journal is None or current != "up":
        answer = {"starting": "is still being brought up", "crashed": "has crashed"}.get(current, "is down")
        raise LabError(f"lab {state.lab} {answer}: `eeectl lab up {name}` brings it up.")
    return state, journal


def check_files(folder: Path) -> Lab:
    """Read a virtual lab's files; InventoryError lists every problem in all of them, with their lines."""
    from eee_testbed.twin.families.table import without_twin  # noqa: PLC0415 - what lists labs needs no family
    from eee_testbed.twin.truth.truth_file import lacks_family, load_truth, unknown_overrides  # noqa: PLC0415

    problems: list[Problem] = []
    lab, truth = None, None
    truth_file = folder / "twin" / "truth.yaml"
    try:
        lab = load_lab(folder)
    except InventoryError as error:
        problems += error.problems
    try:
        truth = load_truth(truth_file)
    except InventoryError as error:
        problems += error.problems
    if lab is not None:
        lines = device_lines(folder)
        for switch in lab.switches:
            if (reason := without_twin(switch)) is not None:
                problems.append(Problem(f"{folder / 'hosts.yml'}", lines.get(switch.name, 0), switch.name, *reason))
    if lab is not None and truth is not None:
        for family in dict.fromkeys(switch.family for switch in lab.switches):
            if family not in truth.switches.families:
                problems.append(lacks_family(truth_file, truth, family))
        problems += unknown_overrides(truth_file, truth, lab)
    if problems or lab is None:
        raise InventoryError(problems)
    return lab


def up(name: str, progress: Progress, rate: str = "") -> Lab:
    """Bring a lab up and return when it is ready; if anything fails, leave nothing behind.

    With a `rate` it gets a clock of its own, which runs at that rate once the lab is ready; see `set_rate`.
    """
    rate = rate and rate_of(rate)
    check_machine()
    lab = check_files(find_lab(name))
    state = StateDir(lab.name)
    with state.lock():
        journal = state.load()
        if journal is not None and journal.daemon is not None and journal.daemon.alive():
            raise LabError(
                f"lab {lab.name} is up already (process {journal.daemon.pid}): `eeectl lab status {lab.name}` shows "
                f"it, `eeectl lab down {lab.name}` takes it down."
            )
        state.sweep()
        check_paths(lab)
        check_networks(lab)
        check_listeners(lab)
        state.create()
        try:
            raise_limits(state.path, len(lab.hosts))
            if rate:
                make_page(state / CLOCK)
            _run_daemon(lab, state, progress, rate)
        except BaseException:
            with _uninterrupted():
                state.sweep()
                restore_limits(state.path)
            raise
    return lab


class _uninterrupted:  # noqa: N801 - reads as a word in a with statement
    """Ignore further Ctrl-C: the clean-up must not be interrupted."""

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGINT, signal.SIG_IGN)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)


def _run_daemon(lab: Lab, state: StateDir, progress: Progress, rate: str) -> None:
    read_end, write_end = os.pipe()
    argv = [sys.executable, "-m", "eee_testbed.twin.lab.daemon", lab.folder, str(write_end), rate]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    if rate:
        environment |= lab_clock.environment(str(state / CLOCK), os.environ)
    with (state / "daemon.log").open("w+b") as log, ExitStack() as undo:
        daemon = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(write_end,),
            start_new_session=True,
            env=environment,
        )
        undo.callback(_end_uninterrupted, daemon)
        os.close(write_end)
        with os.fdopen(read_end, encoding="utf-8") as reports:
            _follow(reports, log, progress)
        undo.pop_all()


def _follow(reports: Iterable[str], log: BinaryIO, progress: Progress) -> None:
    """Read a starting daemon's reports until it is ready. Its log is read by its descriptor: the daemon removes it."""
    for line in reports:
        message = json.loads(line)
        if "error" in message:
            raise LabError(message["error"])
        if "ready" in message:
            return
        progress(message["doing"], message["done"], message["of"])
    log.seek(0)
    last = log.read().decode(errors="replace").strip().splitlines()[-1:]
    raise LabError(f"the lab's daemon ended before the lab was ready: {last[0] if last else 'its log is empty'}.")


def _end_uninterrupted(daemon: "subprocess.Popen[bytes]") -> None:
    with _uninterrupted():
        _end(daemon)


def _end(daemon: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        daemon.terminate()
    try:
        daemon.wait(_END_S)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def require_root_for_down() -> None:
    """LabError for anybody but root, who alone can read and remove what a lab made."""
    if os.geteuid() != 0:
        raise LabError("taking a virtual lab down needs root: use sudo.")


def down(name: str) -> bool:
    """Take a lab down and remove all that it made; False if it was not up."""
    require_root_for_down()
    state = StateDir(resolve(name))
    with state.lock():
        journal = state.load()
        existed = state.path.exists()
        if journal is not None and journal.daemon is not None:
            journal.daemon.end(signal.SIGTERM, _END_S)
        with _uninterrupted():
            state.sweep()
            restore_limits(state.path)
    return existed


def listing() -> list[KnownLab]:
    """List every lab that is known by name or is running."""
    journals = running_labs()
    folders = {name: str(path) for name, path in known_labs().items()}
    folders.update({name: journal.folder for name, journal in journals.items()})
    hidden = hidden_labs()
    folders.update({name: folders.get(name, "") for name in hidden})
    return [
        KnownLab(name, "root's" if name in hidden else state_of(journals.get(name)), folder)
        for name, folder in sorted(folders.items())
    ]


def status(name: str) -> dict[str, Any]:
    """A lab's state, with its daemon's status if it is up."""
    state = StateDir(resolve(name))
    journal = state.load()
    current = state_of(journal)
    if current != "up" or journal is None:
        return {"lab": state.lab, "state": current}
    answer: dict[str, Any] = ask(state / "control.sock", "status")
    return {"lab": state.lab, "state": current, **answer}


def order(name: str, do: str, *, descriptor: int = -1, **arguments: Any) -> Any:
    """Send a request to a running lab's daemon and return its answer."""
    state, _ = running(name)
    return ask(state / "control.sock", do, descriptor=descriptor, **arguments)


def exec_in_host(name: str, host: str, command: list[str], *, as_root: bool) -> int:
    """Run a command on a host with this process's terminal and descriptors; return its exit status."""
    state, journal = running(name)
    process = journal.hosts.get(host)
    if process is None:
        raise LabError(f"lab {journal.lab} has no host {host}: it has {', '.join(sorted(journal.hosts))}.")
    if not process.alive():
        raise LabError(f"{host} has ended: `eeectl lab status {journal.lab}` shows the state of the lab.")
    user = "root" if as_root else USER
    home = HOMES[user]
    command_line = shlex.join(command)
    inner = (
        f"exec {command_line}"
        if as_root
        else f"exec setpriv --reuid={user} --regid={user} --init-groups {command_line}"
    )
    argv = ["nsenter", "--target", str(process.pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"]
    argv += ["--root", f"--wd=/proc/{process.pid}/root{home}", "sh", "-c", inner]
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/bash",
        **{key: os.environ[key] for key in ("TERM", "LANG", "LC_ALL") if key in os.environ},
    }
    if (state / CLOCK).exists():
        environment |= lab_clock.host_environment(journal.cpu_ratios.get(host))
    groups = [Path(folder) / host / "cgroup.procs" for folder in (journal.cgroups, journal.cpu_groups) if folder]

    def join() -> None:
        for group in groups:
            group.write_text("0", encoding="ascii")

    return run_in_foreground(argv, environment, join)


def clock_page(name: str) -> Path:
    """The page of a running lab's clock; LabError if the lab has none."""
    state, journal = running(name)
    page = state / CLOCK
    if not page.exists():
        raise LabError(
            f"lab {journal.lab} has no clock of its own: take it down and bring it up with "
            f"`eeectl lab up {journal.lab} --rate 1/10`."
        )
    return page


def wall_s(name: str) -> float:
    """The wall's monotonic time, s, also for a process that lives in the time of this lab."""
    try:
        return read_lab_clock(clock_page(name))[2] / 1e9
    except (LabError, OSError):
        return time.monotonic()  # no virtual lab, one without a clock of its own, or one that has gone


def at_terminals(journal: Journal) -> dict[str, dict[int, str]]:
    """Programs on hosts of a lab that somebody runs at a terminal: names by process number, by host."""
    hosts = {}
    for host in journal.hosts:
        try:
            members = (Path(journal.cgroups) / host / "cgroup.procs").read_text(encoding="ascii").split()
        except OSError:
            continue  # the host has ended
        if attended := {number: name for number in map(int, members) if (name := program_at_terminal(number))}:
            hosts[host] = attended
    return hosts


def outside_lab_time(name: str) -> dict[str, dict[int, str]]:
    """Processes on hosts of a running lab that do not live in its time: names by process number, by host."""
    _, journal = running(name)
    processes = {}
    for host in journal.hosts:
        members = (Path(journal.cgroups) / host / "cgroup.procs").read_text(encoding="ascii").split()
        if strangers := lab_clock.outsiders(map(int, members)):
            processes[host] = strangers
    return processes


def set_rate(name: str, rate: str) -> None:
    """Set the rate of a running lab's clock, or "auto" or "auto:2us"; LabError if it has none or for any other text."""
    clock_page(name)
    order(name, "rate", rate=rate_of(rate))


def automatic_rate(name: str) -> str:
    """What sets the rate of a running lab's clock by what happens there: "auto" or "auto:2us"; empty: nothing."""
    return str(order(name, "status")["automatic_rate"])


def join(name: str, command: list[str]) -> NoReturn:
    """Become a command that lives in a running lab's time; LabError without a clock or without the command."""
    page = clock_page(name)
    try:
        joined = {**os.environ, **lab_clock.environment(str(page), os.environ)}
        os.execvpe(command[0], command, joined)  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise LabError(f"{command[0]} cannot be run: {error.strerror}.") from error


def login_argv(name: str, device: str) -> list[str]:
    """The ssh command line that opens a terminal on a host or switch."""
    state, journal = running(name)
    lab = load_lab(Path(journal.folder))
    names = [host.name for host in lab.hosts] + [switch.name for switch in lab.switches]
    if device not in names:
        raise LabError(f"lab {lab.name} has no host or switch {device}: it has {', '.join(names)}.")
    return ["ssh", "-F", str(state / "ssh_config"), device]
