"""A grain is fitted so that the run takes as long as wanted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.simulation.programs.counts import busiest_ns
from eee_testbed.simulation.programs.grain import Guess, fit_grain
from eee_testbed.simulation.programs.kripke import Kripke, generate
from tests.support.laws import law

_NS = 1e9


@law(100)
@given(
    messages_s=st.floats(0, 1),
    grains=st.floats(1, 1e9),
    grain_ns=st.floats(0, 1e4),
    more_s=st.floats(1e-3, 100),
)
def test_one_guess_suffices_where_run_time_is_a_straight_line(
    messages_s: float, grains: float, grain_ns: float, more_s: float
) -> None:
    wanted_s = messages_s + more_s
    guess = Guess(grain_ns, messages_s + grains * grain_ns / _NS)
    fitted = fit_grain(Kripke(), wanted_s, [guess], grains)
    assert messages_s + grains * fitted.grain_ns / _NS == pytest.approx(wanted_s, rel=1e-6)


def test_two_guesses_give_the_slope() -> None:
    """A sweep waits for computing of other ranks: a rank's own grains are too few."""

    def run_time_s(grain_ns: float) -> float:
        return 0.25 + 3000 * grain_ns / _NS

    first = Guess(1e5, run_time_s(1e5))
    second_ns = fit_grain(Kripke(), 2.0, [first], grains=1000).grain_ns
    third = fit_grain(Kripke(), 2.0, [first, Guess(second_ns, run_time_s(second_ns))])
    assert run_time_s(third.grain_ns) == pytest.approx(2.0)


def test_parameters_keep_everything_else() -> None:
    first = Kripke(procs=(2, 2, 2), zones=(8, 8, 8), grain_ns=100)
    grains = busiest_ns(generate(first)) / first.grain_ns
    fitted = fit_grain(first, 2 * grains * 100 / _NS, [Guess(100, grains * 100 / _NS)], grains)
    assert fitted.grain_ns == pytest.approx(200)
    assert fitted == first.model_copy(update={"grain_ns": fitted.grain_ns})


def test_run_times_that_no_grain_gives_are_refused() -> None:
    with pytest.raises(ValueError, match="messages alone take longer than 1 s"):
        fit_grain(Kripke(), 1.0, [Guess(10, 5.0)], grains=1e6)
    with pytest.raises(ValueError, match="does not grow"):
        fit_grain(Kripke(), 1.0, [Guess(10, 5.0)])
    with pytest.raises(ValueError, match="does not grow"):
        fit_grain(Kripke(), 1.0, [Guess(10, 5.0), Guess(10, 5.0)])
