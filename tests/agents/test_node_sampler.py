"""The sampler: its schedule, what it says of absent and failing things, its page for Prometheus."""

import http.client
import json
import re
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from eee_testbed.agents.exporter import Exporter, exposition
from eee_testbed.agents.metrics import Series
from eee_testbed.agents.power_sources import Background, parse_dcmi, parse_redfish, rapl_source, redfish_source
from eee_testbed.agents.stream import AgentError
from tests.support.nodes.agent_nodes import Pair, Run, Running

Start = Callable[..., Running]
SENTENCE = re.compile(r"node_sampler: [^\n]+\.\n")


@pytest.mark.slow
def test_samples_stand_on_whole_multiples_of_the_period(pair: Pair, run_agent: Run) -> None:
    ended = run_agent(pair.a, "node_sampler", pair.a.interface, "--every-s", "0.2", "--seconds", "2")
    assert (ended.status, ended.errors) == (0, "")
    told = ended.recording
    due = told.column("due_ns")
    assert all(one % 200_000_000 == 0 for one in due)
    assert due == sorted(set(due))
    missed = told.summary["samples_missed"]
    assert (due[-1] - due[0]) // 200_000_000 + 1 - missed <= len(due) == told.summary["samples"]
    assert all(late >= 0 for late in told.column("late_ns"))


@pytest.mark.slow
def test_counters_are_the_kernels(pair: Pair, start_agent: Start) -> None:
    sampler = start_agent(pair.a, "node_sampler", pair.a.interface, "--every-s", "0.1")
    sampler.line_with('"rows"')
    pair.a.run("ping", "-q", "-c", "20", "-i", "0.002", pair.b.address)
    shown = json.loads(pair.a.ip("-s", "link", "show", pair.a.interface))[0]["stats64"]
    for _ in range(3):
        sampler.line_with('"rows"')
    sampler.signal(signal.SIGINT)
    told = sampler.ended().recording
    assert told.summary["ended_by"] == "SIGINT"
    for name, direction in (("receive", "rx"), ("transmit", "tx")):
        assert told.column(f"network_{name}_packets_total")[-1] == shown[direction]["packets"]
        assert told.column(f"network_{name}_bytes_total")[-1] == shown[direction]["bytes"]
    assert told.column("network_transmit_packets_total")[0] <= shown["tx"]["packets"] - 20
    assert set(told.column("network_up")) == {1}
    modes = [c["labels"].get("mode") for c in told.header["columns"] if c["name"] == "cpu_seconds_total"]
    assert modes[:4] == ["user", "nice", "system", "idle"]


def test_absent_things_are_said_once_and_not_sampled(pair: Pair, run_agent: Run) -> None:
    told = run_agent(pair.a, "node_sampler", pair.a.interface, "--every-s", "0.1", "--seconds", "0.5").recording
    absent = "\n".join(told.header["absent"])
    assert "reports no EEE: Operation not supported" in absent
    assert "driver veth counts no LPI" in absent
    assert told.events == []
    assert not [column for column in told.header["columns"] if column["name"].startswith(("eee", "lpi"))]


@pytest.mark.slow
def test_what_fails_later_is_said_once_and_has_no_values(own_pair: Pair, start_agent: Start) -> None:
    a = own_pair.a
    sampler = start_agent(a, "node_sampler", a.interface, "--every-s", "0.1")
    sampler.line_with('"rows"')
    a.run("ip", "link", "set", a.interface, "name", "other0")
    assert "No such device" in sampler.line_with("source fails")
    for _ in range(2):
        sampler.line_with('"rows"')
    a.run("ip", "link", "set", "other0", "name", a.interface)
    sampler.line_with("source is back")
    sampler.line_with('"rows"')
    sampler.signal(signal.SIGTERM)
    told = sampler.ended().recording
    assert [event["what"] for event in told.events if event["what"] != "samples missed"] == [
        "source fails", "source is back",
    ]  # fmt: skip
    counted = told.column("network_receive_packets_total")
    assert counted[0] is not None
    assert None in counted
    assert counted[-1] is not None
    assert None not in told.column("cpu_seconds_total"), "what does not fail goes on"


@pytest.mark.slow
def test_missed_samples_are_told_and_not_invented(pair: Pair, start_agent: Start) -> None:
    """Stopped for more than a second, with ten samples a second."""
    sampler = start_agent(pair.a, "node_sampler", pair.a.interface, "--every-s", "0.1")
    sampler.line_with('"rows"')
    sampler.signal(signal.SIGSTOP)
    time.sleep(1.2)
    continued_ns = time.time_ns()
    sampler.signal(signal.SIGCONT)
    event = json.loads(sampler.line_with("samples missed"))
    sampler.line_with('"rows"')
    sampler.signal(signal.SIGTERM)
    told = sampler.ended().recording
    assert event["count"] >= 10
    due = told.column("due_ns")
    assert event["first_due_ns"] not in due
    last = due.index(event["first_due_ns"] - 100_000_000)
    spent_ns = told.column("late_ns")[last] + told.column("took_ns")[last]
    done_before = due[last] + spent_ns < continued_ns - 1_000_000_000
    assert spent_ns > 1_000_000_000 or done_before, "a sample of the time meanwhile says so, wherever the stop hit it"
    missed = sum(one["count"] for one in told.events)
    assert len(due) + missed == (due[-1] - due[0]) // 100_000_000 + 1


@pytest.mark.slow
def test_prometheus_reads_the_last_sample(pair: Pair, start_agent: Start) -> None:
    sampler = start_agent(pair.a, "node_sampler", pair.a.interface, "--every-s", "0.1", "--listen", "0")
    address = json.loads(sampler.line())["listening"]
    assert address.startswith("127.0.0.1:")
    sampler.line_with('"rows"')
    fetch = f"import urllib.request as u; r=u.urlopen('http://{address}/metrics'); print(r.headers['Content-Type']); "
    kind, _, page = pair.a.run(sys.executable, "-c", fetch + "print(r.read().decode())").partition("\n")
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    assert re.search(rf'^eee_node_network_up{{interface="{pair.a.interface}"}} 1$', page, re.MULTILINE)
    names = re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE)
    assert len(names) == len(set(names)) > 10
    assert all((kind == "counter") == name.endswith("_total") for name, kind in names)
    assert "eee_node_sample_timestamp_seconds " in page
    sampler.signal(signal.SIGTERM)
    assert sampler.ended().status == 0


def test_the_text_format() -> None:
    series = [
        Series("up", "", "a\nb\\c", {"k": 'v"\\\n'}),
        Series("up", "", "again", {"k": "w"}),
        Series("none", "", "x"),
    ]
    text = exposition([*series, Series("j_total", "J", "y")], [1, 2.5, None, 3])
    assert text == (
        "# HELP eee_node_up a\\nb\\\\c\n# TYPE eee_node_up gauge\n"
        'eee_node_up{k="v\\"\\\\\\n"} 1\neee_node_up{k="w"} 2.5\n'
        "# HELP eee_node_j_total y\n# TYPE eee_node_j_total counter\neee_node_j_total 3\n"
    )


def test_the_exporter_has_one_page_and_refuses_a_port_in_use() -> None:
    exporter = Exporter("0")
    try:
        host, _, port = exporter.address.rpartition(":")
        exporter.show("x 1\n")
        for path, status, body in (("/metrics", 200, b"x 1\n"), ("/metrics?a=b", 200, b"x 1\n"), ("/", 404, None)):
            connection = http.client.HTTPConnection(host, int(port), timeout=10)
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.status == status
            assert body in (None, answer.read())
            connection.close()
        with pytest.raises(AgentError, match="cannot listen"):
            Exporter(exporter.address)
    finally:
        exporter.close()
    for place in ("x", "1:2:70000", ""):
        with pytest.raises(AgentError) as refused:
            Exporter(place)
        assert refused.value.status == 2


def test_rapl_goes_on_over_a_wrap(tmp_path: Path) -> None:
    zone = tmp_path / "intel-rapl:0"
    zone.mkdir()
    for name, text in (("name", "package-0\n"), ("max_energy_range_uj", "999999\n"), ("energy_uj", "900000\n")):
        (zone / name).write_text(text, encoding="ascii")
    source = rapl_source(tmp_path)
    assert [(one.name, one.unit, one.labels["name"]) for one in source.series] == [
        ("rapl_energy_joules_total", "J", "package-0")
    ]
    assert source.read is not None
    for energy_uj, joule in ((950_000, 0.05), (50_000, 0.15), (50_000, 0.15)):
        (zone / "energy_uj").write_text(str(energy_uj), encoding="ascii")
        assert source.read() == pytest.approx([joule])
    assert rapl_source(tmp_path / "nowhere").absent


def test_power_of_management_controllers() -> None:
    dcmi = "\n    Instantaneous power reading:                   214 Watts\n"
    dcmi += "    Minimum during sampling period:  120 Watts\n"
    assert parse_dcmi(dcmi) == 214.0
    assert parse_redfish({"PowerControl": [{"PowerConsumedWatts": None}, {"PowerConsumedWatts": 344.5}]}) == 344.5
    assert parse_redfish({"PowerWatts": {"Reading": 12}}) == 12.0
    for text in ("", "DCMI request failed"):
        with pytest.raises(ValueError, match="no power"):
            parse_dcmi(text)
    empty: tuple[object, ...] = ({}, [], {"PowerControl": []}, {"PowerControl": ["x"]}, {"PowerWatts": {}})
    for told in empty:
        with pytest.raises(ValueError, match="no power"):
            parse_redfish(told)


@pytest.mark.parametrize(
    ("watt", "state", "taken"),
    [
        (214, "activated", True),
        (214, "Activated", True),
        (214, "deactivated", False),
        (0, "deactivated", False),
        (0, "activated", False),
        (0, "", False),
        (214, "", True),
        (214, "unknown", False),
    ],
)
def test_power_of_a_controller_that_measures_none_is_not_taken(watt: int, state: str, *, taken: bool) -> None:
    text = f"\n    Instantaneous power reading:  {watt:16} Watts\n    Sampling period:   00000000 Seconds.\n"
    text += f"    Power reading state is:                   {state}\n" if state else ""
    if taken:
        assert parse_dcmi(text) == watt
        return
    with pytest.raises(ValueError, match=r"power|of a node that runs"):
        parse_dcmi(text)


@pytest.mark.parametrize("state", ["Disabled", "Absent", "UnavailableOffline", "StandbyOffline"])
def test_a_redfish_sensor_that_does_not_measure_is_left_out(state: str) -> None:
    off = {"PowerConsumedWatts": 88, "Status": {"State": state}}
    on = {"PowerConsumedWatts": 301, "Status": {"State": "Enabled", "Health": "OK"}}
    assert parse_redfish({"PowerControl": [off, on]}) == 301
    resources: tuple[object, ...] = (
        {"PowerControl": [off]},
        {"PowerWatts": {"Reading": 88, "Status": {"State": state}}},
        {"PowerControl": [{**on, "PowerConsumedWatts": 0}]},
        {"PowerControl": [{**on, "PowerConsumedWatts": True}]},
    )
    for resource in resources:
        with pytest.raises(ValueError, match=r"power|of a node that runs"):
            parse_redfish(resource)


def test_a_slow_controller_delays_nobody() -> None:
    """What is asked never answers; reading says so at once."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()

        def ask() -> float:
            with socket.create_connection(silent.getsockname()) as connection:
                connection.recv(1)
            return 1.0

        with pytest.raises(OSError, match="not answered yet"):
            Background(ask, 1.0).read()


def test_redfish_keeps_its_secret(tmp_path: Path) -> None:
    secret = tmp_path / "bmc"
    secret.write_text("root:calvin\n", encoding="ascii")
    secret.chmod(0o644)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o644
    url = "https://127.0.0.1/redfish/v1/Chassis/1/Power"
    with pytest.raises(AgentError, match="chmod 600"):
        redfish_source(url, str(secret), verify=True, every_s=5)
    secret.chmod(0o600)
    with pytest.raises(AgentError, match="not an https"):
        redfish_source("http://127.0.0.1/", str(secret), verify=True, every_s=5)
    with pytest.raises(AgentError, match="cannot read"):
        redfish_source(url, str(tmp_path / "none"), verify=True, every_s=5)


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("nosuch0",), 2, "interface nosuch0 does not exist"),
        ((), 2, "INTERFACE"),
        (("lo", "--every-s", "0"), 2, "--every-s"),
        (("lo", "--seconds", "-1"), 2, "--seconds"),
        (("lo", "--power-every-s", "0"), 2, "--power-every-s"),
        (("lo", "--listen", "all"), 2, "not an address to listen on"),
        (("lo", "--listen", "203.0.113.1:80"), 1, "cannot listen"),
        (("lo", "--redfish", "https://127.0.0.1/"), 2, "credentials"),
    ],
)
def test_wrong_use_is_one_sentence(pair: Pair, run_agent: Run, words: tuple[str, ...], status: int, says: str) -> None:
    ended = run_agent(pair.a, "node_sampler", *words)
    assert ended.status == status, ended
    assert SENTENCE.fullmatch(ended.errors), ended.errors
    assert says in ended.errors
    assert ended.output == ""
