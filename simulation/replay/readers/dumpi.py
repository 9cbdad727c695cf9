"""DUMPI traces: from the calls that ranks made, with their arguments, to a program.

Communicators are numbers that each rank counts by itself, so which ranks a new one has follows from the calls of all
ranks: all files are read side by side, and a rank waits at a call that makes a communicator until the others have come
there. A receive takes its sender, tag and bytes from the status of its completion, if the trace has it. Waitany,
Waitsome and tests become waits for what they found complete; other calls carry nothing, and their time is not the
program's computing.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.dumpi_file import MAGIC, RankFile, read_rank_file
from eee_testbed.simulation.replay.readers.dumpi_rank import WORLD, walk_of
from eee_testbed.simulation.replay.readers.dumpi_world import Making, World
from eee_testbed.simulation.replay.readers.reading import Options, Place, head_of

_RANK: Final = re.compile(r"-(\d+)\.bin$")


def looks_like_dumpi(head: bytes) -> bool:
    """Whether a file is that of a rank, or the one that names them."""
    return head.startswith(MAGIC) or (b"fileprefix=" in head and b"numprocs=" in head)


def read_dumpi(files: Sequence[Path], options: Options) -> Program:
    """The program of the files of all ranks, or of the .meta file beside them; UnreadableFile says what is wrong."""
    named = _of_meta(files[0]) if len(files) == 1 and not head_of(files[0]).startswith(MAGIC) else files
    by_rank: dict[int, tuple[Path, RankFile]] = {}
    for path in named:
        file = read_rank_file(path)
        rank = _rank_of(path, file)
        if rank in by_rank:
            Place(path).refuse(f"is a second file of rank {rank}", "name each rank's file once")
        by_rank[rank] = (path, file)
    ranks = _ranks_of(by_rank.values(), len(by_rank))
    missing = next((rank for rank in range(ranks) if rank not in by_rank), None)
    if missing is not None or len(by_rank) != ranks:
        which = f"no file of rank {missing}" if missing is not None else "a file of another rank"
        Place(named[0]).refuse(f"belongs to a trace of {ranks} ranks, and {which} is named", "name those of all ranks")
    return _program([by_rank[rank] for rank in range(ranks)], options.name)


def _of_meta(path: Path) -> Sequence[Path]:
    """The files of ranks beside a .meta file."""
    files = sorted(path.parent.glob(f"{path.stem}-*.bin"))
    if not files:
        Place(path).refuse(f"has no files {path.stem}-*.bin beside it", "name the files of the ranks")
    return files


def _rank_of(path: Path, file: RankFile) -> int:
    named = _RANK.search(path.name)
    if named is not None:
        return int(named[1])
    told = [call.arguments[1] for call in file.calls if call.name == "Comm_rank" and call.arguments[0] == WORLD]
    return int(told[0]) if told else 0


def _ranks_of(files: Any, count: int) -> int:
    for _, file in files:
        for call in file.calls:
            if call.name == "Comm_size" and call.arguments[0] == WORLD:
                return int(call.arguments[1])
    return count


def _program(files: Sequence[tuple[Path, RankFile]], name: str) -> Program:
    """Let each rank go on until it waits for others; when all have come, tell them the new communicators."""
    world = World(len(files), name)
    walks = [walk_of(world, rank, path, file) for rank, (path, file) in enumerate(files)]
    waiting: defaultdict[tuple[int, int], dict[int, Making]] = defaultdict(dict)
    ready: list[tuple[int, int | None]] = [(rank, None) for rank in range(world.ranks)]
    while ready:
        rank, told = ready.pop()
        try:
            making = walks[rank].send(told)
        except StopIteration:
            continue
        old = world.communicators[making.old]
        key = (making.old, old.made[rank])
        old.made[rank] += 1
        waiting[key][rank] = making
        if len(waiting[key]) == len(old.members):
            asked = waiting.pop(key)
            names = sorted({one.name for one in asked.values()})
            if len(names) > 1:
                Place(files[min(asked)][0]).refuse(f"has calls of MPI_{' and MPI_'.join(names)} at once")
            ready += world.made(names[0], key[0], asked).items()
    if waiting:
        (_, at), asked = next(iter(waiting.items()))
        rank, making = next(iter(asked.items()))
        Place(files[rank][0]).refuse(f"has a call MPI_{making.name} (number {at}) that other ranks did not make")
    if world.begins and world.ends and max(world.ends) > min(world.begins):
        world.writer.recorded(max(world.ends) - min(world.begins))
    world.say()
    return world.writer.program()
