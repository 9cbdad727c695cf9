"""Reading and switching strips over real SNMP: the twin's agents stand in for the strips."""

import threading
from collections.abc import Iterator
from pathlib import Path

import eee_engine
import pytest

from eee_testbed.controller.drivers.driver import SnmpSet
from eee_testbed.controller.strips.outlets import Meter
from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import access_of
from eee_testbed.lab.errors import LabError, Rejected
from eee_testbed.lab.model import Outlet, Strip
from eee_testbed.twin.strips import FAMILIES
from eee_testbed.twin.strips import Strip as TwinStrip
from eee_testbed.twin.truth.truth import StripTruth
from tests.support.ports import own_address

ADDRESS, PORT = own_address(), 16_162


class Live:
    """A strip of the twin with an agent, on a clock of the test's own; a thread switches what is due."""

    def __init__(self, family: str, model: str, community_file: Path) -> None:
        self.now_s = 0.0
        known = FAMILIES[family]
        traits = known.model(model)
        truth = StripTruth(lag_s=0.0)
        self.twin = TwinStrip("pdu1", known, traits, truth, clock_s=lambda: self.now_s)
        self.twin.wake = lambda delay_s: threading.Timer(0.05, self._due, (delay_s,)).start()
        self._agent = eee_engine.SnmpAgent(
            address=ADDRESS, port=PORT, engine_id=bytes.fromhex("80001f8804706475"),
            communities={"secret": "rw"}, users=[], on_set=self.twin.on_set,
        )  # fmt: skip
        self.twin.bind(self._agent)
        self._agent.start()
        count = traits.outlet_count
        self.strip = Strip("pdu1", family, model, ADDRESS, PORT, str(community_file), count)  # type: ignore[arg-type]
        self.meter = Meter(self.strip)

    def _due(self, delay_s: float) -> None:
        with self.twin.lock:
            self.now_s += max(0.0, delay_s)
            self.twin.run_due(self.now_s)
            self.twin.publish(self.now_s)

    def draw(self, watts: dict[int, float], seconds: float) -> None:
        self.twin.measure(watts, self.now_s, self.now_s + seconds)
        self.now_s += seconds
        self.twin.publish(self.now_s)

    def close(self) -> None:
        self.meter.close()
        self._agent.stop()


@pytest.fixture
def live(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Live]:
    secret = tmp_path / "community"
    secret.write_text("secret\n", encoding="ascii")
    secret.chmod(0o600)
    family, model = request.param
    made = Live(family, model, secret)
    yield made
    made.close()


EVERY = [
    ("gude", "Expert Power Control 8226"),
    ("apc_rpdu2", "AP8653"),
    ("servertech_sentry4", FAMILIES["servertech_sentry4"].models[0].name),
]


@pytest.mark.parametrize("live", EVERY, indirect=True)
def test_true_watts_are_read_within_the_meters_step(live: Live) -> None:
    true_watt = {1: 37.3, 2: 108.6}
    live.draw(true_watt, 3_600.0)
    live.draw(true_watt, 10.0)
    reading = live.meter.read()
    assert len(reading.outlets) == live.strip.outlet_count
    for number, watt in true_watt.items():
        meter = reading.outlet(number).meter
        assert meter.power_watt is not None
        assert meter.power_step_watt is not None
        # half a step, and what rounded volts do to a product
        assert abs(meter.power_watt - watt) <= meter.power_step_watt / 2 + 0.004 * watt
        assert meter.energy_joule is not None
        assert meter.energy_step_joule is not None
        assert abs(meter.energy_joule - watt * 3_610) <= meter.energy_step_joule
    assert reading.outlet(3).meter.power_watt == pytest.approx(0.0, abs=0.3)
    assert all(outlet.on for outlet in reading.outlets)
    assert reading.total.power_watt is not None
    assert reading.total.power_step_watt is not None
    own_watt = live.twin.truth.own_watt
    assert abs(reading.total.power_watt - sum(true_watt.values()) - own_watt) <= reading.total.power_step_watt + 1


@pytest.mark.slow
@pytest.mark.parametrize("live", EVERY, indirect=True)
def test_outlets_go_off_and_on(live: Live) -> None:
    outlet = Outlet("pdu1", 5, "n01")
    switched = live.meter.switch(outlet, on=False)
    assert not live.twin.outlets[5].on
    assert switched.sent_ns <= switched.acknowledged_ns <= switched.seen_ns
    reading = live.meter.read()
    assert [one.number for one in reading.outlets if not one.on] == [5]
    live.meter.cycle(Outlet("pdu1", 6, ""), 0.0)
    assert live.twin.outlets[6].switch_count == 2
    live.meter.switch(outlet, on=True)
    assert all(one.on for one in live.meter.read().outlets)


@pytest.mark.parametrize("live", [("apc_rpdu2", "AP8941")], indirect=True)
def test_a_strip_that_meters_no_outlets_still_says_its_total(live: Live) -> None:
    live.draw({1: 204.0}, 60.0)
    live.draw({1: 204.0}, 10.0)
    reading = live.meter.read()
    assert {one.meter.power_watt for one in reading.outlets} == {None}
    assert {one.on for one in reading.outlets} == {True}
    assert (reading.total.power_watt, reading.total.power_step_watt) == (200.0, 10.0)


@pytest.mark.parametrize("live", [EVERY[0]], indirect=True)
def test_what_a_strip_refuses_is_told_in_its_words(live: Live) -> None:
    agent = Agent(access_of(live.strip))
    try:
        with pytest.raises(Rejected):
            agent.put(SnmpSet((("1.3.6.1.4.1.28507.58.1.3.1.2.1.3.99", 1),), "switch outlet 99 on"))
    finally:
        agent.close()
    assert issubclass(Rejected, LabError)
