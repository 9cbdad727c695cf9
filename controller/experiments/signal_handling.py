"""Ctrl-C, `kill` and a terminal that goes away, while an experiment runs.

While something is measured they interrupt it (KeyboardInterrupt). While the lab is being changed they only ask to stop,
as whoever changes it takes back what is half done; the third time, the program ends where it is.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from controller.applying.rounds import Stop

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalHandling:
    """A context in the main thread; handlers are as before when it is left."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.getsignal(number)
        self._interrupt()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def asking(self, stop: Stop) -> Iterator[None]:
        """The lab is being changed: signals ask to stop."""

        def heard(_number: int, _frame: FrameType | None) -> None:
            stop.ask()
            if stop.asked(3):
                raise KeyboardInterrupt

        for number in _SIGNALS:
            signal.signal(number, heard)
        try:
            yield
        finally:
            self._interrupt()

    def _interrupt(self) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _as_ctrl_c)


def _as_ctrl_c(_number: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)
