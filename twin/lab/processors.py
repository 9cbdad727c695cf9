"""Processors of hosts in lab time: how much a host may use, and how much of its time it was busy."""

from collections.abc import Callable
from pathlib import Path

from eee_testbed.lab.model import Lab
from eee_testbed.twin.truth.truth import Truth


def cpu_ratios(lab: Lab, truth: Truth) -> dict[str, float]:
    """Of the hosts that have one."""
    ratios = {host.name: truth.node(host.name).cpu_ratio for host in lab.hosts}
    return {name: ratio for name, ratio in ratios.items() if ratio is not None}


def quotas(lab: Lab, truth: Truth, cpu_groups: str) -> list[tuple[Path, float]]:
    """(folder of the control group, ratio) of each host with a `cpu_ratio`."""
    return [(Path(cpu_groups) / name, ratio) for name, ratio in cpu_ratios(lab, truth).items()]


class LabCpu:
    """A host's processor time in lab seconds, for its watts.

    A host with a `cpu_ratio` computes as that many cores would in lab time: its processor time counts as it is, that
    which it takes to wait and to poll included. Any other host computes 1/rate times as fast at a slow rate: it is busy
    in lab time for as large a share as in the wall's, so its processor time counts times the rate, the mean of each
    stretch between two calls.
    """

    def __init__(self, cpu_s: Callable[[], float], times_s: Callable[[], tuple[float, float]]) -> None:
        """`cpu_s`: processor time used so far; `times_s`: lab time and the wall's."""
        self._cpu_s = cpu_s
        self._times_s = times_s
        self._before = cpu_s(), *times_s()
        self._lab_cpu_s = 0.0

    def __call__(self) -> float:
        """Processor seconds in lab time so far."""
        now = self._cpu_s(), *self._times_s()
        cpu_s, lab_s, wall_s = (after - before for after, before in zip(now, self._before, strict=True))
        if wall_s > 0:
            self._lab_cpu_s += max(cpu_s, 0.0) * lab_s / wall_s
            self._before = now
        return self._lab_cpu_s
