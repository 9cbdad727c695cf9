"""Laws of the decision, on simulated measurements whose truth the test draws."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from eee_testbed.analysis.interval import Interval
from eee_testbed.measuring.study.decide import (
    BlockKind,
    CannotBeKnown,
    Decision,
    Known,
    NeedsMore,
    Parameter,
    Past,
    decide,
)
from tests.support.laws import law

_EXPONENT = {"mean": 0.5, "edge": 1.0}


@dataclass
class _Truth:
    """A parameter of the simulated lab, and what its blocks have shown so far.

    A "mean" is known from the mean of noisy blocks; an "edge" lies between the nearest gaps on both sides. A meter's
    `floor` is a constant error that no repetition removes.
    """

    name: str
    what: str
    value: float
    sigma: float
    wanted: float
    floor: float = 0.0
    seen: list[float] = field(default_factory=list)
    low: float = -math.inf
    high: float = math.inf

    def measure(self, random: np.random.Generator) -> None:
        if self.what == "mean":
            self.seen.append(self.value + float(random.normal(0, self.sigma)))
            return
        self.seen.append(0.0)
        for gap in self.value + random.uniform(-self.sigma, self.sigma, size=8):
            self.low, self.high = (
                (max(self.low, gap), self.high) if gap < self.value else (self.low, min(self.high, gap))
            )

    @property
    def interval(self) -> Interval | None:
        count = len(self.seen)
        if self.what == "edge":
            return (
                None if math.isinf(self.high - self.low) else Interval((self.low + self.high) / 2, self.low, self.high)
            )
        if count < 2:
            return None
        spread = float(student.ppf(0.975, count - 1)) * float(np.std(self.seen, ddof=1)) / math.sqrt(count)
        return Interval.plus_minus(float(np.mean(self.seen)), math.hypot(spread, self.floor))

    @property
    def parameter(self) -> Parameter:
        least = 1 if self.what == "edge" else 4
        return Parameter(self.name, "us", self.interval, self.wanted, "nothing seen", self.floor, "coarse", least)


@dataclass
class _Lab:
    truths: list[_Truth]
    kinds: dict[str, tuple[float, list[_Truth]]]
    random: np.random.Generator
    counts: dict[str, int] = field(default_factory=dict)
    spent_s: float = 0.0
    history: dict[str, list[Past]] = field(default_factory=dict)

    def blocks(self) -> list[BlockKind]:
        return [
            BlockKind(name, cost_s, self.counts.get(name, 0), {one.name: _EXPONENT[one.what] for one in truths})
            for name, (cost_s, truths) in self.kinds.items()
        ]

    def run(self, name: str) -> None:
        cost_s, truths = self.kinds[name]
        self.spent_s += cost_s
        self.counts[name] = self.counts.get(name, 0) + 1
        for one in truths:
            one.measure(self.random)
            if one.interval is not None:
                self.history.setdefault(one.name, []).append(Past(len(one.seen), one.interval.half_width))

    def ask(self, budget_s: float) -> Decision:
        parameters = [one.parameter for one in self.truths]
        return decide(parameters, self.blocks(), budget_s - self.spent_s, self.history)


def _until(lab: _Lab, budget_s: float, choose: Callable[[_Lab, Decision], str | None]) -> Decision:
    for _ in range(100_000):
        decision = lab.ask(budget_s)
        name = choose(lab, decision)
        if name is None:
            return decision
        lab.run(name)
    raise AssertionError("it never ends")


def _decided(_: _Lab, decision: Decision) -> str | None:
    return decision.block


@st.composite
def labs(draw: st.DrawFn, *, floors: bool = True) -> _Lab:
    truths: list[_Truth] = []
    kinds: dict[str, tuple[float, list[_Truth]]] = {}
    for number in range(draw(st.integers(1, 4))):
        members = []
        for part in range(draw(st.integers(1, 3))):
            what = draw(st.sampled_from(["mean", "edge"]))
            sigma = draw(st.floats(0.5, 20.0))
            wanted = draw(st.floats(0.3, 5.0))
            floor = draw(st.sampled_from([0.0, 0.0, 10.0])) if floors and what == "mean" else 0.0
            members.append(_Truth(f"{number}.{part}", what, draw(st.floats(-100, 100)), sigma, wanted, floor))
        truths += members
        kinds[f"kind {number}"] = draw(st.floats(1.0, 60.0)), members
    return _Lab(truths, kinds, np.random.default_rng(draw(st.integers(0, 2**32 - 1))))


@law(80)
@given(labs(), st.floats(10.0, 2_000.0))
def test_it_ends_within_the_budget_and_says_how_each_parameter_ends(lab: _Lab, budget_s: float) -> None:
    last = _until(lab, budget_s, _decided)
    assert lab.spent_s <= budget_s
    assert set(last.verdicts) == {one.name for one in lab.truths}
    for one in lab.truths:
        verdict = last.verdicts[one.name]
        if isinstance(verdict, Known):
            assert one.interval is not None
            assert one.interval.half_width <= one.wanted
        elif isinstance(verdict, NeedsMore):
            # What needs more is left only because no useful block is short enough for the rest of the budget.
            assert verdict.time_s > 0
            own = [cost_s for cost_s, truths in lab.kinds.values() if one in truths]
            assert min(own) > budget_s - lab.spent_s
        else:
            assert one.floor > one.wanted or one.interval is None or len(one.seen) >= 16


@law(60)
@given(labs())
def test_what_the_instrument_cannot_show_takes_no_time_of_its_own(lab: _Lab) -> None:
    for one in lab.truths:
        one.what, one.floor = "mean", one.wanted * 3
    last = _until(lab, 1e6, _decided)
    assert all(isinstance(verdict, CannotBeKnown) and verdict.why == "coarse" for verdict in last.verdicts.values())
    assert all(count <= 2 for count in lab.counts.values())


@law(60)
@given(labs(floors=False))
def test_the_same_measurements_make_the_same_decision(lab: _Lab) -> None:
    for _ in range(5):
        first, second = lab.ask(1e4), lab.ask(1e4)
        assert first == second
        if first.block is None:
            return
        lab.run(first.block)


@pytest.mark.slow
def test_intervals_hold_the_truth_although_the_study_stops_when_they_are_narrow() -> None:
    """Stopping at the first narrow interval would favour intervals that are narrow by chance."""
    held = known = 0
    for seed in range(400):
        random = np.random.default_rng(seed)
        sigma = float(random.uniform(0.5, 5.0))
        truth = _Truth("a", "mean", float(random.uniform(-10, 10)), sigma, sigma * float(random.uniform(0.3, 1.5)))
        lab = _Lab([truth], {"kind": (1.0, [truth])}, random)
        if isinstance(_until(lab, 300.0, _decided).verdicts["a"], Known):
            known += 1
            assert truth.interval is not None
            held += truth.interval.holds(truth.value)
    assert known > 300
    assert held / known >= 0.9


def _widest(budget_s: float) -> Callable[[_Lab, Decision], str | None]:
    """The simple rule: repeat the cheapest block of the parameter that is widest for what is wanted of it."""

    def choose(lab: _Lab, decision: Decision) -> str | None:
        still = [one for one in lab.truths if isinstance(decision.verdicts[one.name], NeedsMore)]
        for one in sorted(still, key=_width, reverse=True):
            own = [(cost_s, name) for name, (cost_s, truths) in lab.kinds.items() if one in truths]
            if min(own)[0] <= budget_s - lab.spent_s:
                return min(own)[1]
        return None

    return choose


def _width(one: _Truth) -> float:
    return math.inf if one.interval is None else one.interval.half_width / one.wanted


def _excess(lab: _Lab) -> float:
    """How much wider than wanted the intervals are, as a sum of logarithms; one that is not found counts as 100."""
    widths = [one.interval.half_width / one.wanted if one.interval is not None else 100.0 for one in lab.truths]
    return sum(math.log(max(width, 1.0)) for width in widths)


def _study(seed: int) -> _Lab:
    """Slowdowns of two programs, edges of a policy, watts of some ports: each in blocks of one kind."""
    random = np.random.default_rng(seed)

    def some(kind: str, count: int, sigma: tuple[float, float], wanted: tuple[float, float]) -> list[_Truth]:
        what = "edge" if kind == "echoes" else "mean"
        return [_Truth(f"{kind} {n}", what, 0.0, random.uniform(*sigma), random.uniform(*wanted)) for n in range(count)]

    program = some("program", 2, (0.5, 6.0), (0.3, 1.0))
    echoes = some("echoes", 3, (5.0, 60.0), (0.3, 3.0))
    power = some("power", int(random.integers(2, 7)), (0.5, 6.0), (0.2, 0.6))
    costs = [random.uniform(*cost_s) for cost_s in ((30.0, 120.0), (10.0, 60.0), (40.0, 200.0))]
    kinds = dict(zip(("program", "echoes", "power"), zip(costs, (program, echoes, power), strict=True), strict=True))
    return _Lab([*program, *echoes, *power], kinds, random)


@pytest.mark.slow
def test_within_a_budget_more_is_known_than_by_repeating_what_is_widest() -> None:
    """The widest may be out of reach, and swallow the time in which others become known."""
    budget_s = 2_000.0

    def left(choose: Callable[[_Lab, Decision], str | None], seed: int) -> tuple[float, int]:
        lab = _study(seed)
        last = _until(lab, budget_s, choose)
        return _excess(lab), sum(isinstance(verdict, NeedsMore) for verdict in last.verdicts.values())

    decided = np.array([left(_decided, seed) for seed in range(12)]).mean(axis=0)
    widest = np.array([left(_widest(budget_s), seed) for seed in range(12)]).mean(axis=0)
    assert decided[0] < 0.95 * widest[0], "the intervals that are left are narrower"
    assert decided[1] < widest[1] - 0.5, "and fewer"


def _mean(half: float, wanted: float, **more: float) -> Parameter:
    return Parameter("m", "W", Interval.plus_minus(10.0, half), wanted, floor=more.get("floor", 0.0))


def test_the_time_that_is_needed_follows_from_the_width() -> None:
    (verdict,) = decide([_mean(4.0, 1.0)], [BlockKind("k", 30.0, 4, {"m": 0.5})], 1e4).verdicts.values()
    assert isinstance(verdict, NeedsMore)
    assert verdict.time_s == pytest.approx((16 * 4 - 4) * 30.0)  # a quarter of the width takes 16 times the blocks


def test_an_interval_that_no_longer_narrows_is_given_up() -> None:
    past = [Past(4, 2.0), Past(8, 2.05), Past(16, 2.0)]
    decision = decide([_mean(2.0, 0.5)], [BlockKind("k", 1.0, 16, {"m": 0.5})], 1e4, {"m": past})
    (verdict,) = decision.verdicts.values()
    assert isinstance(verdict, CannotBeKnown)
    assert "no longer narrow" in verdict.why
    assert decision.block is None


def test_what_is_not_found_is_tried_a_few_times() -> None:
    nothing = Parameter("hold", "us", None, 1.0, "no link slept")
    for count, block in ((0, "k"), (2, "k"), (3, None)):
        decision = decide([nothing], [BlockKind("k", 1.0, count, {"hold": 1.0})], 100.0)
        assert decision.block == block
    assert decision.verdicts["hold"] == CannotBeKnown("no link slept")


def _kinds(*costs: float) -> Sequence[BlockKind]:
    return [BlockKind(f"k{n}", cost_s, 4, {"m": 0.5}) for n, cost_s in enumerate(costs)]


def test_the_shorter_of_two_alike_is_taken_and_none_that_is_too_long() -> None:
    assert decide([_mean(4.0, 1.0)], _kinds(30.0, 10.0), 100.0).block == "k1"
    assert decide([_mean(4.0, 1.0)], _kinds(30.0, 10.0), 9.0).block is None
    assert "too short" in decide([_mean(4.0, 1.0)], _kinds(30.0), 9.0).why


def test_what_may_find_something_comes_before_what_narrows_much() -> None:
    wide = [Parameter(f"port {number}", "W", Interval(1.0, 0.0, 2.0), 0.01) for number in range(16)]
    cost = Parameter("slower", "%", None, 2.0, "nothing was repeated")
    watts = BlockKind("watts", 20.0, 3, {one.name: 0.5 for one in wide})
    program = BlockKind("program", 60.0, 1, {"slower": 0.5})
    assert decide([cost, *wide], [watts, program], 100.0).block == "program"
    assert decide([cost, *wide], [watts, program], 50.0).block == "watts", "there is no time for it"


def test_of_what_may_be_found_the_first_named_comes_first() -> None:
    cost = Parameter("slower", "%", None, 2.0, "nothing was repeated")
    watts = [Parameter(f"port {number}", "W", None, 0.01, "a window was bad") for number in range(6)]
    kinds = [
        BlockKind("watts", 20.0, 2, {one.name: 0.5 for one in watts}),
        BlockKind("program", 60.0, 1, {"slower": 0.5}),
    ]
    found = decide([cost, *watts], kinds, 100.0)
    assert (found.block, found.why) == ("program", "slower is not found yet")
    assert decide([cost, *watts], kinds, 50.0).why == "port 0 is not found yet"
