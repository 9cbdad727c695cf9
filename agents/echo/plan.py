"""Gaps between echoes: drawn at random over a range, or in steps as in Miwa 2013, figure 3."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

from eee_testbed.agents.stream import AgentError


def drawn_ns(low_us: float, high_us: float, count: int, *, log: bool, seed: int) -> Iterator[int]:
    """`count` gaps in nanoseconds from [low, high], uniform or uniform in the logarithm. Same seed, same gaps."""
    rng = random.Random(seed)  # noqa: S311 - a reproducible schedule, not a secret
    for _ in range(count):
        if log:
            yield round(math.exp(rng.uniform(math.log(low_us), math.log(high_us))) * 1_000)
        else:
            yield round(rng.uniform(low_us, high_us) * 1_000)


def stepped_ns(steps_us: Sequence[float], per_step: int, *, shuffled: bool, seed: int) -> Iterator[int]:
    """Each step's gap `per_step` times in a row; the steps in a random order, or as they are given."""
    order = list(steps_us)
    if shuffled:
        random.Random(seed).shuffle(order)  # noqa: S311 - as above
    for step_us in order:
        for _ in range(per_step):
            yield round(step_us * 1_000)


def duration_s(gaps_ns: Iterator[int]) -> float:
    """The sum of gaps, which a run takes at least."""
    return sum(gaps_ns) / 1e9


def parse_range(text: str, most_us: float) -> tuple[float, float]:
    """LOW:HIGH in microseconds."""
    numbers = _numbers(text, ":", most_us)
    if len(numbers) != 2 or not 0 < numbers[0] <= numbers[1]:
        raise AgentError(
            f"'{text}' is not a range of gaps: write LOW:HIGH in us with 0 < LOW <= HIGH, as in 50:4000.", 2
        )
    return numbers[0], numbers[1]


def parse_steps(text: str, most_us: float) -> tuple[float, ...]:
    """Either a list of gaps, `500,1000,2000`, or LOW:HIGH:COUNT for that many, evenly spaced in the logarithm."""
    if ":" not in text:
        listed = _numbers(text, ",", most_us)
        if not listed or min(listed) <= 0:
            raise AgentError(f"'{text}' is not a list of gaps: write gaps above 0 in us, as in 500,1000,2000.", 2)
        return listed
    numbers = _numbers(text, ":", most_us)
    good = len(numbers) == 3 and 0 < numbers[0] < numbers[1] and 2 <= numbers[2] == int(numbers[2])
    if not good:
        raise AgentError(
            f"'{text}' are not steps: write LOW:HIGH:COUNT with 0 < LOW < HIGH us and COUNT >= 2, as in 50:100000:30.",
            2,
        )
    low_us, high_us, count = numbers[0], numbers[1], int(numbers[2])
    return tuple(low_us * (high_us / low_us) ** (n / (count - 1)) for n in range(count))


def _numbers(text: str, mark: str, most_us: float) -> tuple[float, ...]:
    try:
        numbers = tuple(float(word) for word in text.split(mark))
    except ValueError:
        raise AgentError(f"'{text}' is not made of numbers and '{mark}': write gaps in us.", 2) from None
    if any(not math.isfinite(number) or number > most_us for number in numbers):
        raise AgentError(f"'{text}' has a gap above {most_us:g} us, which this probe does not wait.", 2)
    return numbers
