"""Samples for a server with InfluxDB's version 2 write API (InfluxDB, VictoriaMetrics, Telegraf).

Batches wait in a bounded buffer for a thread that writes them as line protocol, thousands of lines in a request. While
the server is away the thread tries again after growing pauses, and a full buffer drops its oldest batches: a run never
waits for its exports. A request that the server calls invalid (400, 413, 422) is not sent again; one that it denies
(401, 403, 404) is, as a person may correct that.

The library's batching writer is not used: it holds samples without a limit while the server is away, and its `close`
then blocks for minutes. `influx_server.py` has its synchronous one.
"""

import math
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eee_testbed.measuring.live.export.influx_server import TIMEOUT_S, InfluxServer, InfluxTarget
from eee_testbed.record.columns import midpoint_ns, rows_of
from eee_testbed.record.sample_tables import TABLES, Batch

_HELD_BATCHES: Final = 36_000  # an hour of ten devices
_LINES: Final = 5_000  # of one request, what InfluxDB's documentation advises
_TAG_ESCAPES: Final = str.maketrans({",": r"\,", "=": r"\=", " ": r"\ "})
_LABELS: Final = {"ports": ("switch", "port"), "watts": ("strip", "outlet", "feeds"), "lpi": ("switch", "port")}
_LEFT_OUT: Final = frozenset({"tick", "due_ns", "sent_ns", "received_ns"})


def lines_of(batch: Batch, tags: Mapping[str, str]) -> Iterator[str]:
    """Line protocol of a batch: measurement `eee_TABLE`, at the midpoint of request and response in ns.

    Polls that were missed have no time and are left out, as are values that are missing or not finite. A field always
    has the type of its column: InfluxDB refuses a series whose type changes.
    """
    time_ns = midpoint_ns(batch)
    if time_ns is None:
        return
    labels = _LABELS.get(batch.table, TABLES[batch.table].keys)
    kinds = {column.name: column.kind for column in TABLES[batch.table].columns}
    names = [name for name in kinds if name not in _LEFT_OUT and name not in labels]
    fixed = _tags(dict(sorted(tags.items())))
    for row in rows_of(batch, (*labels, *names)):
        row_tags = _tags({label: str(row[label]) for label in labels if row[label] is not None})
        fields = ",".join(text for name in names if (text := _field(name, _typed(row[name], kinds[name]))))
        if fields:
            yield f"eee_{batch.table}{fixed}{row_tags} {fields} {time_ns}"


def line_of(measurement: str, tags: Mapping[str, str], fields: Mapping[str, object], time_ns: int) -> str:
    """One line of line protocol, without empty tags and fields, and fields that are not finite."""
    texts = ",".join(text for key, value in fields.items() if (text := _field(key, value)))
    return f"{measurement}{_tags(dict(sorted(tags.items())))} {texts} {time_ns}"


def _tags(tags: Mapping[str, str]) -> str:
    return "".join(f",{_tag(key)}={_tag(value)}" for key, value in tags.items() if value)


def _tag(text: str) -> str:
    """A tag's key or value; it cannot have line breaks, and a backslash at its end would escape the comma after it."""
    return text.replace("\n", " ").rstrip("\\").translate(_TAG_ESCAPES)


def _typed(value: object, kind: str) -> object:
    return float(value) if kind == "float" and isinstance(value, int) else value


def _field(name: str, value: object) -> str:
    match value:
        case bool():
            return f"{name}={'true' if value else 'false'}"
        case int():
            return f"{name}={value}i"
        case float() if math.isfinite(value):
            return f"{name}={value!r}"
        case str() if value:
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'{name}="{quoted}"'
    return ""


@dataclass(frozen=True, slots=True)
class WritePace:
    """How long to wait between two requests, s, and after the first, second, ... failure in a row."""

    every_s: float = 1.0
    after_failures_s: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0, 30.0)

    def pause_s(self, failures: int) -> float:
        """Seconds to wait after a number of failures in a row."""
        return self.after_failures_s[min(failures, len(self.after_failures_s)) - 1] if failures else self.every_s


class InfluxWriter:
    """Writes batches and lines in a thread of its own, until `close`."""

    def __init__(
        self,
        target: InfluxTarget,
        tags: Mapping[str, str],
        *,
        held_batches: int = _HELD_BATCHES,
        pace: WritePace = WritePace(),
    ) -> None:
        self._server = InfluxServer(target)
        self._tags = dict(tags)
        self._pace = pace
        self._held: deque[Batch | str] = deque(maxlen=held_batches)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self.dropped_batches = 0
        self.refused_batches = 0
        self.written_lines = 0
        self.unsent_batches = 0
        """Batches and lines that were taken and are not written: they wait, were dropped or refused."""
        self.trouble = ""
        self._thread = threading.Thread(target=self._write, name="write to influx", daemon=True)
        self._thread.start()

    def take(self, batch: Batch | str) -> None:
        """Hold a batch, or a line of `line_of`, for the writer; a full buffer drops its oldest."""
        with self._lock:
            self.dropped_batches += len(self._held) == self._held.maxlen
            self.unsent_batches += 1
            self._held.append(batch)

    def close(self, timeout_s: float = TIMEOUT_S) -> None:
        """Try once to write what waits, and end; what the server does not take in time stays in `unsent_batches`."""
        self._ending.set()
        self._thread.join(timeout_s)

    def _write(self) -> None:
        failures = 0
        while True:
            ending = self._ending.wait(self._pace.pause_s(failures))
            while (failed := self._write_some()) is False:
                failures = 0
            failures = failures + 1 if failed else 0
            if ending:
                break
        self._server.close()

    def _write_some(self) -> bool | None:
        """Send a request with what waits: False sent, True failed, None nothing waits."""
        batches, lines = self._next_request()
        if not batches:
            return None
        reason, invalid = self._server.send("\n".join(lines).encode()) if lines else ("", False)
        if invalid:
            self.refused_batches += len(batches)
        elif reason:
            with self._lock:
                room = (self._held.maxlen or 0) - len(self._held)
                self._held.extendleft(reversed(batches[len(batches) - room :] if room < len(batches) else batches))
                self.dropped_batches += max(0, len(batches) - room)
        else:
            self.written_lines += len(lines)
            with self._lock:
                self.unsent_batches -= len(batches)
        self.trouble = reason
        return bool(reason) and not invalid

    def _next_request(self) -> tuple[list[Batch | str], list[str]]:
        batches: list[Batch | str] = []
        lines: list[str] = []
        while len(lines) < _LINES:
            with self._lock:
                if not self._held:
                    break
                batches.append(self._held.popleft())
            newest = batches[-1]
            lines += [newest] if isinstance(newest, str) else lines_of(newest, self._tags)
        return batches, lines
