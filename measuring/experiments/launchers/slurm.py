"""Slurm's `srun`: its command line, and the diagnosis of its error messages. Pure.

Names of hosts in the inventory have to be those of Slurm's nodes.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eee_testbed.benchmarks.program import Placement
from eee_testbed.measuring.experiments.launchers.launcher import Start, last_line, rank_lines

_HOSTS: Final = "ranks_by_host"
_TASK: Final = re.compile(r"srun: error: (\S+): tasks? [\d,-]+: (.+)")
_REFUSED: Final = re.compile(r"srun: error: (Unable to .+|Invalid .+|.*[Nn]ot authorized.*)")
ALLOCATION: Final = "SLURM_JOB_ID"
"""The variable of the environment, where `salloc` started a shell, that names the job."""


def files(placement: Placement) -> Mapping[str, bytes]:
    """Hosts of the ranks, in order: Slurm would sort them."""
    return {_HOSTS: rank_lines(placement)}


def argv(start: Start) -> list[str]:
    """`srun` in the user's allocation, else in one of its own; ranks are numbered host by host."""
    environment = {"SLURM_HOSTFILE": f"{start.folder}/{_HOSTS}", **start.environment}
    words = ["env", *(f"{name}={value}" for name, value in environment.items()), "srun"]
    words += [f"--nodes={len(start.placement.hosts)}", f"--ntasks={start.placement.ranks}"]
    words += ["--distribution=arbitrary", f"--chdir={start.folder}", "--export=ALL", "--kill-on-bad-exit=1"]
    words += [f"--jobid={start.allocation}"] if start.allocation else []
    return [*words, *start.words, *start.launch.argv]


def diagnose(status: int, errors_text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Diagnose a failed `srun` from what it said: the host at fault, and what happened."""
    if found := _TASK.search(errors_text):
        return found[1] if found[1] in hosts else "", f"a rank ended there ({found[2]}): check its output."
    if found := _REFUSED.search(errors_text):
        return "", f"Slurm did not start it ({found[1].rstrip('.')}): check the allocation and the names of the hosts."
    return "", f"srun ended with status {status} ({last_line(errors_text)}): check its output."
