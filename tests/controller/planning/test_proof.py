"""Proved plans one after the other."""

import pytest

from eee_testbed.controller.model.state import factory_state
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.proof import join_proved, prove
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.planning.trees import one_tree
from tests.support.graph_lab import graph_lab


def test_plans_that_were_proved_with_another_management_are_not_joined() -> None:
    lab = graph_lab(2, [(0, 1)], [1, 1])
    state = multi_tree(lab, factory_state(lab), one_tree)[1]
    (vid,) = state.port("sw1", "t1").tagged_vids
    outside = prove(lab, state, Plan(()), None, {})
    inside = prove(lab, state, Plan(()), Management("sw1", vid), {})
    assert join_proved([outside, outside]).end == state
    with pytest.raises(AssertionError, match="joined"):
        join_proved([outside, inside])
