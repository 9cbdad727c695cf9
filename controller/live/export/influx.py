"""Samples for a server that speaks InfluxDB's version 2 write API (InfluxDB, VictoriaMetrics, Telegraf).

Batches wait in a bounded buffer for a thread that writes them as line protocol, thousands of lines a request. While the
server is away they wait, it is tried again after growing pauses, and when the buffer is full the oldest go: a run never
waits for a view of it. A request that the server calls wrong (400, 413, 422) is not sent again; one not let in
(401, 403, 404) is, as somebody may mend that.
"""

import http.client
import math
import threading
import urllib.parse
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lab.credentials import read_secret
from lab.errors import LabError
from lab.model import NO_SECRET, Secret
from record.sample_tables import TABLES, Batch

_HELD_BATCHES: Final = 36_000  # an hour of ten devices
_LINES: Final = 5_000  # of one request, what InfluxDB's documentation advises
_FLUSH_S: Final = 1.0
_TIMEOUT_S: Final = 5.0
_PAUSES_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
_WRONG: Final = frozenset({400, 413, 422})
_TAG_ESCAPES: Final = str.maketrans({",": r"\,", "=": r"\=", " ": r"\ "})
_LABELS: Final = {"ports": ("switch", "port"), "watts": ("strip", "outlet", "feeds"), "lpi": ("switch", "port")}
_LEFT_OUT: Final = frozenset({"tick", "due_ns", "sent_ns", "received_ns"})


@dataclass(frozen=True, slots=True)
class InfluxTarget:
    """A server. `token` says where its API token is; without one none is sent, as VictoriaMetrics wants none."""

    url: str
    bucket: str
    organisation: str = ""
    token: Secret = NO_SECRET


def lines_of(batch: Batch, tags: Mapping[str, str]) -> Iterator[str]:
    """Line protocol of a batch: measurement `eee_TABLE`, the middle of asking and answering as its time in ns.

    Rows of `polls` that were missed have no time and are left out, as are values that are missing or no numbers.
    """
    columns = batch.columns
    sent, received = columns.get("sent_ns"), columns.get("received_ns")
    if not isinstance(sent, int) or not isinstance(received, int):
        return
    labels = _LABELS.get(batch.table, TABLES[batch.table].keys)
    names = [name for name in TABLES[batch.table].names if name not in _LEFT_OUT and name not in labels]
    fixed = "".join(f",{_tag(key)}={_tag(value)}" for key, value in sorted(tags.items()) if value)
    known = {name: _values(batch, name) for name in (*labels, *names) if name in columns}
    for row in range(batch.row_count):
        told = "".join(f",{label}={_tag(text)}" for label in labels if (text := str(known[label][row])))
        fields = ",".join(text for name in names if name in known and (text := _field(name, known[name][row])))
        if fields:
            yield f"eee_{batch.table}{fixed}{told} {fields} {(sent + received) // 2}"


def line_of(measurement: str, tags: Mapping[str, str], fields: Mapping[str, object], time_ns: int) -> str:
    """One line of line protocol; empty tags, and fields that are missing or no numbers nor text, are left out."""
    told = "".join(f",{_tag(key)}={_tag(value)}" for key, value in sorted(tags.items()) if value)
    known = ",".join(text for key, value in fields.items() if (text := _field(key, value)))
    return f"{measurement}{told} {known} {time_ns}"


def _values(batch: Batch, name: str) -> Sequence[Any]:
    column = batch.columns[name]
    return column if isinstance(column, list) else [column] * batch.row_count


def _tag(text: str) -> str:
    """A tag's key or value; line breaks cannot be said, and a backslash at the end would take the comma's meaning."""
    return text.replace("\n", " ").rstrip("\\").translate(_TAG_ESCAPES)


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


class InfluxWriter:
    """A sink. Its thread lives from its making to `close`."""

    def __init__(self, target: InfluxTarget, tags: Mapping[str, str], *, held_batches: int = _HELD_BATCHES) -> None:
        parts = urllib.parse.urlsplit(target.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise LabError(f"'{target.url}' is no address of a server: write http://HOST:PORT.")
        self._parts = parts
        asked = {"org": target.organisation, "bucket": target.bucket, "precision": "ns"}
        self._path = f"{parts.path.rstrip('/')}/api/v2/write?{urllib.parse.urlencode(asked)}"
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if target.token:
            self._headers["Authorization"] = f"Token {read_secret(target.token, target.url)}"
        self._tags = dict(tags)
        self._held: deque[Batch | str] = deque(maxlen=held_batches)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._connection: http.client.HTTPConnection | None = None
        self.dropped_batches = 0
        self.refused_batches = 0
        self.written_lines = 0
        self.trouble = ""
        self._thread = threading.Thread(target=self._write, name="write to influx", daemon=True)
        self._thread.start()

    def take(self, batch: Batch | str) -> None:
        """Hold a batch, or a line made by `line_of`, for the writer; the oldest goes if there is no room."""
        with self._lock:
            self.dropped_batches += len(self._held) == self._held.maxlen
            self._held.append(batch)

    def close(self, timeout_s: float = _TIMEOUT_S) -> None:
        """Write what waits, once, and end; what the server does not take in time is dropped."""
        self._ending.set()
        self._thread.join(timeout_s)

    def _write(self) -> None:
        failures = 0
        while True:
            pause_s = _PAUSES_S[min(failures, len(_PAUSES_S)) - 1] if failures else _FLUSH_S
            ending = self._ending.wait(pause_s)
            while (failed := self._write_some()) is False:
                failures = 0
            failures = failures + 1 if failed else 0
            if ending:
                break
        if self._connection is not None:
            self._connection.close()

    def _write_some(self) -> bool | None:
        """Send a request with what waits: False done, True it failed, None there is nothing to send."""
        batches, lines = self._taken()
        if not batches:
            return None
        reason, wrong = self._sent("\n".join(lines).encode()) if lines else ("", False)
        if wrong:
            self.refused_batches += len(batches)
        elif reason:
            with self._lock:
                room = (self._held.maxlen or 0) - len(self._held)
                self._held.extendleft(reversed(batches[len(batches) - room :] if room < len(batches) else batches))
                self.dropped_batches += max(0, len(batches) - room)
        else:
            self.written_lines += len(lines)
        self.trouble = reason
        return bool(reason) and not wrong

    def _taken(self) -> tuple[list[Batch | str], list[str]]:
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

    def _sent(self, body: bytes) -> tuple[str, bool]:
        """(what went wrong or "", whether the request itself is at fault)."""
        try:
            if self._connection is None:
                made = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
                self._connection = made(self._parts.hostname or "", self._parts.port, timeout=_TIMEOUT_S)
            self._connection.request("POST", self._path, body, self._headers)
            answer = self._connection.getresponse()
            said = answer.read(300).decode("utf-8", "replace").strip()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            return f"{self._parts.netloc} does not answer ({error})", False
        if answer.status < 300:
            return "", False
        return f"{self._parts.netloc} refuses samples with {answer.status}: {said}", answer.status in _WRONG
