"""Slurm's `srun`: its command line, and the diagnosis of its error messages. Pure.

Names of hosts in the inventory have to be those of Slurm's nodes.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eee_testbed.benchmarks.program import Placement
from eee_testbed.measuring.experiments.launchers.launcher import Start, last_line, rank_lines, ucx_on

_HOSTS: Final = "ranks_by_host"
_TASK: Final = re.compile(r"srun: error: (\S+): tasks? [\d,-]+: (.+)")
_REFUSED: Final = re.compile(r"srun: error: (Unable to .+|Invalid .+|.*[Nn]ot authorized.*)")
_NO_PMI: Final = re.compile(r"not built with SLURM's PMI|PMI server not found|PMI2?_Init failed")
"""What Open MPI and MPICH say where `--mpi` of `srun` is none that they can speak."""

_EXIT_CODE: Final = re.compile(r"Exited with exit code (\d+)")
_SIGNALLED: Final = 128
_RANK: Final = '"$@"; status=$?; [ $status -eq 0 ] || sleep 1; exit $status'
"""A rank that failed stays for a second: `srun` ends the others at once and drops what they all wrote just before."""

ALLOCATION: Final = "SLURM_JOB_ID"
"""The variable of the environment, where `salloc` started a shell, that names the job."""


def files(placement: Placement) -> Mapping[str, bytes]:
    """Hosts of the ranks, in order: Slurm would sort them."""
    return {_HOSTS: rank_lines(placement)}


def argv(start: Start) -> list[str]:
    """`srun` in the user's allocation, else in one of its own; ranks are numbered host by host."""
    environment = {"SLURM_HOSTFILE": f"{start.folder}/{_HOSTS}", **ucx_on(start.interfaces), **start.environment}
    words = ["env", *(f"{name}={value}" for name, value in environment.items()), "srun"]
    words += [f"--nodes={len(start.placement.hosts)}", f"--ntasks={start.placement.ranks}"]
    words += ["--job-name=eeectl", "--distribution=arbitrary", f"--chdir={start.folder}", "--export=ALL"]
    words += ["--kill-on-bad-exit=1"]
    words += [f"--jobid={start.allocation}"] if start.allocation else []
    return [*words, *start.words, "sh", "-c", _RANK, "sh", *start.launch.argv]


def diagnose(status: int, errors_text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Diagnose a failed `srun` from what it said: the host at fault, and what happened."""
    if _NO_PMI.search(errors_text):
        return "", (
            "the program's MPI found no PMI of Slurm: add --launcher-words --mpi=pmix, or another of those that "
            "`srun --mpi=list` shows."
        )
    if task := _TASK.search(errors_text):
        code = _EXIT_CODE.search(task[2])
        signal = int(code[1]) - _SIGNALLED if code else 0
        reason = f"by signal {signal}" if signal > 0 else task[2]
        return task[1] if task[1] in hosts else "", f"a rank ended there ({reason}): check its output."
    if found := _REFUSED.search(errors_text):
        return "", f"Slurm did not start it ({found[1].rstrip('.')}): check the allocation and the names of the hosts."
    return "", f"srun ended with status {status} ({last_line(errors_text)}): check its output."
