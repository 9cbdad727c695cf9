"""Power of nodes beside a replay: by what was measured of nodes, and by Eq. 4."""

import pytest

from eee_testbed.analysis.calibration import Estimate, NodePower
from eee_testbed.analysis.predict.other_networks import PAPER_POWER
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.replay.jobs import Programs
from eee_testbed.simulation.replay.node_power import by_load, by_use, running_nodes, unknown_of
from tests.support.replays import described, stencil

_AWAKE = StateShares(idle=1.0)


def _about(value: float, half: float = 0.0) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half)


def test_running_nodes_are_loaded_and_cards_save_asleep() -> None:
    one = NodePower(idle_watt=_about(50), loaded_watt=_about(90), card_mbps=1_000, card_saved_watt=_about(0.8))
    other = NodePower(idle_watt=_about(60), loaded_watt=_about(80))
    assert by_load(4, 1, _AWAKE, {"a": one}).value == pytest.approx(90 + 3 * 50)
    asleep = StateShares(idle=0.4, quiet=0.5, refresh=0.1)
    assert by_load(4, 1, asleep, {"a": one}).value == pytest.approx(90 + 3 * 50 - 4 * 0.6 * 0.8)
    assert by_load(4, 1, asleep, {"a": one, "b": other}).value == pytest.approx(85 + 3 * 55 - 4 * 0.6 * 0.4)


def test_errors_of_measured_nodes_pass_on() -> None:
    found = by_load(10, 10, _AWAKE, {"a": NodePower(idle_watt=_about(50), loaded_watt=_about(90, 3))})
    assert found.low == pytest.approx(870, abs=5)
    assert found.high == pytest.approx(930, abs=5)


def test_what_was_not_measured_is_said() -> None:
    bare = {"a": NodePower(idle_watt=_about(50))}
    assert by_load(4, 2, _AWAKE, bare).value == pytest.approx(200)
    assert unknown_of(bare, _AWAKE) == ["no node was measured under load: idle power is assumed."]
    (_, cards) = unknown_of(bare, StateShares(quiet=1.0))
    assert "cards save" in cards


def test_eq_4_goes_from_idle_to_busy() -> None:
    assert by_use(3, 0.0, PAPER_POWER).value == pytest.approx(3 * 150)
    assert by_use(3, 1.0, PAPER_POWER).value == pytest.approx(3 * 300)


def _programs(*jobs: dict[str, object]) -> Programs:
    found = described(*jobs).programs
    assert found is not None
    return found


def test_ranks_share_nodes_and_jobs_add_up() -> None:
    assert running_nodes(_programs(stencil(4), stencil(4, ranks_per_node=2, copies=2)), 16) == 8
    assert running_nodes(_programs(stencil(4, placement="given", nodes=[0, 0, 1, 1])), 16) == 2
    assert running_nodes(_programs(stencil(8, copies=9)), 16) == 16
