"""What a study may measure next, by what it knows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.analysis.calibration import LinkPolicy
from eee_testbed.measuring.study.decide import BlockKind, Parameter
from eee_testbed.measuring.study.folder import Block
from eee_testbed.measuring.study.parameters import CARDS, PORTS, PROBES, Evidence, kinds_of, parameters_of
from tests.support.measured.synthetic_run import about, calibration

PAIR = "n01-n02"
BESIDE = "n01-n02 eee=on stream_from=n03"


def _policy(**more: Any) -> LinkPolicy:
    return calibration().links["path n01 - n02"].model_copy(update={"which": False, **more})


def _kinds(evidence: Evidence) -> Iterator[BlockKind]:
    blocks = [Block(kind=PROBES, time_s=60.0, complete=True), Block(kind=CARDS, time_s=70.0, complete=True)]
    yield from kinds_of(evidence, parameters_of(evidence, 0.02), blocks)


def _evidence(links: dict[str, LinkPolicy], *runs: str, third: bool = True) -> Evidence:
    return Evidence(calibration(links=links), (), {name: (Path(name), 2) for name in (PROBES, *runs)}, {}, third=third)


def test_a_stream_is_planned_where_it_is_open_which_times_are_the_ports() -> None:
    evidence = _evidence({PAIR: _policy(hold_us=about(1000.0), card_hold_us=about(600.0))})
    assert evidence.stream_us == pytest.approx(600.0 * 0.98 / 4, abs=1.5)
    kinds = {kind.name: kind for kind in _kinds(evidence)}
    assert {f"{PAIR}: hold", f"{PAIR}: Ts", f"{PAIR}: which wakes are the switch's"} == set(kinds[CARDS].narrows)
    assert f"{PAIR}: hold" not in kinds[PROBES].narrows, "more of the same echoes do not say it"


@pytest.mark.parametrize(
    "evidence",
    [
        _evidence({PAIR: _policy()}, third=False),
        _evidence({PAIR: _policy(which=True)}),
        _evidence({PAIR: _policy(hold_us=about(60.0))}),  # no host streams every 15 us
    ],
)
def test_else_none_is(evidence: Evidence) -> None:
    assert CARDS not in {kind.name for kind in _kinds(evidence)}


def test_where_nothing_can_separate_them_the_study_says_so() -> None:
    (hold,) = (
        one for one in parameters_of(_evidence({PAIR: _policy()}, third=False), 0.001) if one.name == f"{PAIR}: hold"
    )
    assert hold.floor > 0
    assert "do not say what of their wait is the ports'" in hold.floor_why


@pytest.mark.parametrize(("run", "name"), [(CARDS, BESIDE), (PORTS, "n01-n03 cards=off eee=on")])
def test_blocks_narrow_the_path_that_they_measure(run: str, name: str) -> None:
    evidence = _evidence({PAIR: _policy(which=True), name: _policy(which=True)}, run)
    by_kind = {kind.name: set(kind.narrows) for kind in _kinds(evidence)}
    assert f"{name}: hold" not in by_kind[PROBES]
    assert f"{PAIR}: hold" in by_kind[PROBES]
    if run in by_kind:
        assert f"{name}: hold" in by_kind[run]
        assert f"{PAIR}: hold" not in by_kind[run], "a stream shows nothing of the ports"


def test_a_port_that_draws_nothing_asleep_is_wanted_relative_to_one_that_is_up() -> None:
    known = calibration()
    ((name, switch),) = known.power.switches.items()
    nothing = switch.port_by_mbps[1000].model_copy(update={"lpi_fraction": about(0.001)})
    switches = {name: switch.model_copy(update={"port_by_mbps": {1000: nothing}})}
    power = known.power.model_copy(update={"switches": switches})
    evidence = Evidence(known.model_copy(update={"power": power}), (), {}, {name: 0.0})
    wanted = {one.name.rpartition(": ")[2]: one.wanted for one in parameters_of(evidence, 0.02)}
    assert wanted["port asleep"] == wanted["port up"] > 0


def test_what_a_card_saves_is_wanted_relative_to_what_such_cards_draw() -> None:
    known = calibration()
    node = known.power.nodes["n01"].model_copy(update={"card_mbps": 1_000, "card_saved_watt": about(0.7, 0.5)})
    lost = known.power.nodes["n01"].model_copy(
        update={"unknown": ("What the card saves: it is lost in the meter's noise.",)}
    )
    power = known.power.model_copy(update={"nodes": {"n01": node, "n02": lost}})
    cards = {"n01": 0.01, "n02": 0.01, "n03": 0.01}
    evidence = Evidence(known.model_copy(update={"power": power}), (), {}, {}, cards)
    found = {one.name: one for one in parameters_of(evidence, 0.02) if ": card " in one.name}
    assert found["n01: card asleep saves"].wanted == pytest.approx(0.02 * 4.0)
    assert found["n02: card asleep saves"].why_not == "it is lost in the meter's noise."
    assert found["n03: card asleep saves"].interval is None


def test_blocks_narrow_what_the_program_of_their_own_experiment_costs() -> None:
    runs = {name: (Path(name), 3) for name in ("program-eee", "program-eee-2", "links-off", "links-off-2")}
    costs = {
        "program-eee": "halo 2x1, slower with eee on",
        "program-eee-2": "cg 2x1, slower with eee on (program-eee-2)",
        "links-off": "halo 2x1, slower with link off",
        "links-off-2": "cg 2x1, slower with link off (links-off-2)",
    }
    wanted = [Parameter(name, "%", None, 1.0) for name in costs.values()]
    blocks = [Block(kind=name, time_s=60.0, complete=True) for name in runs]
    kinds = kinds_of(Evidence(None, (), runs, {}), wanted, blocks)
    assert {kind.name: list(kind.narrows) for kind in kinds} == {name: [cost] for name, cost in costs.items()}
