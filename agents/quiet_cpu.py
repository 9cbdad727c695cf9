"""A CPU that is awake and ours: what the node's own wake-ups would add to a round trip looks like a sleeping link."""

from __future__ import annotations

import os
import struct
from typing import Any

from agents.stream import AgentError

_LATENCY_FILE = "/dev/cpu_dma_latency"


class QuietCpu:
    """Pins the program, asks for SCHED_FIFO, and keeps all CPUs from deep sleep (C-states) while it lives.

    What is not permitted is said in `weaker`, and the program goes on without. A program that spins under SCHED_FIFO
    takes its CPU whole: kernels give others 5 % of it in one piece, up to 50 ms a second, which shows as lateness.
    """

    def __init__(self, cpu: int | None, realtime: int) -> None:
        self.weaker: list[str] = []
        self._realtime = 0
        if cpu is not None:
            allowed = os.sched_getaffinity(0)
            if cpu not in allowed:
                raise AgentError(f"CPU {cpu} is not ours: the program may run on {_listed(allowed)}.", 2)
            os.sched_setaffinity(0, {cpu})
        if realtime:
            self._ask_realtime(realtime)
        try:
            self._awake: int | None = os.open(_LATENCY_FILE, os.O_WRONLY | os.O_CLOEXEC)
            os.write(self._awake, struct.pack("i", 0))
        except OSError as error:
            self._awake = None
            self.weaker.append(f"CPUs may fall asleep between frames: {_LATENCY_FILE}: {error.strerror}")

    def _ask_realtime(self, priority: int) -> None:
        most = os.sched_get_priority_max(os.SCHED_FIFO)
        if not 1 <= priority <= most:
            raise AgentError(f"{priority} is no priority of SCHED_FIFO: 1 to {most}.", 2)
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
            self._realtime = priority
        except PermissionError as error:
            self.weaker.append(f"no SCHED_FIFO: {error.strerror}; other programs may take the CPU")

    def as_dict(self) -> dict[str, Any]:
        """For a header."""
        return {
            "cpus": sorted(os.sched_getaffinity(0)),
            "realtime_priority": self._realtime,
            "kept_awake": self._awake is not None,
        }


def _listed(cpus: set[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))
