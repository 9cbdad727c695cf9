"""Keeps a CPU awake for the probe: the CPU's own wake-ups would add to round trips and look like a link in LPI."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any

from eee_testbed.agents.stream import AgentError

_LATENCY_FILE = "/dev/cpu_dma_latency"


class QuietCpu:
    """Pins the program, asks for SCHED_FIFO, and keeps all CPUs from deep sleep (C-states) while it lives.

    What is not permitted is said in `weaker`, and the program goes on without. A program that spins under SCHED_FIFO
    takes its CPU whole: kernels give others 5 % of it in one piece, up to 50 ms a second, which shows as lateness.
    """

    def __init__(self, cpu: int | None, realtime: int) -> None:
        self.weaker: list[str] = []
        self._realtime = 0
        self._allowed = os.sched_getaffinity(0)
        self._pinned = cpu is not None
        if cpu is not None:
            if cpu not in self._allowed:
                raise AgentError(f"CPU {cpu} is not available: the program may run on {_listed(self._allowed)}.", 2)
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
            raise AgentError(f"{priority} is not a priority of SCHED_FIFO: use 1 to {most}.", 2)
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
            self._realtime = priority
        except PermissionError as error:
            self.weaker.append(f"no SCHED_FIFO: {error.strerror}; other programs may take the CPU")

    def leave(self) -> int | None:
        """Move to another CPU, as a program of higher priority holds this one; the CPU left, None if it must stay.

        The scheduler does this by itself where a CPU is idle. Where all are busy it leaves a program for long beside
        one of SCHED_DEADLINE, such as what forwards the frames of a virtual lab.
        """
        here = int(ctypes.CDLL(None).sched_getcpu())
        others = self._allowed - {here}
        if self._pinned or here < 0 or not others:
            return None
        os.sched_setaffinity(0, others)
        return here

    def as_dict(self) -> dict[str, Any]:
        """For a header."""
        return {
            "cpus": sorted(os.sched_getaffinity(0)),
            "realtime_priority": self._realtime,
            "kept_awake": self._awake is not None,
        }


def _listed(cpus: set[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))
