"""Handling of Ctrl-C, `kill` and a terminal that closes, while an experiment runs.

During a measurement a signal interrupts it (KeyboardInterrupt). During a change of the lab a signal only requests a
stop, so that a half-done change can be rolled back; the third signal interrupts at once.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from eee_testbed.controller.applying.rounds import Stop

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalHandling:
    """A context in the main thread; on exit it restores the previous handlers."""

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
        """While the lab is being changed, signals request a stop."""

        def request_stop(_number: int, _frame: FrameType | None) -> None:
            stop.ask()
            if stop.asked(3):
                raise KeyboardInterrupt

        for number in _SIGNALS:
            signal.signal(number, request_stop)
        try:
            yield
        finally:
            self._interrupt()

    def _interrupt(self) -> None:
        for number in _SIGNALS:
            signal.signal(number, signal.default_int_handler)
