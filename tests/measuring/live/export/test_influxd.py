"""A real InfluxDB takes what the exporter sends: `influxd` 1.8 to 1.13, on the PATH or named by EEE_INFLUXD.

Debian has an older one. It builds from its Go module, `github.com/influxdata/influxdb/cmd/influxd`.
"""

import json
import os
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from eee_testbed.lab.model import Secret
from eee_testbed.measuring.live.export.attach import attach
from eee_testbed.measuring.live.export.influx import InfluxWriter, WritePace
from eee_testbed.measuring.live.export.influx_server import InfluxServer, InfluxTarget
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import Run
from tests.measuring.live.export.conftest import StartServer
from tests.support.labs.toy_view import LAB, ports, watts
from tests.support.needs import lacking
from tests.support.waiting import eventually

_PACE: Final = WritePace(0.05, (0.1,))
_TOKEN: Final = "admin:secret"
"""Of InfluxDB 1: user and password."""


def _influxd() -> str:
    program = os.environ.get("EEE_INFLUXD") or shutil.which("influxd")
    if program is None:
        lacking("no InfluxDB is installed: put an influxd of 1.8 to 1.13 on the PATH, or name it by EEE_INFLUXD")
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    number = re.search(r"v?(\d+)\.(\d+)", version)  # one that was built without a number says "unknown"
    if number is not None and not (1, 8) <= (int(number[1]), int(number[2])) < (2, 0):
        lacking(f"this test configures an influxd of 1.8 to 1.13, and this one is {version.strip()}")
    return program


class _Influx:
    """A server with an administrator and the database `eee`."""

    def __init__(self, folder: Path, start: StartServer, port: int) -> None:
        self._program = _influxd()
        self._start = start
        self._folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.process = self._begin(f"{self.url}/health")
        self.query("CREATE USER admin WITH PASSWORD 'secret' WITH ALL PRIVILEGES", "")
        self.query("CREATE DATABASE eee", "")

    def _begin(self, ready: str) -> "subprocess.Popen[bytes]":
        config = self._folder / "influxd.conf"
        config.write_text(
            f'reporting-disabled = true\nbind-address = "127.0.0.1:0"\n'
            f'[meta]\ndir = "{self._folder}/meta"\n[monitor]\nstore-enabled = false\n'
            f'[data]\ndir = "{self._folder}/data"\nwal-dir = "{self._folder}/wal"\n'
            f'[http]\nbind-address = "{self.url.removeprefix("http://")}"\nauth-enabled = true\n',
            encoding="utf-8",
        )
        return self._start(self._program, ready, "-config", str(config))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def begin_again(self) -> None:
        self.process = self._begin(f"{self.url}/health")

    def query(self, text: str, database: str = "eee") -> list[dict[str, Any]]:
        """The series of a query."""
        user, _, password = _TOKEN.partition(":")
        where = urllib.parse.urlencode({"q": text, "db": database, "u": user, "p": password})
        with urllib.request.urlopen(f"{self.url}/query?{where}", b"", timeout=10) as answer:  # noqa: S310 - ours
            return json.load(answer)["results"][0].get("series", [])  # type: ignore[no-any-return]

    def sums(self, table: str, column: str, tag: str) -> Mapping[str, float]:
        """Sum of a column by a tag."""
        series = self.query(f'SELECT SUM("{column}") FROM "eee_{table}" GROUP BY "{tag}"')  # noqa: S608 - names of ours
        return {one["tags"][tag]: one["values"][0][1] for one in series}


@pytest.fixture
def influx(tmp_path: Path, start: StartServer, port: int) -> _Influx:
    return _Influx(tmp_path, start, port)


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{_TOKEN}\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def _run(folder: Path) -> Run:
    return Run.create(folder / "runs", "toy", {"lab": "toy"}, RunClock(), segment_s=3600.0)


def _record(run: Run, seconds: range) -> None:
    for second in seconds:
        run.append(watts(second, 20.0 + second, 60))  # a whole number, as some meters give it
        run.append(ports("sw1", second, [1_000 * second, 7, 0]))
    run.flush()


@pytest.mark.slow
def test_a_query_gives_back_the_sums_of_a_run(tmp_path: Path, influx: _Influx, token: Path) -> None:
    options = ViewOptions(influx=influx.url, influx_token_file=str(token))
    said: list[str] = []
    with _run(tmp_path) as run, attach(run.folder, LAB, options, said.append):
        run.event(EventKind.SWITCH_RESTARTED, source="sw1")
        _record(run, range(40))
    samples = RunSamples(run.folder)
    for table, column, tag in (("watts", "power_watt", "outlet"), ("ports", "out_byte", "port")):
        rows = samples.table(table).group_by(tag).agg(pl.col(column).sum())
        own = {str(row[tag]): row[column] for row in rows.iter_rows(named=True)}
        assert influx.sums(table, column, tag) == pytest.approx(own)
    kinds = influx.query("SELECT text FROM eee_events GROUP BY kind")
    assert [one["tags"]["kind"] for one in kinds] == ["begun", "restarted"]
    assert said == []


@pytest.mark.slow
def test_nothing_is_lost_while_the_server_is_killed_and_comes_back(influx: _Influx, token: Path) -> None:
    writer = InfluxWriter(InfluxTarget(influx.url, "eee", token=Secret(file=str(token))), {"lab": "toy"}, pace=_PACE)
    for second in range(10):
        writer.take(watts(second, 20.0, 60.0))
    eventually("the first samples are written", lambda: writer.written_lines == 30)
    influx.kill()
    for second in range(10, 20):
        writer.take(watts(second, 20.0, 60.0))
    eventually("the writer notices", lambda: "does not answer" in writer.trouble)
    influx.begin_again()
    eventually("the rest is written", lambda: writer.unsent_batches == 0)
    writer.close()
    assert (writer.written_lines, writer.dropped_batches, writer.trouble) == (60, 0, "")
    assert influx.sums("watts", "power_watt", "outlet") == pytest.approx({"0": 1_600.0, "1": 400.0, "2": 1_200.0})


@pytest.mark.slow
def test_a_wrong_token_or_bucket_is_named_and_what_was_not_written_counted(
    tmp_path: Path, influx: _Influx, token: Path
) -> None:
    for bucket, secret, reason in (("eee", "admin:wrong", "401"), ("none", _TOKEN, "404")):
        token.write_text(secret, encoding="utf-8")
        server = InfluxServer(InfluxTarget(influx.url, bucket, token=Secret(file=str(token))))
        said, invalid = server.send(b"eee_watts,outlet=1 power_watt=1.5 1")
        server.close()
        assert f"refuses samples with {reason}" in said
        assert "; correct --influx-" in said
        assert not invalid
    said_of_run: list[str] = []
    options = ViewOptions(influx=influx.url, influx_bucket="none", influx_token_file=str(token))
    with _run(tmp_path) as run, attach(run.folder, LAB, options, said_of_run.append):
        _record(run, range(4))
    assert said_of_run[-1].startswith("9 polls or events were not exported (127.0.0.1")
    assert said_of_run[-1].endswith("; the run's folder has them.")
