"""A run's folder: `run.yaml`, `events.jsonl`, `samples/*`. The folder is the truth; everything else is a view of it.

One process writes a folder at a time. Rows and events go through a queue to a thread of their own, so that a slow disk
delays no sample, and are written within milliseconds. While the disk refuses writes, the thread tries again every
second and rows wait in memory; at a limit of rows, or at the end of the run, this is an error.
"""

import contextlib
import fcntl
import getpass
import io
import json
import os
import platform
import queue
import re
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Self, TextIO

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError, RunFolderFailed, UnreadableFile
from eee_testbed.lab.untrusted_files import parse_yaml, read_json_lines
from eee_testbed.record.checkout import described
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import TABLES, Batch, Table
from eee_testbed.record.segments import SegmentWriter
from eee_testbed.record.shapes import check_facts, parse_event

FORMAT: Final = 1
FOLDER_MODE: Final = 0o750
"""Permissions of a run's folder, from which the umask takes: its owner writes, the owner's group reads, others nothing.

Everything in it has the umask's permissions, but nobody else reaches it.
"""

_RESTORE: Final = "restore it from a copy, or leave this run out"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_PACKAGES: Final = ("eee-testbed", "gufo-snmp", "polars", "numpy", "netmiko")
_SEGMENT_S: Final = 60.0
_RETRY_S: Final = 1.0
_HELD_ROWS: Final = 1_000_000  # that wait in memory for a full disk: 50 minutes of 300 ports, a few hundred megabytes
_NS: Final = 1_000_000_000

Facts = Mapping[str, Any]
"""Plain data for YAML or JSON that describe the run."""


@dataclass(frozen=True, slots=True)
class _Event:
    line: str


_Item = Batch | _Event | None


def versions() -> dict[str, str]:
    """Versions of the software that took part, for run.yaml; `commit` is there if it runs from a checkout."""
    versions_by_name = {"python": platform.python_version(), "kernel": platform.release()}
    if commit := described():
        versions_by_name["commit"] = commit
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions_by_name[package] = metadata.version(package)
    return versions_by_name


def read_facts(folder: Path) -> dict[str, Any]:
    """`run.yaml` of a run; LabError if the folder has none, UnreadableFile if it is damaged."""
    path = folder / "run.yaml"
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise UnreadableFile(str(path), 0, "is not UTF-8 text", _RESTORE) from error
    except OSError as error:
        raise LabError(
            f"{folder} is not a run's folder ({path.name}: {error.strerror}): name one below runs/."
        ) from error
    facts = parse_yaml(text, str(path), _RESTORE)
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise LabError(f"{path} is not of format {FORMAT}: read it with the version that wrote it.")
    try:
        check_facts(facts)
    except ValueError as error:
        raise UnreadableFile(str(path), 0, f"is damaged ({error})", _RESTORE) from error
    return facts


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run's folder with `run.yaml` as it was when it was read: a command reads it once, and hands this on."""

    path: Path
    facts: dict[str, Any]
    _file: tuple[int, int]
    """Which file it was: whoever writes `run.yaml` puts a new one in its place."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read `run.yaml`; LabError if there is none, UnreadableFile if it is damaged."""
        before = _file_of(path)
        return cls(path, read_facts(path), before)

    def require_same(self) -> None:
        """LabError if somebody has written `run.yaml` since it was read."""
        if _file_of(self.path) != self._file:
            raise LabError(f"{self.path} was written by another process in between: run the command again.")


def _file_of(path: Path) -> tuple[int, int]:
    try:
        status = (path / "run.yaml").stat()
    except OSError:  # reading says what is wrong
        return (0, 0)
    return status.st_ino, status.st_mtime_ns


def read_events(folder: Path) -> list[dict[str, Any]]:
    """The events of a run, in order, without a last line that a crash cut off. A damaged line is lost (DamagedPart)."""
    try:
        return list(read_json_lines(folder / "events.jsonl", parse_event))
    except FileNotFoundError:
        return []


class Run:
    """Writes a run's folder. `create` or `resume` opens it, its context closes it.

    `open_table` makes the writer of a table in the folder of samples.
    """

    def __init__(
        self,
        folder: Path,
        facts: dict[str, Any],
        clock: RunClock,
        *,
        segment_s: float = _SEGMENT_S,
        open_table: Callable[[Path, Table], SegmentWriter] = SegmentWriter,
    ) -> None:
        self.folder = folder
        self.clock = clock
        self._facts = facts
        self._segment_s = segment_s
        self._lock = _lock(folder)
        self._tables = {name: open_table(folder / "samples", table) for name, table in TABLES.items()}
        self._queue: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._held_rows = 0
        self._counting = threading.Lock()
        self._trouble = ""
        self._events: int | None = None
        self.set_aside: tuple[str, ...] = ()
        """A sentence on each file of samples that was damaged when the run was resumed."""

        self._writer = threading.Thread(target=self._write, name=f"write {folder.name}")

    @classmethod
    def create(cls, root: Path, name: str, facts: Facts, clock: RunClock | None = None, **options: Any) -> "Run":
        """A new folder below `root`, named after the time and `name`, with `FOLDER_MODE`; `facts` go into run.yaml.

        LabError if it cannot be created. The run's own keys in run.yaml: format, name, state, begun, actor, host,
        versions, clock, clocks.
        """
        if not _NAME.fullmatch(name):
            raise LabError(f"invalid name '{name}' for a run: use lower-case letters, digits, '-', '_' and '.'.")
        clock = RunClock() if clock is None else clock
        begun = _iso(clock.now_ns())
        folder = root / f"{begun.replace('-', '').replace(':', '').split('.')[0]}Z-{name}"
        identity = {"format": FORMAT, "name": name, "state": "running", "begun": begun}
        who = {"actor": getpass.getuser(), "host": socket.gethostname(), "versions": versions()}
        anchors = {"clock": [_anchor_facts(clock)], "clocks": []}
        try:
            root.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=FOLDER_MODE)
            (folder / "samples").mkdir()
            (folder / "figures").mkdir()
            run = cls(folder, {**identity, **who, **anchors, **facts}, clock, **options)
            run._write_facts()
        except OSError as error:
            raise LabError(
                f"cannot create the run's folder {folder} ({error.strerror}): choose another place."
            ) from error
        run._begin()
        run.event(EventKind.RUN_BEGUN)
        return run

    @classmethod
    def resume(cls, begun: RunFolder, clock: RunClock | None = None, **options: Any) -> "Run":
        """Continue a run that ended or was killed; LabError if another process writes it, or wrote it in between."""
        folder, facts = begun.path, begun.facts
        clock = RunClock() if clock is None else clock
        clocks = [*facts["clock"], _anchor_facts(clock)]
        run = cls(folder, {**facts, "clock": clocks, "state": "running"}, clock, **options)
        try:
            begun.require_same()
            run.set_aside = tuple(said for table in run._tables.values() for said in table.recover())
            _cut_torn_line(folder / "events.jsonl")
            run._write_facts()
        except LabError:
            run._lock.close()
            raise
        except OSError as error:
            run._lock.close()
            raise RunFolderFailed(str(folder), error.strerror or str(error)) from error
        run._begin()
        run.event(EventKind.RUN_RESUMED, state_before=str(facts.get("state")))
        for sentence in run.set_aside:
            run.event(EventKind.SAMPLES_SET_ASIDE, why=sentence)
        return run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close("finished" if kind is None else "interrupted")

    @property
    def trouble(self) -> str:
        """Why the disk refuses writes; empty if it does not."""
        return self._trouble

    @property
    def facts(self) -> dict[str, Any]:
        """The content of run.yaml."""
        return dict(self._facts)

    def event(self, kind: EventKind, **facts: Any) -> None:
        """Record an event that happened now or at `time_ns`."""
        self._put(_Event(_event_line(kind, facts.pop("time_ns", self.clock.now_ns()), facts)), 1)

    def append(self, batch: Batch) -> None:
        """Append rows to a table. RunFolderFailed if the disk refuses writes and too many rows wait for it."""
        self._put(batch, batch.row_count)

    def add_facts(self, facts: Facts) -> None:
        """Add facts to run.yaml, or replace them there."""
        self._facts.update(facts)
        try:
            self._write_facts()
        except OSError as error:
            self._trouble = error.strerror or str(error)  # run.yaml is written again at the end

    def add_clocks(self, offsets: Sequence[Mapping[str, Any]]) -> None:
        """Add estimates of other clocks."""
        self.add_facts({"clocks": [*self._facts["clocks"], *offsets]})

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until everything so far is written, and the end of a full disk noted; whether all rows are written."""
        deadline_ns = self.clock.clock.monotonic_ns() + round(timeout_s * _NS)
        written = threading.Event()
        while (
            (self._held() or self._trouble)
            and self.clock.clock.monotonic_ns() < deadline_ns
            and self._writer.is_alive()
        ):
            self.clock.clock.wait(written, 0.005)
        return not self._held()

    def close(self, state: str = "finished") -> None:
        """Write what waits, close all segments, record the end; RunFolderFailed if that fails. Harmless when closed."""
        if self._lock.closed:
            return
        self._queue.put(None)
        self._writer.join()
        reason = ""
        try:
            for table in self._tables.values():
                table.close_segment()
            self._facts |= {"state": state, "ended": _iso(self.clock.now_ns())}
            self._facts["clock"][-1]["system_ahead_at_end_ns"] = self.clock.system_ahead_ns()
            self._write_facts()
        except OSError as error:
            reason = error.strerror or str(error)
        if self._events is not None:
            os.close(self._events)
            self._events = None
        self._lock.close()
        if self._held():
            raise RunFolderFailed(str(self.folder), f"{self._trouble}; {self._held()} rows are lost")
        if reason:
            raise RunFolderFailed(str(self.folder), reason)

    # -- the writer

    def _begin(self) -> None:
        self._writer.start()

    def _held(self) -> int:
        with self._counting:
            return self._held_rows

    def _put(self, item: _Item, rows: int) -> None:
        with self._counting:
            if self._held_rows > _HELD_ROWS:
                raise RunFolderFailed(str(self.folder), self._trouble or "the disk is too slow")
            self._held_rows += rows
        self._queue.put(item)

    def _write(self) -> None:
        waiting: list[Batch | _Event] = []
        ending = False
        segment_ns = self.clock.clock.monotonic_ns() + round(self._segment_s * _NS)
        while not ending:
            try:
                item = self._queue.get(timeout=_RETRY_S)
            except queue.Empty:
                # A run that was not closed must not keep its program from ending; waiting rows are written first.
                ending = not threading.main_thread().is_alive()
            else:
                ending = item is None
                waiting += [item] if item is not None else []
            with contextlib.suppress(queue.Empty):
                while not ending:
                    item = self._queue.get_nowait()
                    ending = item is None
                    waiting += [item] if item is not None else []
            waiting = self._write_items(waiting)
            if self.clock.clock.monotonic_ns() >= segment_ns:
                segment_ns += round(self._segment_s * _NS)
                self._close_segments()

    def _write_items(self, waiting: list[Batch | _Event]) -> list[Batch | _Event]:
        """Write items; return those that the disk refused."""
        try:
            for name, table in self._tables.items():
                batches = [item for item in waiting if isinstance(item, Batch) and item.table == name]
                if batches:
                    table.append(batches)
                    waiting = [item for item in waiting if not isinstance(item, Batch) or item.table != name]
                    self._took(sum(batch.row_count for batch in batches))
            events = [item for item in waiting if isinstance(item, _Event)]
            if events:
                self._append_events("".join(event.line for event in events).encode())
                waiting = [item for item in waiting if not isinstance(item, _Event)]
                self._took(len(events))
        except OSError as error:
            if not self._trouble:
                self._trouble = error.strerror or str(error)
            return waiting
        if self._trouble:
            self._append_trouble()
        return waiting

    def _append_trouble(self) -> None:
        line = _event_line(EventKind.DISK_RECOVERED, self.clock.now_ns(), {"why": self._trouble})
        with contextlib.suppress(OSError):
            self._append_events(line.encode())
            self._trouble = ""

    def _append_events(self, data: bytes) -> None:
        if self._events is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._events = os.open(self.folder / "events.jsonl", flags, 0o644)
        size_byte, written = os.fstat(self._events).st_size, 0
        try:
            while written < len(data):
                written += os.write(self._events, data[written:])
            os.fsync(self._events)
        except OSError:
            os.ftruncate(self._events, size_byte)
            raise

    def _took(self, rows: int) -> None:
        with self._counting:
            self._held_rows -= rows

    def _close_segments(self) -> None:
        try:
            for table in self._tables.values():
                table.close_segment()
        except OSError as error:
            self._trouble = self._trouble or error.strerror or str(error)

    def _write_facts(self) -> None:
        _replace_facts(self.folder, self._facts)


def mark_interrupted(folder: Path) -> None:
    """Write into `run.yaml` of a run that was killed that it has ended, if that can be done; nothing else changes."""
    with contextlib.suppress(LabError, OSError, YAMLError, UnicodeDecodeError):
        facts = read_facts(folder)
        if facts.get("state") == "running":
            _replace_facts(folder, facts | {"state": "interrupted"})


def _replace_facts(folder: Path, facts: Facts) -> None:
    text = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.dump(dict(facts), text)
    durable.replace(folder / "run.yaml", text.getvalue())


def _event_line(kind: EventKind, time_ns: int, facts: Facts) -> str:
    return json.dumps({"time_ns": time_ns, "kind": kind, **facts}) + "\n"


def _iso(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / _NS, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


def _anchor_facts(clock: RunClock) -> dict[str, int]:
    anchor = clock.anchor
    return {"utc_ns": anchor.utc_ns, "monotonic_ns": anchor.monotonic_ns, "bound_ns": anchor.bound_ns}


def _lock(folder: Path) -> TextIO:
    """A lock that is held while a process writes; the kernel releases it when that process ends, however it ends."""
    file = (folder / "writer.lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise LabError(f"{folder} is being written by another process: wait for it or end it.") from error
    return file


def _cut_torn_line(path: Path) -> None:
    """Remove a last line without a line break."""
    if path.exists():
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(path, whole)
