"""What a person broke on one switch. Faces and the device look here; `twin.faults.faults` is who breaks and mends."""

import random
import string
from collections.abc import Callable
from dataclasses import dataclass, field

from twin.switch.personality import Pace

_NOISE = string.ascii_letters + string.digits + string.punctuation + " "
_ESCAPES = ("\x1b[2J", "\x1b[H", "\x1b[1;31m", "\x1b[0m", "\x1b[7A", "\x1b[K", "\x1b[40D")


@dataclass(slots=True)
class Countdown:
    """Calls `strike` when the configuration is changed for the `left`-th time, inside the change."""

    left: int
    strike: Callable[[], None]


class Garbler:
    """Spoils answers: rows of random printable characters and ANSI sequences, in their place or inside them.

    The same seed spoils the same answers alike. `answers` is how many; None: all.
    """

    def __init__(self, seed: str, answers: int | None) -> None:
        self._random = random.Random(seed)  # noqa: S311 - noise, no secret
        self._left = answers

    @property
    def done(self) -> bool:
        """As many were spoiled as there should be."""
        return self._left == 0

    def spoil(self, text: str) -> str:
        """The answer as it comes out."""
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
    """Each takes effect at the next command, SET or login."""

    ignore_writes: bool = False  # accept every change, answer as usual, change nothing
    refuse: dict[str, str] = field(default_factory=dict)  # start of a spelled-out command -> the words it gets
    pace: Pace | None = None  # in place of the switch's own
    hang_next: bool = False  # the next line is obeyed and its answer kept back; its session takes nothing more
    page_always: bool = False  # whatever the session asked for
    garbler: Garbler | None = None
    password: str | None = None  # everybody's, in place of their own; keys are worth nothing then
    countdowns: list[Countdown] = field(default_factory=list)

    def changing(self) -> None:
        """The configuration is being changed: in its text, and not yet in what the switch does."""
        for countdown in tuple(self.countdowns):
            countdown.left -= 1
            if countdown.left == 0:
                self.countdowns.remove(countdown)
                countdown.strike()
