"""Read from `ping -D -O` between two hosts how a change affected them: echoes lost, and when the first left. Pure.

Times are of the host's clock, `CLOCK_REALTIME`; a lost echo left at most one interval before ping missed its answer.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_STAMP = re.compile(r"\[(\d+)\.(\d{6})\] (?:\d+ bytes from .*icmp_seq=(\d+)|no answer yet for icmp_seq=(\d+))")


@dataclass(frozen=True, slots=True)
class Missed:
    """An echo without an answer, and when ping noticed, in ns of the host's clock."""

    number: int
    noticed_ns: int


@dataclass(frozen=True, slots=True)
class PathLoss:
    """Echoes of one probe. `first_lost_s` is after the first order was sent, `bound_s` off at most; None: none lost.

    Echoes that may still have been in transit when the probe ended do not count.
    """

    path: str
    interval_s: float
    echoes: int
    lost: int
    first_lost_s: float | None
    bound_s: float | None

    def __str__(self) -> str:
        every = f"{self.echoes} echoes, one each {self.interval_s * 1000:g} ms"
        if not self.lost:
            return f"{self.path}: none of {every}, was lost"
        first_s = self.first_lost_s
        when = "before the first order"
        if first_s is not None:
            when = f"{abs(first_s):.3f} s {'after' if first_s >= 0 else 'before'} the first order"
        return f"{self.path}: {self.lost} of {every}, were lost, the first {when}"


def missed_of(lines: Iterable[str]) -> tuple[int, tuple[Missed, ...]]:
    """How many echoes count, and those that were never answered; a late answer is an answer."""
    answered: set[int] = set()
    noticed: dict[int, int] = {}
    for line in lines:
        stamp = _STAMP.search(line)
        if stamp is None:
            continue
        if stamp[3]:
            answered.add(int(stamp[3]))
        else:
            noticed.setdefault(int(stamp[4]), int(stamp[1]) * 10**9 + int(stamp[2]) * 1000)
    last = max(answered, default=0)
    missed = (Missed(number, noticed[number]) for number in sorted(noticed) if number not in answered and number < last)
    lost = tuple(missed)
    return len(answered) + len(lost), lost


def path_loss(
    path: str, interval_s: float, lines: Iterable[str], first_order_ns: int | None, bound_ns: int
) -> PathLoss:
    """Evaluate ping's output; `first_order_ns` is on the host's clock, known to `bound_ns`. None: nothing was sent."""
    echoes, lost = missed_of(lines)
    first_s = None
    if lost and first_order_ns is not None:
        first_s = (lost[0].noticed_ns - first_order_ns) / 1e9 - interval_s
    bound_s = None if first_s is None else bound_ns / 1e9 + interval_s
    return PathLoss(path, interval_s, echoes, len(lost), first_s, bound_s)
