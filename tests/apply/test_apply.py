"""Whatever goes wrong, at whichever order: the lab is wholly before or wholly after, and was safe all the time."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_lab import Quiet, ToyLab, Trouble, plan_trees, small_lab

from controller.apply import Options, Result, apply
from controller.errors import Drift, Ignored, JournalFailed, LabError, Rejected
from controller.journal import read_journal
from controller.model.lab import Lab
from controller.model.state import State, diff, factory_state
from controller.statefolder import StateFolder
from controller.wish import Wish
from controller.work import Hands, at_work

_OPTIONS = Options("apply")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return small_lab(tmp_path_factory.mktemp("labs") / "toys")


def run_apply(toys: ToyLab, hands: Hands | None = None, wish: Wish | None = None) -> Result:
    with at_work(toys.lab, hands or toys.hands(), "apply", Quiet(), toys.stop) as work:
        return apply(work, plan_trees(toys.lab, toys, wish), lambda _: True, _OPTIONS)


@pytest.fixture(scope="session")
def goal(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> tuple[State, int]:
    """Where an apply without troubles leads, and how many orders it takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EEE_CONTROLLER_DIR", str(tmp_path_factory.mktemp("goal")))
        toys = ToyLab(lab, factory_state(lab))
        assert run_apply(toys).ending == "applied"
        return toys.state, toys.orders


def test_an_apply_leads_where_the_plan_says_and_the_second_has_nothing_to_do(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    result = run_apply(toys)
    assert result.ending == "applied"
    assert not toys.harms
    assert all(dials == 1 for dials in toys.dials.values())
    story = read_journal(StateFolder(lab.name).journal)
    assert story is not None
    assert story.finished
    assert story.rest == toys.state != factory_state(lab)
    orders = toys.orders
    assert run_apply(toys).ending == "nothing to do"
    assert toys.orders == orders


@pytest.mark.parametrize(
    "trouble", ["refuse", "ignore", "drop before", "drop after", "reboot", "hang", "Ctrl-C", "stranger"]
)
def test_each_trouble_at_every_order_leaves_the_lab_wholly_before(
    lab: Lab, goal: tuple[State, int], trouble: Trouble
) -> None:
    _, count = goal
    for number in range(0, count, 3):
        toys = ToyLab(lab, factory_state(lab), troubles={number: trouble})
        result = run_apply(toys)
        assert result.ending == "taken back", (number, result)
        assert not diff(toys.state, toys.initial), number
        assert not toys.harms, (number, toys.harms[:3])
        story = read_journal(StateFolder(lab.name).journal)
        assert story is not None
        assert story.outcome == "taken back"
