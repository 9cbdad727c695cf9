"""A clock that a test moves."""

import threading

NS = 1_000_000_000


class FakeClock:
    """Both clocks stand still until `advance`; `step` moves the system's alone."""

    def __init__(self, utc_ns: int = 1_700_000_000 * NS) -> None:
        self._moved = threading.Condition()
        self._monotonic_ns = 5_000 * NS
        self._utc_ns = utc_ns

    def monotonic_ns(self) -> int:
        with self._moved:
            return self._monotonic_ns

    def utc_ns(self) -> int:
        with self._moved:
            return self._utc_ns

    def advance(self, seconds: float) -> None:
        with self._moved:
            self._monotonic_ns += round(seconds * NS)
            self._utc_ns += round(seconds * NS)
            self._moved.notify_all()

    def step(self, seconds: float) -> None:
        with self._moved:
            self._utc_ns += round(seconds * NS)

    def wait(self, wake: threading.Event, seconds: float) -> bool:
        with self._moved:
            until_ns = self._monotonic_ns + round(seconds * NS)
            while self._monotonic_ns < until_ns and not wake.is_set():
                self._moved.wait(0.01)  # the event has no way to notify us
        return wake.is_set()
