"""What a study will cost, before it starts: processor time from the messages and bytes of its programs.

Times of a message and of a packet's hop were fitted to replays of the papers' programs on one core of a server of 2020;
the estimate is right within a factor of three there. While a study runs, what its points took corrects the estimate.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log2
from typing import Final

from pydantic import TypeAdapter

from eee_testbed.simulation.facts import facts_of
from eee_testbed.simulation.point import BrokenSimulation
from eee_testbed.simulation.replay.jobs import AnyProgram, Programs, load_program
from eee_testbed.simulation.replay.summary import Collective, summary_of
from eee_testbed.simulation.studies.expand import Case
from eee_testbed.simulation.studies.points import StudyTask

_START_S: Final = 0.3
_MESSAGE_S: Final = 1.0e-6
_HOP_S: Final = 0.15e-6
_HOPS_OF_DIAMETER: Final = 0.5
"""Links that a packet takes, of the most that it may take."""

_PROGRAM: Final[TypeAdapter[AnyProgram]] = TypeAdapter(AnyProgram)


@dataclass(frozen=True, slots=True)
class Work:
    """Of a program: messages and bytes, collective calls included, and the longest computing of a rank."""

    messages: float
    byte: float
    compute_s: float


def estimated_s(tasks: Sequence[StudyTask], say: Callable[[int, int], None] | None = None) -> dict[str, float]:
    """Processor time of a point of each case, by the case's key; `say` gets how many of how many cases are estimated.

    Each program is counted once; those of thousands of ranks take some seconds.
    """
    cases = {task.case.key: task.case for task in tasks}
    found: dict[str, float] = {}
    for key, case in cases.items():
        found[key] = _point_s(case)
        if say is not None:
            say(len(found), len(cases))
    return found


def corrected(estimate_s: float, spent_s: float, estimate_of_spent_s: float) -> float:
    """An estimate, as what is done already was wrong.

    >>> corrected(100.0, spent_s=30.0, estimate_of_spent_s=20.0)
    150.0
    """
    return estimate_s * spent_s / estimate_of_spent_s if estimate_of_spent_s > 0 and spent_s > 0 else estimate_s


def _point_s(case: Case) -> float:
    programs = case.description.programs
    if programs is None:
        raise BrokenSimulation(f"{case.key} has no programs: write programs: with jobs.")
    packet_byte = case.description.router.packet_flits * programs.flit_byte
    hops = max(1.0, _HOPS_OF_DIAMETER * facts_of(case.description.network.form())["diameter"])
    found_s = _START_S
    for work, times in _works(programs):
        packets = max(work.messages, work.byte / packet_byte)
        found_s += times * (work.messages * _MESSAGE_S + packets * hops * _HOP_S)
    return found_s


def _works(programs: Programs) -> list[tuple[Work, float]]:
    """Each job's work, and how often it is done."""
    works = [(work_of(job.program), job.copies) for job in programs.jobs]
    longest_s = max(work.compute_s for work, _ in works)
    repeats = [longest_s / work.compute_s if programs.repeat and work.compute_s else 1.0 for work, _ in works]
    return [(work, copies * max(times, 1.0)) for (work, copies), times in zip(works, repeats, strict=True)]


def work_of(program: AnyProgram) -> Work:
    """Count a program's messages; UnreadableFile if its file cannot be read."""
    return _work(json.dumps(program.model_dump(mode="json"), sort_keys=True))


@lru_cache(maxsize=512)
def _work(program: str) -> Work:
    found = summary_of(load_program(_PROGRAM.validate_json(program)))
    collective = [_collective(one) for one in found.collectives]
    return Work(
        found.messages + sum(messages for messages, _ in collective),
        found.byte + sum(byte for _, byte in collective),
        found.compute_ns.most / 1e9,
    )


def _collective(one: Collective) -> tuple[float, float]:
    """Messages and bytes of all ranks: blocks to everybody in a ring or in pairs, else trees up and down."""
    if one.call.startswith(("alltoall", "allgather")):
        return one.times * one.ranks * one.ranks / 2, one.times * one.ranks * (one.ranks - 1) * max(one.byte, 0)
    levels = ceil(log2(max(one.ranks, 2)))
    if one.call == "barrier":
        return one.times * one.ranks * levels, 0.0
    return one.times * 2 * one.ranks, one.times * 2 * one.ranks * max(one.byte, 0)
