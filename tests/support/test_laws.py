"""How many examples a law is tried on."""

import pytest

from tests.support.laws import EFFORTS, examples_of


@pytest.mark.parametrize(("effort", "examples"), [("check", 15), ("test", 150), ("soak", 3_000)])
def test_examples_grow_with_the_effort(effort: str, examples: int) -> None:
    assert examples_of(150, effort) == examples


def test_a_law_of_few_examples_keeps_some_of_them() -> None:
    assert [examples_of(few, "check") for few in (2, 5, 30)] == [2, 5, 5]


def test_make_test_tries_what_a_law_names() -> None:
    assert EFFORTS["test"] == 1.0
