"""Predictions: closed forms, laws over random programs, intervals carried through, warnings where they extrapolate."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.calibration import (
    Calibration,
    Estimate,
    NodePower,
    PortPower,
    PowerPart,
    RoundTime,
    RunTimeError,
)
from eee_testbed.analysis.predict.prediction import Predictor
from eee_testbed.analysis.predict.site import Site
from eee_testbed.analysis.predict.what_if import WhatIf, parse_what_if
from eee_testbed.analysis.programs.profile import Gaps, NodeGaps, Profile
from eee_testbed.analysis.programs.sleeping_links import link_of, sleeping_directions
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from tests.support.laws import law
from tests.support.measured.synthetic_run import HOLD_US, SLEEP_US, WAKE_US, about, calibration

SITE = Site.of(load_lab(find_lab("virtual")))
ONE_SWITCH = SITE.only(["sw1"])
HOSTS = ("n01", "n02", "n03", "n04")


def exactly(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def profile(gaps: Mapping[float, float], /, rounds: float = 1_000, width: float = 1e-9, **more: object) -> Profile:
    """A program whose nodes all have these gaps, once a round each if `rounds` are as many."""
    edges = sorted(gaps)
    one = Gaps(
        low_us=tuple(edges),
        high_us=tuple(edge * (1 + width) for edge in edges),
        count=tuple(gaps[edge] for edge in edges),
        frame_count=rounds,
        size_byte=1_000 * rounds,
        window_us=1.0,
    )
    silent = one.model_copy(update={"low_us": (), "high_us": (), "count": ()})
    base_s = max(sum(gap * count for gap, count in gaps.items()) * 1.05e-6, 1e-6)
    made: dict[str, object] = {
        "name": "alltoall",
        "program": "alltoall",
        "hosts": HOSTS,
        "ranks_per_host": 1,
        "lab": "virtual",
        "trial_count": 3,
        "base_s": about(base_s, 0.001),
        "call_count": rounds,
        "message_byte": 1_000,
        "link_mbps": 1_000,
        # Frames leave after these gaps; incoming frames wake no transmitter here.
        "gaps": {host: NodeGaps(transmit=one, receive=silent) for host in HOSTS},
    }
    return Profile.model_validate({**made, **more})


def exact_calibration(**link: object) -> Calibration:
    """Without any error; one link waits in a round."""
    known = calibration()
    policy = known.links["path n01 - n02"]
    given = {"hold_us": exactly(HOLD_US), "sleep_us": exactly(SLEEP_US), "wake_us": exactly(WAKE_US), **link}
    program = known.run_time["alltoall 4x1"]
    assert program.wakes is not None
    one = {"serial_count": exactly(1.0), "abreast_count": exactly(1.0), "hidden_us": exactly(0.0), "residual_us": 0.0}
    fitted = program.model_copy(update={"wakes": program.wakes.model_copy(update=one)})
    return known.model_copy(
        update={
            "links": {"path n01 - n02": policy.model_copy(update=given)},
            "run_time": {"alltoall 4x1": fitted},
        }
    )


def seconds(gaps: Mapping[float, float], question: str, known: Calibration | None = None) -> float:
    """What a question adds to the run time."""
    predictor = Predictor(profile(gaps), known or exact_calibration(), draws=3)
    return predictor.predict(parse_what_if(question)).time_s.value - predictor.profile.base_s.value


@pytest.mark.parametrize(
    ("gap_us", "question", "wait_us"),
    [
        (900, "measured", 0.0),
        (1_100, "measured", SLEEP_US - 100 + WAKE_US),
        (2_000, "measured", WAKE_US),
        (2_000, "deep,hold_us=3000", 0.0),
        (2_000, "deep,hold_us=1900", SLEEP_US - 100 + WAKE_US),
        (2_000, "deep,hold_us=0,phy=10GBASE-T", 4.48),
        (2_000, "fast,hold_us=10,phy=100GBASE-R", 0.34),
        (2_000, "hybrid,hold_us=10,deep_after_us=5000,phy=100GBASE-R", 0.34),
        (2_000, "hybrid,hold_us=10,deep_after_us=50,phy=100GBASE-R", 5.5),
        (2_000, "coalescing,wait_us=300", 300 + WAKE_US),
        (2_000, "off", 0.0),
    ],
)
def test_a_program_of_equal_gaps_waits_by_the_closed_form(gap_us: float, question: str, wait_us: float) -> None:
    assert seconds({gap_us: 1_000}, question) == pytest.approx(1_000 * wait_us * 1e-6, abs=1e-8)


def test_waits_of_different_gaps_add_up() -> None:
    gaps = {500: 400, 1_050: 300, 4_000: 300}
    wanted_us = 300 * (SLEEP_US - 50 + WAKE_US) + 300 * WAKE_US
    assert seconds(gaps, "measured") == pytest.approx(wanted_us * 1e-6)


def test_the_slowest_of_links_that_wake_abreast_is_waited_for() -> None:
    known = exact_calibration()
    program = known.run_time["alltoall 4x1"]
    assert program.wakes is not None
    wakes = program.wakes.model_copy(update={"abreast_count": exactly(2.0), "serial_count": exactly(3.0)})
    several = known.model_copy(update={"run_time": {"x": program.model_copy(update={"wakes": wakes})}})
    half = {500: 500, 4_000: 500}
    assert seconds(half, "measured", several) == pytest.approx(3 * 1_000 * 0.75 * WAKE_US * 1e-6)


def _both_ways(gap_us: float) -> Profile:
    known = profile({gap_us: 1_000})
    gaps = {host: NodeGaps(transmit=node.transmit, receive=node.transmit) for host, node in known.gaps.items()}
    return known.model_copy(update={"gaps": gaps})


def _with_rounds(serial: float, error_percent: float) -> Calibration:
    """The closed form's held-out error is 2 %, and it would have each round wait ninefold."""
    known = exact_calibration()
    program = known.run_time["alltoall 4x1"]
    assert program.wakes is not None
    error = RunTimeError(mean_percent=2.0, worst_percent=3.0, configuration_count=9, held_out=True)
    rounds = RoundTime(
        serial_count=exactly(serial),
        residual_us=0.0,
        explained_fraction=1.0,
        error=error.model_copy(update={"mean_percent": error_percent}),
    )
    wakes = program.wakes.model_copy(update={"serial_count": exactly(9.0), "error": error})
    fitted = program.model_copy(update={"rounds": rounds, "wakes": wakes})
    return known.model_copy(update={"run_time": {"alltoall 4x1": fitted}})


def test_the_policy_is_that_of_a_path_between_the_programs_hosts() -> None:
    known = exact_calibration()
    (link,) = known.links.values()
    near, far = (link.model_copy(update={"ends": ends}) for ends in (("sw1:1", "sw1:2"), ("sw1:1", "sw2:1")))
    paths = known.model_copy(update={"links": {"n01-n09": far, "n01-n02": near, "n02-n09": far}})
    assert link_of(paths, profile({2_000: 1_000}), None) is near
    elsewhere = profile({2_000: 1_000}, hosts=("n09", "n10"), gaps={})
    assert link_of(paths, elsewhere, None) is far


@pytest.mark.parametrize("hold_us", [0, 100, 1_000, 2_500])
def test_replayed_rounds_predict_holds_that_were_not_measured(hold_us: float) -> None:
    predictor = Predictor(_both_ways(2_000), _with_rounds(1.5, 1.0), draws=3)
    found = predictor.predict(parse_what_if(f"deep,hold_us={hold_us}"))
    link = predictor.calibration.links["path n01 - n02"]
    waits_us = WAKE_US * len(sleeping_directions(link, predictor.profile)) if hold_us < 2_000 else 0.0
    assert found.time_s.value - predictor.profile.base_s.value == pytest.approx(1_000 * 1.5 * waits_us * 1e-6, rel=1e-3)


@pytest.mark.parametrize("question", ["measured", "deep,hold_us=900"])
@pytest.mark.parametrize(
    ("wakes_us", "sleepers"), [((WAKE_US, 16.5), 2), ((2 * WAKE_US, 33.0), 1), ((WAKE_US / 2, 8.25), 3)]
)
def test_a_frame_waits_for_port_and_card_as_half_a_round_trip_does(
    question: str, wakes_us: tuple[float, float], sleepers: int
) -> None:
    """Whichever of its transmitters echoes take for the slow ones."""
    known = _with_rounds(1.0, 1.0)
    ((name, link),) = known.links.items()
    times = {"card_hold_us": exactly(HOLD_US), "card_sleep_us": exactly(SLEEP_US)}
    times |= {"wake_us": exactly(wakes_us[0]), "card_wake_us": exactly(wakes_us[1])}
    hops = (sleepers + 1) // 2
    times["path_wake_us"] = exactly(2 * (hops * WAKE_US + 16.5))
    both = link.model_copy(update={"ends": ("n01:eth0", "sw1:gi1/0/1"), "sleeper_count": sleepers, **times})
    predictor = Predictor(_both_ways(2_000), known.model_copy(update={"links": {name: both}}), draws=3)
    found = predictor.predict(parse_what_if(question))
    waits_us = WAKE_US + 16.5
    assert found.time_s.value - predictor.profile.base_s.value == pytest.approx(1_000 * waits_us * 1e-6, rel=1e-3)


def test_the_model_that_estimates_better_what_it_was_not_fitted_to_is_taken() -> None:
    known = _both_ways(4_000)
    by_rounds, by_wakes = (
        Predictor(known, _with_rounds(1.0, error_percent), draws=3).predict(parse_what_if("measured")).time_s.value
        for error_percent in (1.0, 2.5)
    )
    base_s = known.base_s.value
    assert by_wakes - base_s > 4 * (by_rounds - base_s) > 0


def test_without_all_links_gaps_rounds_are_not_replayed() -> None:
    silent = Predictor(profile({4_000: 1_000}), _with_rounds(1.0, 1.0), draws=3)
    added_s = silent.predict(parse_what_if("measured")).time_s.value - silent.profile.base_s.value
    assert added_s == pytest.approx(9 * 1_000 * WAKE_US * 1e-6)


GAPS = st.dictionaries(st.floats(1, 1e5), st.floats(1, 1e4), min_size=1, max_size=6)


@law(25)
@given(GAPS, st.lists(st.floats(0, 1e5), min_size=2, max_size=5))
def test_a_longer_hold_never_costs_more_time_where_falling_asleep_takes_none(
    gaps: Mapping[float, float], holds_us: Sequence[float]
) -> None:
    times = [seconds(gaps, f"fast,hold_us={hold_us:.3f}") for hold_us in sorted(holds_us)]
    assert all(later <= sooner + 1e-12 for sooner, later in pairwise(times))


def test_where_falling_asleep_takes_time_a_longer_hold_can_cost_more() -> None:
    assert seconds({1_000: 1_000}, "deep,hold_us=900") > seconds({1_000: 1_000}, "deep,hold_us=0")


@law(25)
@given(GAPS, st.floats(0, 1e5))
def test_energy_never_rises_when_a_link_may_sleep_at_no_cost(gaps: Mapping[float, float], hold_us: float) -> None:
    free = exact_calibration(sleep_us=exactly(0.0), wake_us=exactly(0.0))
    found = Predictor(profile(gaps), free, ONE_SWITCH, draws=3).predict(parse_what_if(f"deep,hold_us={hold_us:.3f}"))
    off = Predictor(profile(gaps), free, ONE_SWITCH, draws=3).predict(parse_what_if("off"))
    assert found.network_joule is not None
    assert off.network_joule is not None
    assert found.network_joule.value <= off.network_joule.value * (1 + 1e-12)
    assert found.time_s.value == pytest.approx(off.time_s.value)


def test_power_by_hand() -> None:
    """sw1 of the lab: its nodes that take part rest for half of the time, the others for all of it."""
    known = exact_calibration(wake_us=exactly(0.0), sleep_us=exactly(0.0))
    port = PortPower(
        cable_watt=exactly(0.1),
        enabled_watt=exactly(0.2),
        link_watt=exactly(1.0),
        lpi_fraction=exactly(0.2),
        carrying_watt=exactly(0.06),
    )
    switch = known.power.switches["sw1"].model_copy(
        update={"base_watt": exactly(40.0), "port_by_mbps": {1_000: port}, "bit_picojoule": None}
    )
    known = known.model_copy(update={"power": PowerPart(switches={"sw1": switch})})
    base_s = 1.0
    gaps = {1_000.0: 500.0}  # half a second of gaps; in the other direction, the silent one, it does not sleep
    program = profile(gaps, base_s=exactly(base_s))
    found = Predictor(program, known, ONE_SWITCH, draws=3).predict(parse_what_if("deep,hold_us=0"))
    ports = ONE_SWITCH.switches["sw1"]
    busy = sum(port.role == "node" and port.peer in HOSTS for port in ports)
    idle = sum(port.role == "node" and port.peer not in HOSTS for port in ports)
    trunks = sum(port.role == "trunk" for port in ports)
    assert busy > 0
    assert trunks > 0
    # Half of the time in one of two directions; a trunk in the middle of what it may be. 0.2 of 1.2 W remain asleep.
    saved = 0.96 * (busy * 0.25 + idle * 1.0 + trunks * 0.125)
    carrying = 0.06 * (busy + trunks / 2)
    assert found.network_watt is not None
    assert found.network_watt.value == pytest.approx(40 + len(ports) * 1.3 - saved + carrying)
    assert found.all_joule is None
    assert any("no node's power" in warning for warning in found.warnings)


def test_nodes_save_what_their_cards_do_asleep() -> None:
    """Those that take part sleep for half of the time in one of two directions, the others all the time."""
    known = exact_calibration(wake_us=exactly(0.0), sleep_us=exactly(0.0))
    node = NodePower(idle_watt=exactly(50.0), loaded_watt=exactly(90.0), card_mbps=1_000, card_saved_watt=exactly(0.8))
    power = known.power.model_copy(update={"nodes": dict.fromkeys(SITE.hosts, node)})
    predictor = Predictor(
        profile({1_000.0: 500.0}, base_s=exactly(1.0)), known.model_copy(update={"power": power}), SITE, draws=3
    )
    nodes_watt = []
    for question in ("off", "deep,hold_us=0"):
        found = predictor.predict(parse_what_if(question))
        assert found.all_joule is not None
        assert found.network_joule is not None
        nodes_watt.append((found.all_joule.value - found.network_joule.value) / found.time_s.value)
    idle = len(SITE.hosts) - len(HOSTS)
    assert nodes_watt[0] == pytest.approx(len(HOSTS) * 90.0 + idle * 50.0)
    assert nodes_watt[0] - nodes_watt[1] == pytest.approx(0.8 * (len(HOSTS) * 0.25 + idle))


def test_ports_draw_what_those_with_their_kind_of_cable_do() -> None:
    known = exact_calibration()
    dear, cheap = ({1_000: PortPower(link_watt=exactly(watt))} for watt in (3.0, 1.0))
    update = {"base_watt": exactly(40.0), "port_by_mbps": {}, "bit_picojoule": None}
    watts = []
    for by_kind in ({"fibre": dear, "copper": cheap}, {"copper": dear, "fibre": cheap}, {"fibre": dear}):
        switch = known.power.switches["sw1"].model_copy(update={**update, "port_by_kind": by_kind})
        power = PowerPart(switches={"sw1": switch})
        found = Predictor(profile({500.0: 1_000}), known.model_copy(update={"power": power}), ONE_SWITCH, draws=3)
        answer = found.predict(parse_what_if("off"))
        assert answer.network_watt is not None
        assert any("with a copper cable was not measured" in one for one in answer.warnings) == (
            "copper" not in by_kind
        )
        watts.append(answer.network_watt.value - 40.0)
    count = len(ONE_SWITCH.switches["sw1"])
    assert watts == pytest.approx([count * 1.0, count * 3.0, count * 3.0])


def test_a_direction_that_does_not_sleep_has_no_lpi_time() -> None:
    both = exact_calibration()
    switch_alone = exact_calibration(ends=("sw1:gi1/0/1", "sw1:gi1/0/2"))
    card_alone = exact_calibration(ends=("n01:eth0",))
    gaps = {4_000.0: 1_000}  # before what nodes send; the other direction has no gaps
    rests = [
        Predictor(profile(gaps), known, draws=3).predict(parse_what_if("measured")).rest_percent.value
        for known in (both, switch_alone, card_alone)
    ]
    assert rests[1] == 0.0
    assert rests[0] == pytest.approx(rests[2] / 2, rel=0.05)
    assert rests[2] == pytest.approx(100 * (4_000 - HOLD_US - SLEEP_US) * 1e-3 / 4.26, rel=1e-3)


def test_a_link_off_saves_what_was_measured_and_no_more() -> None:
    link = next(port.link for port in SITE.switches["sw1"] if port.role == "trunk")
    known = exact_calibration()
    predictor = Predictor(profile({500.0: 1_000}), known, SITE, draws=3)
    off, found = predictor.predict(parse_what_if("off")), predictor.predict(parse_what_if(f"off_links={link}"))
    assert off.network_watt is not None
    assert found.network_watt is not None
    # Both ends: 0.05 + 0.1 + 0.6 W with the link up, 0.06 W shut.
    assert off.network_watt.value - found.network_watt.value == pytest.approx(2 * (0.75 - 0.06), rel=0.01)
    assert any("were not measured with this program" in warning for warning in found.warnings)


def test_a_slower_link_costs_what_its_bytes_take_longer() -> None:
    predictor = Predictor(profile({500.0: 1_000}), exact_calibration(), SITE, draws=3)
    found = predictor.predict(parse_what_if("speed_mbps=100"))
    # A node sends 1,000 times 1,000 bytes: 8 ms at 1 Gb/s, 80 ms at 100 Mb/s, on a link of its own.
    assert found.time_s.value - predictor.profile.base_s.value >= 0.072 - 1e-9


def test_unreachable_nodes_are_reported() -> None:
    every = "+".join(str(port.link) for ports in SITE.switches.values() for port in ports if port.role == "trunk")
    apart = profile({500.0: 1_000}, hosts=("n01", "n12"), gaps={})
    found = Predictor(apart, exact_calibration(), SITE, draws=3).predict(parse_what_if(f"off_links={every}"))
    assert found.time_s.value == math.inf
    assert any("cannot run" in warning for warning in found.warnings)


def test_intervals_of_parameters_are_carried_through() -> None:
    wide, narrow = (
        exact_calibration(wake_us=Estimate(value=WAKE_US, low=WAKE_US - half, high=WAKE_US + half)) for half in (12, 3)
    )
    found = [
        Predictor(profile({4_000: 1_000}, base_s=exactly(4.0)), one).predict(parse_what_if("measured")).time_s
        for one in (wide, narrow)
    ]
    # 1,000 wakes: the time is as uncertain as the wake, a thousandfold.
    assert found[0].half_width == pytest.approx(0.012, rel=0.15)
    assert found[1].half_width == pytest.approx(0.003, rel=0.15)
    assert all(one.value == pytest.approx(4.06) for one in found)


def test_a_parameter_without_an_end_leaves_the_answer_without_one() -> None:
    known = exact_calibration(wake_us=Estimate(value=WAKE_US, low=0.0, high=math.inf))
    found = Predictor(profile({4_000: 1_000}), known, ONE_SWITCH).predict(parse_what_if("measured"))
    assert found.time_s.high == math.inf
    assert any("set no bound to wake_us" in warning for warning in found.warnings)


def test_the_same_question_has_the_same_answer() -> None:
    one, other = (Predictor(profile({4_000: 1_000}), calibration(), ONE_SWITCH) for _ in range(2))
    assert one.predict(parse_what_if("measured")) == other.predict(parse_what_if("measured"))


def test_the_model_is_taken_that_covers_the_question() -> None:
    known = exact_calibration()
    program = known.run_time["alltoall 4x1"]
    miwa_only = known.model_copy(update={"run_time": {"x": program.model_copy(update={"wakes": None})}})
    here = Predictor(profile({4_000: 1_000}, base_s=exactly(4.2)), miwa_only, draws=50)
    curve = here.predict(parse_what_if("measured"))
    # Far above its origin Eq. 3 is at its plateau of 125 us.
    assert curve.slowdown_percent.value == pytest.approx(100 * 0.125 / 4.2, rel=1e-3)
    other = here.predict(parse_what_if("deep,hold_us=50"))
    assert any("no run-time model was fitted" in warning for warning in other.warnings)
    assert other.time_s.low < other.time_s.high
    nothing = Predictor(profile({4_000: 1_000}), known.model_copy(update={"run_time": {}}), draws=50)
    bounds = nothing.predict(parse_what_if("measured"))
    assert bounds.time_s.low - 4.2 == pytest.approx(0.06, rel=0.15)
    assert bounds.time_s.high - 4.2 == pytest.approx(0.12, rel=0.15)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("deep,hold_us=50", "a hold of 50 us was not measured"),
        ("fast,hold_us=1", "these links were not measured with it"),
        ("deep,hold_us=1,phy=10GBASE-T", "not measured"),
        ("coalescing,wait_us=50", "coalescing was not measured"),
        ("measured,speed_mbps=10", "a port at 10 Mb/s was not measured"),
    ],
)
def test_extrapolation_is_reported(question: str, sentence: str) -> None:
    found = Predictor(profile({4_000: 1_000}), calibration(), SITE, draws=3).predict(parse_what_if(question))
    assert any(sentence in warning for warning in found.warnings), found.warnings


def test_what_was_measured_carries_no_such_warning() -> None:
    found = Predictor(profile({4_000: 1_000}), calibration(), ONE_SWITCH, draws=3).predict(parse_what_if("measured"))
    assert [warning for warning in found.warnings if "node" not in warning] == []


def test_gaps_longer_than_any_probe_and_other_labs_are_warned_about() -> None:
    found = Predictor(profile({90_000: 10}, lab="miwa"), calibration(), draws=3).predict(parse_what_if("measured"))
    warnings = " ".join(found.warnings)
    assert "longer than any that was probed (2e+04 us)" in warnings
    assert "ran on lab miwa" in warnings


def test_without_gaps_the_mean_gap_is_used_and_reported() -> None:
    found = Predictor(profile({4_000: 1_000}, gaps={}), exact_calibration(), draws=3).predict(WhatIf("m", "measured"))
    assert any("mean gap" in warning for warning in found.warnings)
    assert found.slowdown_percent.value == pytest.approx(100 * 1_000 * 2 * WAKE_US * 1e-6 / 4.2, rel=1e-3)


def test_a_node_cannot_be_cut_off() -> None:
    predictor = Predictor(profile({4_000: 1_000}), calibration(), SITE, draws=3)
    for question, sentence in (("off_links=n01", "only link"), ("off_links=nix", "no link 'nix'")):
        with pytest.raises(LabError, match=sentence):
            predictor.predict(parse_what_if(question))
