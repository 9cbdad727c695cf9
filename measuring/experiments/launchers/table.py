"""The launchers that there are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eee_testbed.measuring.experiments.launchers import mpich, openmpi, own_command, slurm
from eee_testbed.measuring.experiments.launchers.launcher import Launcher, split_words

DEFAULT: Final = "openmpi"

LAUNCHERS: Final[Mapping[str, Launcher]] = {
    one.name: one
    for one in (
        Launcher(
            DEFAULT,
            "Open MPI's mpirun, by SSH",
            openmpi.argv,
            openmpi.diagnose,
            vendor="Open MPI",
            commands=("mpirun",),
            mpicc=("mpicc",),
            asks=("mpirun", "--version"),
            version=r"\(Open MPI\) (\S+)",
            named="Open MPI",
            counts_messages=True,
        ),
        Launcher(
            "mpich",
            "MPICH's mpiexec.hydra, by SSH",
            mpich.argv,
            mpich.diagnose,
            vendor="MPICH",
            commands=("mpiexec.hydra", "hydra_pmi_proxy"),
            files=mpich.files,
            mpicc=("mpicc.mpich", "mpicc"),
            asks=("mpiexec.hydra", "--version"),
            version=r"Version:\s+(\S+)",
            named="MPICH",
        ),
        Launcher(
            "slurm",
            "Slurm's srun, in your allocation or in one of its own",
            slurm.argv,
            slurm.diagnose,
            first_commands=("srun",),
            files=slurm.files,
            asks=("srun", "--version"),
            version=r"slurm(?:-wlm)? (\S+)",
            named="Slurm",
            if_alone=", or another PMI by --launcher-words --mpi=pmi2",
        ),
        Launcher(
            "command",
            "a command line of your own, with {hosts} or {hostfile}, {ranks}, {ranks_per_host}",
            own_command.argv,
            own_command.diagnose,
            files=own_command.files,
            is_command=True,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A launcher, the user's words for it, and the allocation of a batch system that it starts programs in."""

    launcher: Launcher = LAUNCHERS[DEFAULT]
    words: tuple[str, ...] = ()
    allocation: str = ""


OPENMPI: Final = Choice()


def chosen(name: str, words: str, environment: Mapping[str, str]) -> Choice:
    """The launcher of a name, with words as one text, started from a shell of this environment.

    ValueError with a sentence if there is no such launcher, or if the words are none for it.
    """
    if name not in LAUNCHERS:
        raise ValueError(f"unknown launcher {name}: use one of {', '.join(LAUNCHERS)}")
    launcher, split = LAUNCHERS[name], split_words(words)
    if launcher.is_command:
        own_command.require_places(split)
    allocation = environment.get(slurm.ALLOCATION, "") if name == "slurm" else ""
    return Choice(launcher, split, allocation)


def launcher_content(launcher: str, words: str) -> dict[str, str]:
    """The launcher as an experiment's file names it: nothing for the usual one."""
    named = {"launcher": launcher} if launcher != DEFAULT else {}
    return named | ({"launcher_words": words} if words else {})
