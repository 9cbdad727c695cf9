"""Switches that are managed in band restart at any moment: they are brought back, and none is ever locked out."""

from dataclasses import replace

import pytest

from eee_testbed.controller.applying.apply import Options, apply
from eee_testbed.controller.applying.work import at_work
from eee_testbed.controller.model.state import State, diff, factory_state
from eee_testbed.controller.planning.rollback import Position, Return
from eee_testbed.controller.planning.site import management_of
from eee_testbed.controller.planning.wishes import MultiTree
from eee_testbed.lab.model import Lab
from tests.controller.applying.test_apply import record_of, run_apply
from tests.support.labs.lockouts import on_tree, trees
from tests.support.labs.management_walk import World
from tests.support.labs.toy_lab import Quiet, ToyLab, small_lab

_WORLDS = (World(("sw1", "sw2", "sw3"), "flood"), World(("sw3", "sw2", "sw1"), "drop"))
"""In which every switch still answers after another one restarted."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return replace(small_lab(tmp_path_factory.mktemp("labs") / "toys"), way_in=("sw1", 1))


def _start(lab: Lab) -> State:
    """Spanning tree on, VLAN 1 on one tree, all other cables shut."""
    places = {switch.name: place for place, switch in enumerate(lab.switches)}
    edges = tuple((places[link.a.device], places[link.b.device]) for link in lab.trunks())
    return on_tree(lab, next(trees(edges)), stp=True)


@pytest.mark.parametrize("startup", ["factory settings", "as before"])
@pytest.mark.parametrize("world", _WORLDS)
def test_a_switch_that_restarts_during_an_apply_is_brought_back_and_none_is_locked_out(
    lab: Lab, world: World, startup: str
) -> None:
    start = _start(lab)
    boot = factory_state(lab) if startup == "factory settings" else start
    whole = ToyLab(lab, start, way_in=lab.way_in, world=world)
    assert run_apply(whole, MultiTree()).ending == "applied"
    assert not whole.lockouts
    for number in range(0, whole.orders, 19):
        toys = ToyLab(lab, start, boot, {number: "reboot"}, way_in=lab.way_in, world=world)
        result = run_apply(toys, MultiTree())
        assert result.ending == "taken back", (number, result)
        assert not diff(toys.state, start), number
        assert not toys.lockouts, (number, toys.lockouts)
        assert not toys.harms, (number, toys.harms[:2])
        assert record_of(lab).outcome == "taken back"


@pytest.mark.parametrize("world", _WORLDS)
def test_a_switch_that_restarts_at_rest_is_brought_back_over_the_path_that_it_is_reached_by(
    lab: Lab, world: World
) -> None:
    start = _start(lab)
    for name in ("sw1", "sw2", "sw3"):
        toys = ToyLab(lab, start, factory_state(lab), way_in=lab.way_in, world=world)
        run_apply(toys, MultiTree())
        aim = toys.state
        toys.reboot(name)
        toys.away.clear()
        with at_work(lab, toys.backend(), "recover", Quiet(), toys.stop) as work:
            back = Return(Position(aim, aim, ()), aim)
            result = apply(work, back, management_of(lab, None), lambda _: True, Options("recover"))
        assert result.ending == "applied", result
        assert not diff(toys.state, aim)
        assert not toys.lockouts
        assert not toys.harms
