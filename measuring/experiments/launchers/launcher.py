"""What a launcher is: the command line that starts a program's ranks, and what can be known through it. Pure."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eee_testbed.benchmarks.program import Launch, Placement

_WORDS: Final = 240

Diagnose = Callable[[int, str, Sequence[str]], tuple[str, str]]
"""Of an exit status, the standard error and the hosts: the host at fault ("" if unknown), and what happened."""


@dataclass(frozen=True, slots=True)
class Start:
    """What is started: ranks of `launch` by `placement`, in `folder`, which is the same on all nodes.

    `job` marks every process, as EEE_JOB of its environment. `crowded`: a host has fewer processors than ranks.
    `traffic`: messages are counted, by a launcher that can. `interfaces`: the hosts' cards on the data network.
    `words`: the user's own words for the launcher. `allocation`: a job of the batch system to run in, "" for none.
    """

    launch: Launch
    placement: Placement
    job: str
    folder: str
    traffic: bool = False
    crowded: bool = False
    interfaces: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    allocation: str = ""

    @property
    def environment(self) -> Mapping[str, str]:
        """What every rank has in its environment."""
        return {"EEE_JOB": self.job, **self.launch.environment}


@dataclass(frozen=True, slots=True)
class Launcher:
    """A launcher of the table.

    `argv` makes the command that runs on the first host, in any folder there; it gets no secret. `vendor`: the MPI
    whose programs it starts; "" for one that starts any. `commands` have to be on every node, `first_commands` on the
    first. `files` go to the private folder of every node. `mpicc`: compilers of its MPI, of which a node has one; none
    where the MPI is not known. `asks` prints the version, which `version` finds, and `named` is put before it.
    `counts_messages`: whether messages between ranks can be counted. `if_alone`: what also helps where each rank ran
    alone, as of another MPI.
    """

    name: str
    about: str
    argv: Callable[[Start], list[str]]
    diagnose: Diagnose
    vendor: str = ""
    commands: tuple[str, ...] = ()
    first_commands: tuple[str, ...] = ()
    files: Callable[[Placement], Mapping[str, bytes]] = lambda _: {}
    mpicc: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    version: str = ""
    named: str = ""
    counts_messages: bool = False
    if_alone: str = ""
    is_command: bool = False
    """Whether the user's words are the whole command line, with places for hosts."""

    def needed_on_first(self, words: Sequence[str]) -> tuple[str, ...]:
        """Commands that the first host has to have."""
        return (*self.commands, *self.first_commands, *(words[:1] if self.is_command else ()))

    def version_in(self, printed: str) -> str:
        """Name and version, from what `asks` printed; "" if they are not there."""
        found = re.search(self.version, printed) if self.version else None
        return "" if found is None else f"{self.named} {found[1]}"


def split_words(text: str) -> tuple[str, ...]:
    """The words of a command line, as a shell would split them; ValueError with a sentence if it cannot."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"the launcher's words cannot be split ({error}): close the quotation") from error


def rank_lines(placement: Placement) -> bytes:
    """A host file that all launchers read alike: a line for each rank, with its host."""
    return "".join(f"{placement.host_of(rank)}\n" for rank in range(placement.ranks)).encode()


def ucx_on(interfaces: Sequence[str]) -> Mapping[str, str]:
    """The environment that keeps MPICH on these cards: UCX, its usual transport, would use all networks of a host."""
    cards = tuple(dict.fromkeys(interfaces))
    if not cards:
        return {}
    libfabric = {"FI_TCP_IFACE": cards[0]} if len(cards) == 1 else {}
    return {"UCX_NET_DEVICES": ",".join(cards), **libfabric}


def last_line(errors_text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in errors_text.splitlines() if line.strip(" =\t")]
    return (lines[-1] if lines else "no output")[:_WORDS].rstrip(".")
