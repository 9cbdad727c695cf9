"""Strips and the switch's power sensor on the real agent, queried with net-snmp."""

import subprocess
import threading
import time
from collections.abc import Iterator

import eee_engine
import pytest

from eee_testbed.twin.mains.entity_sensor import PowerSensor
from eee_testbed.twin.strips import FAMILIES, Strip
from eee_testbed.twin.truth.truth import SensorTruth, StripTruth
from tests.support.needs import needs
from tests.support.ports import own_address
from tests.support.twin.strip_bench import Clock

ADDRESS, PORT = own_address(), 16_161
APC, SENTRY, GUDE = "1.3.6.1.4.1.318.1.1.26", "1.3.6.1.4.1.1718.4.1", "1.3.6.1.4.1.28507.58.1"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    needs("snmpget", "snmpset")


def snmp(tool: str, *words: str, community: str = "private") -> subprocess.CompletedProcess[str]:
    argv = [tool, "-v2c", "-c", community, "-On", "-t", "5", "-r", "0", f"{ADDRESS}:{PORT}", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)


def get(oid: str) -> str:
    done = snmp("snmpget", "-Ovq", oid)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().strip('"')


class OnAgent:
    """A strip with an agent; `clock` is virtual, the network is not."""

    def __init__(self, family: str) -> None:
        known = FAMILIES[family]
        self.clock = Clock()
        self.strip = Strip("pdu1", known, known.models[0], StripTruth(lag_s=0.0), clock_s=self.clock)
        self.woken = threading.Event()
        self.strip.wake = lambda _delay_s: self.woken.set()
        self.agent = eee_engine.SnmpAgent(
            address=ADDRESS,
            port=PORT,
            engine_id=bytes.fromhex("80001f8804706475"),
            communities={"public": "ro", "private": "rw"},
            users=[],
            on_set=self.strip.on_set,
        )
        self.strip.bind(self.agent)
        self.agent.start()

    def measure(self, watts: dict[int, float], seconds: float) -> None:
        now_s = self.clock.now_s + seconds
        self.strip.measure(watts, self.clock.now_s, now_s)
        self.clock.now_s = now_s
        self.strip.run_due(now_s)
        self.strip.publish(now_s)


@pytest.fixture
def on_agent() -> Iterator[type[OnAgent]]:
    made: list[OnAgent] = []

    class Kept(OnAgent):
        def __init__(self, family: str) -> None:
            super().__init__(family)
            made.append(self)

    yield Kept
    for found in made:
        found.agent.stop()


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_walk_returns_every_row_in_order(on_agent: type[OnAgent], family: str) -> None:
    found = on_agent(family)
    found.measure({1: 37.0}, 10.0)
    walked = [line.split(" = ")[0].lstrip(".") for line in snmp("snmpbulkwalk", ".1.3.6.1").stdout.splitlines()]
    assert set(walked) >= set(found.strip._published)  # the agent adds its own counters
    assert walked == sorted(walked, key=lambda oid: [int(part) for part in oid.split(".")])


def test_sentry_is_read_and_switched(on_agent: type[OnAgent]) -> None:
    found = on_agent("servertech_sentry4")
    found.measure({5: 123.4}, 2.0)
    assert get("1.3.6.1.2.1.1.2.0") == ".1.3.6.1.4.1.1718.4"
    assert get(f"{SENTRY}.8.3.1.7.1.1.5") == "123"
    done = snmp("snmpset", f"{SENTRY}.8.5.1.2.1.1.5", "i", "2")
    assert done.returncode == 0, done.stderr
    assert found.woken.wait(5.0)
    assert get(f"{SENTRY}.8.5.1.1.1.1.5") == "9"  # pendOff
    found.measure({}, 2.0)
    assert get(f"{SENTRY}.8.3.1.1.1.1.5") == "2"
    assert get(f"{SENTRY}.8.3.1.7.1.1.5") == "0"


def test_apc_names_are_set_and_read_back_at_once(on_agent: type[OnAgent]) -> None:
    on_agent("apc_rpdu2")
    for name in ("node 1", "node 2", "node 3"):
        done = snmp("snmpset", f"{APC}.9.2.1.1.3.7", "s", name)
        assert done.returncode == 0, done.stderr
        assert get(f"{APC}.9.4.3.1.3.7") == name


@pytest.mark.parametrize(
    ("family", "words", "reason"),
    [
        ("apc_rpdu2", (f"{APC}.9.2.4.1.5.3", "i", "9"), "wrongValue"),
        ("apc_rpdu2", (f"{APC}.9.2.4.1.5.3", "s", "off"), "wrongType"),
        ("apc_rpdu2", (f"{APC}.9.2.3.1.5.3", "i", "1"), "notWritable"),
        ("apc_rpdu2", (f"{APC}.9.2.4.1.5.99", "i", "1"), "noCreation"),
        ("gude", (f"{GUDE}.3.1.2.1.2.1", "s", "a name that is too long"), "wrongLength"),
        ("gude", (f"{GUDE}.3.1.2.1.3.1", "i", "0", f"{GUDE}.3.1.2.1.3.2", "i", "7"), "wrongValue"),
    ],
)
def test_wrong_sets_are_refused(on_agent: type[OnAgent], family: str, words: tuple[str, ...], reason: str) -> None:
    found = on_agent(family)
    done = snmp("snmpset", *words)
    assert done.returncode != 0
    assert reason in done.stderr
    found.measure({}, 1.0)
    assert all(outlet.on for outlet in found.strip.outlets.values())


def test_the_read_only_community_switches_nothing(on_agent: type[OnAgent]) -> None:
    found = on_agent("gude")
    assert snmp("snmpset", f"{GUDE}.3.1.2.1.3.1", "i", "0", community="public").returncode != 0
    found.measure({}, 1.0)
    assert found.strip.outlets[1].on


def test_gude_products_give_fractions_of_a_watt(on_agent: type[OnAgent]) -> None:
    found = on_agent("gude")
    found.measure({2: 41.47}, 2.0)
    milliampere, volt, permille = (int(get(f"{GUDE}.5.5.2.1.{column}.2")) for column in (5, 6, 8))
    assert milliampere * volt * permille / 1e6 == pytest.approx(41.47, abs=0.12)


def test_a_switchs_sensor_is_entity_sensor(on_agent: type[OnAgent]) -> None:
    found = on_agent("gude")
    sensor = PowerSensor("sw1", SensorTruth(refresh_s=1.0))
    sensor.measure(47.3, 0.0, 2.0)
    found.agent.put(list(sensor.varbinds(12.0)))
    walked = snmp("snmpwalk", "-Oqv", "1.3.6.1.2.1.99.1.1.1").stdout.split("\n")
    assert [walked[0], walked[1], walked[3]] == ["6", "9", "47"]


@pytest.mark.slow
def test_sets_from_the_agents_thread_and_ticks_do_not_block_each_other(on_agent: type[OnAgent]) -> None:
    found = on_agent("apc_rpdu2")
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            found.measure({1: 100.0}, 1.0)

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        begun_s = time.monotonic()
        for index in range(20):
            assert snmp("snmpset", f"{APC}.9.2.4.1.5.{index + 1}", "i", "2").returncode == 0
        assert time.monotonic() > begun_s
    finally:
        stop.set()
        ticking.join(10.0)
    assert not ticking.is_alive()
