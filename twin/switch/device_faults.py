"""The faults of one switch. Its interfaces and the device consult them; `twin.faults.faults` sets and clears them."""

import random
import string
from collections.abc import Callable
from dataclasses import dataclass, field

from eee_testbed.twin.switch.personality import Pace

_NOISE = string.ascii_letters + string.digits + string.punctuation + " "
_ESCAPES = ("\x1b[2J", "\x1b[H", "\x1b[1;31m", "\x1b[0m", "\x1b[7A", "\x1b[K", "\x1b[40D")


@dataclass(slots=True)
class Countdown:
    """Calls `strike` when the configuration is changed for the `left`-th time, inside the change."""

    left: int
    strike: Callable[[], None]


class Garbler:
    """Garbles answers: rows of random printable characters and ANSI sequences, instead of them or inside them.

    The same seed garbles the same answers in the same way. `answers` is how many to garble; None: all.
    """

    def __init__(self, seed: str, answers: int | None) -> None:
        self._random = random.Random(seed)  # noqa: S311 - noise, no secret
        self._left = answers

    @property
    def done(self) -> bool:
        """Whether as many answers were garbled as requested."""
        return self._left == 0

    def garble(self, text: str) -> str:
        """Return the answer as the switch prints it."""
        if self.done:
            return text
        if self._left is not None:
            self._left -= 1
        draw = self._random
        rows = []
        for _ in range(draw.randint(1, 3)):
            row = "".join(draw.choices(_NOISE, k=draw.randint(1, 60)))
            at = draw.randint(0, len(row))
            rows.append(row[:at] + draw.choice(_ESCAPES) + row[at:])
        noise = "\n".join(rows)
        if not text or draw.random() < 0.5:
            return noise + "\n"
        at = draw.randint(0, len(text) - 1)
        return text[:at] + noise + text[at:]


@dataclass(slots=True)
class DeviceFaults:
    """Active faults. Each takes effect at the next command, SET or login."""

    ignore_writes: bool = False  # accept every change, answer as usual, change nothing
    refuse: dict[str, str] = field(default_factory=dict)  # beginning of a spelled-out command -> the answer it gets
    pace: Pace | None = None  # instead of the switch's own
    hang_next: bool = False  # the next line is executed and its answer withheld; its session then hangs
    page_always: bool = False  # whatever paging the session has set
    garbler: Garbler | None = None
    password: str | None = None  # of every user, instead of the configured one; public keys are refused then
    countdowns: list[Countdown] = field(default_factory=list)

    def changing(self) -> None:
        """Count a change of configuration; the engine does not have it yet."""
        for countdown in tuple(self.countdowns):
            countdown.left -= 1
            if countdown.left == 0:
                self.countdowns.remove(countdown)
                countdown.strike()
