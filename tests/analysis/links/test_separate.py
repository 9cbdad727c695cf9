"""Which times are the switches', said by a path on which only ports sleep."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eee_testbed.analysis.calibration import LinkPolicy
from eee_testbed.analysis.fit_runs import fit_runs
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.links.eee_policy import fit_policy
from eee_testbed.analysis.links.fit_links import fit_links, link_policy
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.links.policy_likelihood import Known, Times
from eee_testbed.analysis.links.probed_path import EEE_FILE, ProbedPath
from eee_testbed.analysis.links.probes import ECHO_WIRE_BYTE, Probes
from eee_testbed.analysis.links.separate import alone, slow_streams
from eee_testbed.analysis.links.sleep_path import plain_path
from eee_testbed.record.samples import RunSamples
from tests.support.measured.echo_bench import AWAKE, Bench, HostTime, Sleep
from tests.support.measured.plain_echoes import echo_extra_us
from tests.support.measured.synthetic_run import BASE_NS, Writer, about, calibration, write_run

HOSTS = ("n01", "n02", "n03")


def _policy(*ends: str, **more: Any) -> LinkPolicy:
    plain = calibration().links["path n01 - n02"]
    return plain.model_copy(update={"ends": ends, "card_wake_us": None, "which": True, **more})


def _ports(switch: str = "sw1", **more: Any) -> LinkPolicy:
    return _policy(f"{switch}:gi1/0/11", "sw2:gi1/0/11", wake_us=about(60.0), **more)


def test_a_path_on_which_only_ports_sleep_says_the_times_of_its_switches() -> None:
    found = alone({"trunk": _ports(), "elsewhere": _ports("sw3")}, HOSTS).ports
    assert set(found) == {"sw1", "sw2", "sw3"}
    assert found["sw1"].wake_us.value == 60.0


@pytest.mark.parametrize(
    "link",
    [
        _ports(kind="off"),
        _ports(which=False),
        _ports(card_wake_us=about(35.0)),
        _policy("sw1:1", "n02:eth0", wake_us=about(60.0)),  # has a card of its own
    ],
)
def test_any_other_path_says_nothing_of_ports(link: LinkPolicy) -> None:
    assert not alone({"a": link}, HOSTS)


def test_a_path_on_which_only_cards_may_sleep_says_theirs_or_that_they_do_not() -> None:
    cards = _policy("n01:eth0", "n02:eth0", wake_us=about(16.5))
    found = alone({"n01-n02 eee=on stream_from=n03": cards}, HOSTS)
    assert found.cards["n01"] == found.cards["n02"]
    assert found.ports == {}
    path = plain_path()
    named = tuple(replace(one, end=end) for one, end in zip(path, ("n01:0", "sw1:2", "n02:0", "sw1:1"), strict=True))
    same, known = found.on(named)
    assert (same, known) == (named, Known(cards=found.cards["n01"]))
    awake, nothing = alone({"a": cards.model_copy(update={"kind": "off"})}, HOSTS).on(named)
    assert nothing is None
    assert [one.may_sleep for one in awake] == [False, None, False, None]
    half = alone({"a": _policy("n01:eth0", wake_us=about(16.5))}, HOSTS)
    assert half.on(named) == (named, None)


DEEP = {"hold_us": 1000.0, "sleep_us": 182.0, "wake_us": 60.0, "wake_during_sleep_us": 60.0}
CARD = {**DEEP, "wake_us": 16.5, "wake_during_sleep_us": 16.5}


def _echoes(ports: Sleep, cards: Sleep, seed: int) -> Probes:
    random = np.random.default_rng(seed)
    bench = Bench([cards, ports, cards, ports], hosts=HostTime(noise_us=0.5, one_sided=False), random=random)
    sent, rtt = bench.echoes(random.uniform(300, 4000, size=400))
    return Probes.of(sent, rtt)


def _times(hold_us: float, sleep_us: float, wake_us: float) -> Times:
    return Times(*(Interval.plus_minus(value, 0.005 * value) for value in (hold_us, sleep_us, wake_us)))


def test_a_hold_and_ts_that_are_off_together_count_once() -> None:
    known = _times(1000.0, 182.0, 60.0)

    def prior(hold_us: float, sleep_us: float) -> float:
        times = {"hold_us": hold_us, "sleep_us": sleep_us, "wake_us": 60.0}
        return float(known.log_prior({name: np.array([[one]]) for name, one in times.items()})[0])

    assert prior(1000.0, 182.0) == 0.0
    assert prior(1010.0, 180.18) == pytest.approx(prior(1010.0, 182.0)) == pytest.approx(prior(1000.0, 180.18))


@pytest.fixture(scope="module")
def one_hold() -> tuple[Probes, Probes]:
    """Echoes over ports and cards of one hold, and with EEE off."""
    return _echoes(Sleep("deep", DEEP), Sleep("deep", CARD), 3), _echoes(AWAKE, AWAKE, 2)


@pytest.mark.night
def test_known_ports_say_whose_times_are_whose(one_hold: tuple[Probes, Probes]) -> None:
    """By themselves echoes know the sum of the wakes, and little else."""
    on, off = one_hold
    plain = fit_policy(on, plain_path(), off)
    assert not plain.which
    fit = fit_policy(on, plain_path(), off, known=Known(ports=_times(1000.0, 182.0, 60.0)))
    assert fit.which
    assert fit.height > plain.height - 5.7
    path = ProbedPath(plain_path(), uncounted=("n01",))
    assert [any("card sleeps" in one for one in link_policy(each, path, 0).unknown) for each in (plain, fit)] == [
        True,
        False,
    ]
    for group, members, wake_us in zip(fit.groups, ((1, 3), (0, 2)), (60.0, 16.5), strict=True):
        assert group.members == members
        assert group.wake_us.low - 0.1 <= wake_us <= group.wake_us.high + 0.1
        assert group.hold_us.low - 0.1 <= 1000.0 <= group.hold_us.high + 0.1


@pytest.mark.night
def test_echoes_contradict_ports_that_are_not_theirs() -> None:
    """Holds that differ show whose wake is whose nearly; ports of other times then explain the echoes far worse."""
    cards = Sleep("deep", {**CARD, "hold_us": 500.0})
    on, off = _echoes(Sleep("deep", DEEP), cards, 1), _echoes(AWAKE, AWAKE, 2)
    plain = fit_policy(on, plain_path(), off)
    other = fit_policy(on, plain_path(), off, known=Known(ports=_times(1000.0, 182.0, 35.0)))
    assert other.height < plain.height - 5.7 - 0.1 * plain.echoes


@pytest.mark.slow
def test_echoes_with_eee_on_at_a_trunk_alone_have_a_policy_of_ports_with_a_name_of_its_own(tmp_path: Path) -> None:
    ends = {"trunk": ("sw1:gi1/0/11", "sw2:gi1/0/11"), "hosts": ("sw1:gi1/0/1", "sw2:gi1/0/1")}

    def echoes(writer: Writer, *, on: bool) -> str:
        gaps = writer.random.permutation(np.geomspace(200.0, 4_000.0, 300))
        sent_us = np.cumsum(gaps)
        rtt_us = 95.0 + writer.random.normal(0, 1.0, gaps.size)
        if on:
            policies = [Policy(1_000.0, 182.0, 60.0)] * 2
            rtt_us += echo_extra_us(sent_us, 95.0, policies, np.full(gaps.size, ECHO_WIRE_BYTE), 0.008)
        names = ("number", "wanted_ns", "late_ns", "idle_transmit_ns", "idle_receive_ns", "sent_ns", "rtt_ns")
        header = {"kind": "header", "agent": "echo_probe", "payload_byte": 56}
        columns = [{"name": name} for name in names]
        rows = [
            [n, round(g * 1e3), 300, round(g * 1e3), round(g * 1e3), BASE_NS + int(s * 1e3), round(r * 1e3)]
            for n, (g, s, r) in enumerate(zip(gaps, sent_us, rtt_us, strict=True))
        ]
        return json.dumps(header | {"columns": columns}) + "\n" + json.dumps({"kind": "rows", "rows": rows}) + "\n"

    def write(writer: Writer) -> None:
        for eee in ("on", "off"):
            trunk = {end: {"enabled": eee == "on", "active": eee == "on"} for end in ends["trunk"]}
            shown = trunk | {end: {"enabled": False, "active": False} for end in ends["hosts"]}
            files = {"echoes.jsonl": echoes(writer, on=eee == "on"), EEE_FILE: json.dumps(shown)}
            writer.write({"eee": eee, "cards": "off"}, 5.0, what="probe", files=files, hosts=("n01", "n03"))

    folder = write_run(tmp_path, write)
    facts = folder / "run.yaml"
    text = facts.read_text(encoding="utf-8")
    facts.write_text(
        text.replace("  factors:\n", "  factors:\n    cards: {kind: eee, levels: [off]}\n"), encoding="utf-8"
    )
    found, refused = fit_links(RunSamples(folder))
    assert refused == ()
    (name,) = found
    assert name == "n01-n03 cards=off eee=on"
    link = found[name]
    assert link.kind == "hold"
    assert link.card_wake_us is None
    assert {end.split(":")[0] for end in link.ends} <= {"sw1", "sw2"}
    assert link.wake_us is not None
    assert link.wake_us.interval.holds(60.0)


@pytest.mark.parametrize(("every_us", "slow"), [(250.0, False), (489.0, False), (491.0, True), (5_000.0, True)])
def test_a_stream_that_lets_ports_sleep_says_nothing(every_us: float, *, slow: bool) -> None:
    cards = _policy("n01:eth0", "n02:eth0", hold_us=about(1_000.0), stream_every_us=every_us)
    found = slow_streams({"n01-n02": _policy("sw1:1", hold_us=about(1_000.0)), "beside": cards})
    assert ("beside" in found) == slow
    assert all("ports may sleep after 980 us: " in sentence for sentence in found.values())
    assert slow_streams({"n01-n02": _policy("sw1:1", hold_us=about(10.0))}) == {}


@pytest.mark.night
def test_known_cards_say_whose_times_are_whose(one_hold: tuple[Probes, Probes]) -> None:
    on, off = one_hold
    fit = fit_policy(on, plain_path(), off, known=Known(cards=_times(1000.0, 182.0, 16.5)))
    assert fit.which
    assert [group.members for group in fit.groups] == [(1, 3), (0, 2)]
    assert fit.groups[0].wake_us.low - 0.1 <= 60.0 <= fit.groups[0].wake_us.high + 0.1


@pytest.mark.night
@pytest.mark.parametrize("card_us", [0.0, 16.5])
def test_echoes_beside_a_stream_say_which_times_are_the_ports_in_a_lab_of_one_switch(
    tmp_path: Path, card_us: float
) -> None:
    ports, cards = Sleep("deep", DEEP), Sleep("deep", {**CARD, "wake_us": card_us, "wake_during_sleep_us": card_us})
    cards = cards if card_us else AWAKE

    def written(name: str, *, streamed: bool) -> RunSamples:
        def write(writer: Writer) -> None:
            for eee in ("on", "off"):
                shown = {end: {"enabled": eee == "on", "active": eee == "on"} for end in ("sw1:gi1/0/1", "sw1:gi1/0/2")}
                port, card = (ports, cards) if eee == "on" else (AWAKE, AWAKE)
                echoes = _stream_of(_sleeping(AWAKE if streamed else port, card, writer.random))
                files = {"echoes.jsonl": echoes, EEE_FILE: json.dumps(shown)}
                more = {"stream_from": "n03", "stream_every_us": 250.0} if streamed else {}
                writer.write({"eee": eee}, 5.0, what="probe", files=files, hosts=("n01", "n02"), parameters=more)

        return RunSamples(write_run(tmp_path / name, write))

    plain, beside = written("plain", streamed=False), written("beside", streamed=True)
    found = fit_runs([plain, beside], parts=["links"]).calibration.links
    assert set(found) == {"n01-n02", "n01-n02 eee=on stream_from=n03"}
    link = found["n01-n02"]
    assert link.which
    assert link.wake_us is not None
    assert link.wake_us.interval.holds(60.0)
    assert (link.card_wake_us is None) == (card_us == 0.0)
    assert not any("card sleeps" in sentence for sentence in link.unknown)
    if card_us == 0.0:
        assert not fit_runs([plain], parts=["links"]).calibration.links["n01-n02"].which
        assert link.hold_us is not None
        assert link.hold_us.interval.half_width < 40.0


def _sleeping(ports: Sleep, cards: Sleep, random: np.random.Generator) -> Probes:
    bench = Bench([cards, ports, cards, ports], hosts=HostTime(noise_us=0.5, one_sided=False), random=random)
    return Probes.of(*bench.echoes(np.exp(random.uniform(np.log(100), np.log(4000), size=300))))


def _stream_of(probes: Probes) -> str:
    """As the agent writes it."""
    names = ("number", "wanted_ns", "late_ns", "idle_transmit_ns", "idle_receive_ns", "sent_ns", "rtt_ns")
    header = {"kind": "header", "agent": "echo_probe", "payload_byte": 56, "columns": [{"name": one} for one in names]}
    rows = [
        [number, 0, 300, 0, 0, BASE_NS + round(sent * 1e3), round(rtt * 1e3)]
        for number, (sent, rtt) in enumerate(zip(probes.sent_us, probes.rtt_us, strict=True))
    ]
    return json.dumps(header) + "\n" + json.dumps({"kind": "rows", "rows": rows}) + "\n"
