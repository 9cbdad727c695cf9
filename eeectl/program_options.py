"""The options shared by the verbs that run a program of the table: `bench`, `sweep` and `regulate`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from eee_testbed.eeectl.lab_name import LabName, known_lab, lab_operand
from eee_testbed.eeectl.set_options import names_in
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.launchers.table import DEFAULT, launcher_content

_Flag = Parameter(negative="")
_COMMAND = "command"


def program_of(program: str, command: Sequence[str], parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The program of the table and its parameters: the one that is named, or a command after --.

    LabError if neither or both are given.
    """
    if program and command:
        raise LabError(f"both program {program} and the command {command[0]} are named: name one.")
    if not program and not command:
        raise LabError("no program is named: write one of `eeectl bench --list` first of all, or a command after --.")
    if program:
        return program, dict(parameters)
    if "words" in parameters:
        raise LabError(f"both --set words and the command {command[0]} are named: name one.")
    return _COMMAND, {**parameters, "words": list(command)}


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """Where a program runs, and how it is started.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    hosts
        Hosts on which the program runs, as n01,n02 or n01 n02; the launcher runs on the first. Default: all hosts of
        the lab.
    ranks_per_host
        Ranks on each host.
    launcher
        What starts the MPI ranks: openmpi, mpich, slurm (srun, in your salloc if there is one), or command (the command
        line of --launcher-words).
    launcher_words
        Words that are added to the launcher's command line. With --launcher command: the whole command line, such as
        'mpiexec -host {hosts} -n {ranks}'; it may also have {hostfile} and {ranks_per_host}.
    timeout_s
        Time limit of one repetition, seconds.
    agent_user
        User that runs agents on nodes, if not the inventory's.
    name
        Name of the run. Default: the command and PROGRAM, such as bench-alltoall.
    runs
        Folder in which the run's folder is made.

    """

    lab: LabName = ""
    hosts: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = ()
    ranks_per_host: int = 1
    launcher: str = DEFAULT
    launcher_words: Annotated[str, Parameter(allow_leading_hyphen=True)] = ""
    timeout_s: float = 600.0
    agent_user: str = ""
    name: str = ""
    runs: Path = Path("runs")

    def content(self, program: str, parameters: Mapping[str, Any], default_name: str) -> dict[str, Any]:
        """An experiment that measures the program, without factors, as its file would have it."""
        known = known_lab(self.lab)
        hosts = list(names_in(self.hosts)) or [host.name for host in known.hosts]
        run: dict[str, Any] = {"name": program, "parameters": dict(parameters), "hosts": hosts}
        run |= {"ranks_per_host": self.ranks_per_host, "timeout_s": self.timeout_s}
        run |= launcher_content(self.launcher, self.launcher_words)
        return {
            "name": self.name or default_name,
            "lab": lab_operand(self.lab),
            "measure": {"program": run},
            "recordings": {"user": self.agent_user},
        }


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOptions(LaunchOptions):
    r"""The same with how often it runs, and what is recorded of it.

    Parameters
    ----------
    repetitions
        How often it runs; with factors, how often at each combination of levels in a block.
    figure
        A figure to read in its output, with its unit: 'time=Time = ([\d.]+) s', or 'time[s]=Time:(.*)' where it prints
        none after it; or a set: npb, osu, hpl, hpcg, lammps, gromacs, openfoam, quantum-espresso, hpcc. Give the option
        once for each.
    traffic
        Count calls of MPI functions, and messages and bytes between ranks, which needs --launcher openmpi.
    trace
        Record every call of MPI functions, for `eeectl trace import`; needs mpicc on the hosts, and --launcher openmpi
        or mpich.
    gaps
        Record the idle gaps of the hosts' links; needs CAP_NET_RAW on the hosts.

    """

    repetitions: int = 1
    figure: Annotated[tuple[str, ...], _Flag] = ()
    traffic: Annotated[bool, _Flag] = False
    trace: Annotated[bool, _Flag] = False
    gaps: Annotated[bool, _Flag] = False

    def content(self, program: str, parameters: Mapping[str, Any], default_name: str) -> dict[str, Any]:
        """An experiment that measures the program, without factors, as its file would have it."""
        content = LaunchOptions.content(self, program, parameters, default_name)
        if self.figure:
            content["measure"]["program"]["figures"] = list(self.figure)
        content["recordings"] |= {"traffic": self.traffic, "trace": self.trace, "gaps": self.gaps}
        return content | {"repetitions": self.repetitions}
