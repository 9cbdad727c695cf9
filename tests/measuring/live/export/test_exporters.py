"""Exporters: what they export, that no poll waits for them, and that Debian's own servers accept it."""

import json
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.collecting.collect import SourceState
from eee_testbed.measuring.live.export.influx import InfluxWriter, WritePace, line_of, lines_of
from eee_testbed.measuring.live.export.influx_server import InfluxTarget
from eee_testbed.measuring.live.export.latest import Latest
from eee_testbed.measuring.live.export.prometheus import LabMetrics, PrometheusExporter
from eee_testbed.measuring.live.export.run_metrics import RunMetrics
from eee_testbed.record.run_tail import Update
from eee_testbed.record.sample_tables import PORTS, Batch
from tests.measuring.live.export.conftest import StartServer
from tests.support.labs.toy_view import LAB, T0, event, loop_decided, loop_epoch
from tests.support.waiting import eventually

_QUICK = WritePace(0.02, (0.02, 0.05))
_NAMES = [name for name in PORTS.names if name.endswith(("_byte", "_frame"))]


def _times(at_ns: int) -> dict[str, Any]:
    return {"tick": 1, "due_ns": at_ns, "sent_ns": at_ns, "received_ns": at_ns + 1_000}


def _ports(at_ns: int, in_byte: int = 1_000, mark: str = "") -> Batch:
    counts = {name: [in_byte if name == "in_byte" else 7, None] for name in _NAMES}
    own = {"port": ["gi1/0/1", "gi1/0/2"], "up": [True, False], "rate_mbps": [1000, 0], "discontinuity_ms": [0, 0]}
    return Batch("ports", 2, {"switch": "sw1", **_times(at_ns), **own, **counts, "mark": [mark, mark]})


def _watts(at_ns: int, watt: float = 41.25) -> Batch:
    own = {"outlet": [0, 1, 2], "feeds": ["", 'a "b" c', "n01"], "on": [None, True, False], "mark": ["", "", "stale"]}
    shown = {"power_watt": [50.0, watt, 3.0], "energy_joule": [7_200.0, 3_600.0, None]}
    steps = {"power_step_watt": 0.1, "energy_step_joule": 3_600.0, "unchanged_s": 0.0}
    return Batch("watts", 3, {"strip": "pdu1", **_times(at_ns), **own, **shown, **steps})


def _lpi(at_ns: int) -> Batch:
    own = {"port": ["1/0/1"], "tx_lpi_event": [5], "tx_lpi_us": [2_500_000], "rx_lpi_event": [6], "rx_lpi_us": [0]}
    return Batch("lpi", 1, {"switch": "sw2", **_times(at_ns), **own, "mark": [""]})


def _poll(at_ns: int, outcome: str = "ok") -> Batch:
    who = {"source": "sw1", "kind": "switch", "outcome": outcome, "mark": "", "uptime_ms": 5, "why": ""}
    return Batch("polls", 1, {**who, **_times(at_ns)})


_STATES = (
    SourceState("sw1", "switch", 1.0, "ok", received_ns=1_700_000_000_500_000_000),
    SourceState("pdu1", "strip", 1.0, "failed"),
    SourceState("sw2", "lpi", 10.0, "ok"),
)


def _exporter(latest: Latest) -> PrometheusExporter:
    return PrometheusExporter(LabMetrics("toy", latest, lambda: _STATES))


def _scraped(url: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - ours
        text = answer.read().decode()
    return {
        (sample.name, tuple(sorted((k, v) for k, v in sample.labels.items() if v and k != "lab"))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_have_base_units_and_no_value_that_is_missing_or_stale() -> None:
    latest = Latest()
    for batch in (_ports(1), _watts(1), _lpi(1), _poll(1), _poll(2), _poll(3, "missed")):
        latest.take(batch)
    exporter = _exporter(latest)
    try:
        shown = _scraped(exporter.url)
    finally:
        exporter.close()
    one = (("port", "gi1/0/1"), ("switch", "sw1"))
    assert shown["eee_port_bytes_total", (("direction", "receive"), *one)] == 1_000
    assert shown["eee_port_frames_total", (("cast", "unicast"), ("direction", "transmit"), *one)] == 7
    assert shown["eee_port_up", one] == 1
    assert shown["eee_port_speed_bytes_per_second", one] == 125e6
    assert shown["eee_port_lpi_seconds_total", (("direction", "transmit"), ("port", "1/0/1"), ("switch", "sw2"))] == 2.5
    assert shown["eee_outlet_power_watts", (("feeds", 'a "b" c'), ("outlet", "1"), ("strip", "pdu1"))] == 41.25
    assert shown["eee_strip_energy_joules_total", (("strip", "pdu1"),)] == 7_200
    assert shown["eee_strip_measured_joules_total", (("strip", "pdu1"),)] == 0, "one sample spans no time"
    assert shown["eee_source_up", (("kind", "strip"), ("source", "pdu1"))] == 0
    assert shown["eee_polls_total", (("kind", "switch"), ("outcome", "ok"), ("source", "sw1"))] == 2
    names = {(name, labels) for name, labels in shown if "outlet" in name}
    assert not [labels for _, labels in names if ("outlet", "2") in labels]  # stale
    assert not [labels for _, labels in names if ("outlet", "0") in labels]  # the strip itself
    other = (("direction", "receive"), ("port", "gi1/0/2"), ("switch", "sw1"))
    assert ("eee_port_bytes_total", other) not in shown  # null


def test_series_of_a_run_name_it() -> None:
    latest = Latest()
    latest.take(_ports(1))
    latest.take(_watts(1))
    samples = [sample for one in LabMetrics("toy", latest, lambda: _STATES, "r1").collect() for sample in one.samples]
    of_lab = ("eee_source", "eee_polls")
    runs = {sample.labels.get("run") for sample in samples if not sample.name.startswith(of_lab)}
    assert runs == {"r1"}


def test_a_closed_loop_is_exported_with_its_decisions_as_annotations() -> None:
    metrics = RunMetrics(LAB)
    events = (
        loop_decided(1.0, "off", "it was not needed"),
        event(2.0, "loop_undecided", epoch=2, why="sw2: does not answer."),
        loop_epoch(2.0, 2, busiest_share=None),
    )
    metrics.take_update(Update(events=events), {"name": "auto", "state": "running"})
    shown = {
        (sample.name, sample.labels.get("state") or sample.labels.get("after", "")): sample.value
        for metric in metrics.collect()
        for sample in metric.samples
        if sample.name.startswith(("eee_loop", "eee_actuation"))
    }
    assert shown == {
        ("eee_actuation_timestamp_seconds", "off"): T0 / 1e9 + 1,
        ("eee_loop_links", "active"): 1,
        ("eee_loop_links", "shadow"): 0,
        ("eee_loop_links", "off"): 1,
        ("eee_loop_links", "waking"): 0,
        ("eee_loop_links", "down"): 0,
        ("eee_loop_epochs_total", ""): 2,
        ("eee_loop_undecided_epochs_total", ""): 1,
        ("eee_loop_slowdown_ratio", ""): 0.031,
    }


def test_old_samples_are_not_exported() -> None:
    now_s = 100.0
    latest = Latest(lambda: now_s)
    latest.take(_ports(1))
    exporter = _exporter(latest)
    try:
        now_s = 104.9
        assert any(name == "eee_port_up" for name, _ in _scraped(exporter.url))
        now_s = 105.1
        assert not any(name == "eee_port_up" for name, _ in _scraped(exporter.url))
    finally:
        exporter.close()


def test_a_port_in_use_is_an_error() -> None:
    exporter = _exporter(Latest())
    try:
        taken = int(exporter.url.rpartition(":")[2].partition("/")[0])
        with pytest.raises(LabError, match="metrics cannot be served"):
            PrometheusExporter(LabMetrics("toy", Latest(), lambda: ()), port=taken)
    finally:
        exporter.close()


# -- line protocol


def test_lines_escape_special_characters() -> None:
    lines = list(lines_of(_watts(2_000), {"lab": "a=b, c"}))
    assert lines[1].startswith(
        'eee_watts,lab=a\\=b\\,\\ c,strip=pdu1,outlet=1,feeds=a\\ "b"\\ c on=true,power_watt=41.25,'
    )
    assert lines[1].endswith(" 2500")
    assert "energy_joule=3600.0" in lines[1]
    assert "power_watt=7.0," in list(lines_of(_watts(2_000, 7), {}))[1], "a field keeps its type"
    assert ",feeds=" not in lines[0]  # an empty tag is left out
    assert "energy_joule" not in lines[2]  # null
    assert "in_byte=1000i" in next(iter(lines_of(_ports(1), {})))


def test_polls_that_were_missed_have_no_time_and_no_line() -> None:
    missed = Batch(
        "polls", 1, {"source": "a", "kind": "strip", "outcome": "missed", "sent_ns": None, "received_ns": None}
    )
    assert list(lines_of(missed, {})) == []


class _Server:
    """An InfluxDB server whose answers the test sets."""

    def __init__(self) -> None:
        server = self
        self.status = 204
        self.bodies: list[str] = []
        self.came = threading.Condition()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with server.came:
                    server.bodies.append(body)
                    server.came.notify_all()
                self.send_response(server.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def wait_for(self, requests: int) -> None:
        with self.came:
            assert self.came.wait_for(lambda: len(self.bodies) >= requests, 20.0), self.bodies


@pytest.fixture
def server() -> Iterator[_Server]:
    made = _Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def test_a_request_that_fails_is_sent_again_in_order_and_an_invalid_one_is_not(server: _Server) -> None:
    server.status = 503
    writer = InfluxWriter(InfluxTarget(f"http://127.0.0.1:{server.port}", "b"), {}, pace=_QUICK)
    writer.take(_lpi(2_000))
    server.wait_for(2)
    assert "refuses samples with 503" in writer.trouble
    server.status = 204
    writer.take(_lpi(4_000))
    server.wait_for(len(server.bodies) + 1)
    writer.close()
    sent = [int(line.rpartition(" ")[2]) for body in server.bodies for line in body.splitlines()]
    assert sent[-2:] == [2_500, 4_500]
    assert (writer.written_lines, writer.dropped_batches, writer.trouble) == (2, 0, "")
    server.status = 400
    again = InfluxWriter(InfluxTarget(f"http://127.0.0.1:{server.port}", "b"), {}, pace=_QUICK)
    before = len(server.bodies)
    again.take(_lpi(6_000))
    again.close()
    assert (len(server.bodies) - before, again.refused_batches) == (1, 1)


def test_a_server_that_is_away_delays_nothing_and_the_oldest_batches_are_dropped() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    writer = InfluxWriter(InfluxTarget(f"http://127.0.0.1:{port}", "b"), {}, held_batches=5, pace=_QUICK)
    for n in range(50):
        writer.take(_lpi(n))
    writer.close()
    assert not writer._thread.is_alive()
    assert "does not answer" in writer.trouble
    assert 45 <= writer.dropped_batches <= 50
    assert [batch.columns["sent_ns"] for batch in writer._held] == list(range(50 - len(writer._held), 50))


@pytest.mark.parametrize("url", ["localhost:8086", "ftp://x/", "http://"])
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(LabError, match="invalid address"):
        InfluxWriter(InfluxTarget(url, "b"), {})


# -- Debian's own servers


def _asked(url: str, **query: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}", timeout=5) as answer:  # noqa: S310
        return json.load(answer)["data"]["result"]  # type: ignore[no-any-return]


@pytest.mark.slow
def test_prometheus_scrapes_it(tmp_path: Path, start: StartServer, port: int) -> None:
    latest = Latest(lambda: 0.0)
    for batch in (_ports(1), _watts(1), _lpi(1)):
        latest.take(batch)
    exporter = _exporter(latest)
    try:
        target = exporter.url.split("/")[2]
        scrape = f"scrape_configs: [{{job_name: eee, static_configs: [{{targets: ['{target}']}}]}}]\n"
        (tmp_path / "prometheus.yml").write_text(f"global: {{scrape_interval: 1s}}\n{scrape}")
        base = f"http://127.0.0.1:{port}"
        start(
            "prometheus",
            f"{base}/-/ready",
            f"--config.file={tmp_path}/prometheus.yml",
            f"--storage.tsdb.path={tmp_path}/data",
            f"--web.listen-address=127.0.0.1:{port}",
        )
        rows = eventually(
            "the server shows it",
            lambda: _asked(f"{base}/api/v1/query", query='eee_port_bytes_total{direction="receive"}'),
        )
        assert [(row["metric"]["port"], row["value"][1]) for row in rows] == [("gi1/0/1", "1000")]
        assert (
            _asked(f"{base}/api/v1/query", query='eee_outlet_power_watts{feeds="a \\"b\\" c"}')[0]["value"][1]
            == "41.25"
        )
        assert _asked(f"{base}/api/v1/query", query="up")[0]["value"][1] == "1"
    finally:
        exporter.close()


@pytest.mark.slow
def test_victoria_metrics_takes_it(tmp_path: Path, start: StartServer, port: int) -> None:
    base = f"http://127.0.0.1:{port}"
    writer = InfluxWriter(InfluxTarget(base, "lab", "us"), {"lab": "toy, it's"})
    now_ns = time.time_ns()
    writer.take(_watts(now_ns - 30 * 10**9, 1.5))  # while the server is not there yet
    start(
        "victoria-metrics",
        f"{base}/health",
        f"-storageDataPath={tmp_path}/vm",
        f"-httpListenAddr=127.0.0.1:{port}",
        "-retentionPeriod=1",
        "-search.latencyOffset=0s",
    )
    writer.take(_watts(now_ns, 41.25))
    writer.take(_ports(now_ns))
    writer.take(line_of("eee_probe", {"trial": "3", "run": ""}, {"rtt_ns": 123_456, "lost": False, "x": None}, now_ns))
    writer.take(line_of("eee_events", {"kind": "actuation"}, {"text": 'eee of "sw1": on'}, now_ns))
    eventually("all lines are written", lambda: writer.written_lines >= 10)  # after the writer's pause for a failure
    writer.close()
    assert (writer.written_lines, writer.dropped_batches, writer.refused_batches) == (10, 0, 0)
    ask = {"query": 'eee_watts_power_watt{outlet="1"}[5m]', "time": f"{now_ns / 1e9 + 1:.3f}"}
    rows = eventually("the server shows it", lambda: _asked(f"{base}/api/v1/query", **ask))
    assert [value for _, value in rows[0]["values"]] == ["1.5", "41.25"]
    assert rows[0]["metric"]["feeds"] == 'a "b" c'
    assert rows[0]["metric"]["lab"] == "toy, it's"
    ask = {"query": 'eee_probe_rtt_ns{trial="3"}', "time": f"{now_ns / 1e9 + 1:.3f}"}
    assert eventually("the server shows it", lambda: _asked(f"{base}/api/v1/query", **ask))[0]["value"][1] == "123456"
    ask = {"query": "eee_ports_in_byte", "time": f"{now_ns / 1e9 + 1:.3f}"}
    assert eventually("the server shows it", lambda: _asked(f"{base}/api/v1/query", **ask))[0]["value"][1] == "1000"
