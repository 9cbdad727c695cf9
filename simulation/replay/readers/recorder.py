"""Traces of the recorder of `eeectl bench --trace`: one file a rank, in a folder `traces`.

Bytes are exact, and so are the sources, tags and bytes that receives found. Communicators are known by their members in
order, and by their place among those of the same members. Neighbourhood calls become the messages between neighbours.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from eee_testbed.benchmarks.recorder.function import Group
from eee_testbed.benchmarks.recorder.table import FILE, FOLDER
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from eee_testbed.simulation.replay.readers.reading import Options, Place
from eee_testbed.simulation.replay.readers.recorder_calls import Recorded, Seen
from eee_testbed.simulation.replay.readers.recorder_file import RankFile
from eee_testbed.simulation.replay.readers.recorder_steps import cut

_LEFT_OUT: Final[Mapping[Group, str]] = {
    Group.ONE_SIDED: "One-sided communication is",
    Group.FILE: "Reading and writing files is",
    Group.PARTITIONED: "Partitioned communication is",
}


def files_of(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Files as they are; of a run's or a trial's folder those that its ranks recorded; LabError if there are none."""
    files: list[Path] = []
    for path in paths:
        files += _in_folder(path) if path.is_dir() else [path]
    return tuple(files)


def _in_folder(folder: Path) -> Sequence[Path]:
    traces = [place for place in (folder, folder / FOLDER, *sorted(folder.glob(f"trials/*/{FOLDER}"))) if _files(place)]
    if not traces:
        raise LabError(f"{folder} has no recorded trace: run the program with --trace, or name the trace's files.")
    if len(traces) > 1:
        raise LabError(f"{folder} has traces of {len(traces)} trials: name one of them, such as {traces[-1]}.")
    return _files(traces[0])


def _files(folder: Path) -> Sequence[Path]:
    files = [file for file in folder.glob(f"{FILE}.*") if file.suffix[1:].isdecimal()]
    return sorted(files, key=lambda one: int(one.suffix[1:]))


def read_recorder(paths: Sequence[Path], options: Options) -> Program:
    """The program of the files of all ranks; UnreadableFile names what cannot be used."""
    files = rank_files(paths)
    writer = ProgramWriter(options.name, len(files), f"recorded calls, {len(files)} ranks")
    seen, recorded = Seen(), list[Recorded]()
    for file in files:
        one = Recorded(file, writer, seen)
        one.read()
        recorded.append(one)
    ended_early = [one.steps.rank for one, file in zip(recorded, files, strict=True) if not file.whole]
    if ended_early:
        messages, collectives = cut([one.steps for one in recorded], writer.communicators)
        writer.assume(_early(ended_early, len(files), messages, collectives))
    for one in recorded:
        one.steps.write(writer.rank(one.steps.rank))
    for sentence in _sentences(seen):
        writer.assume(sentence)
    writer.recorded(max(one.duration_ns for one in recorded))
    return writer.program()


def rank_files(paths: Sequence[Path]) -> tuple[RankFile, ...]:
    """The files by rank; UnreadableFile if one is missing, or of another run."""
    files: dict[int, RankFile] = {}
    for path in paths:
        file = RankFile(path)
        head = file.head
        if head.rank in files:
            Place(path).refuse(
                f"is of rank {head.rank}, as {files[head.rank].path.name} is", "name each rank's file once"
            )
        if files and head.ranks != next(iter(files.values())).head.ranks:
            Place(path).refuse(f"is of {head.ranks} ranks, unlike the others", "name the files of one run")
        files[head.rank] = file
    ranks = next(iter(files.values())).head.ranks
    if len(files) < ranks:
        missing = next(rank for rank in range(ranks) if rank not in files)
        Place(paths[0]).refuse(f"is of {ranks} ranks, and rank {missing} is missing", "name the files of all ranks")
    return tuple(files[rank] for rank in range(ranks))


def _early(early: Sequence[int], ranks: int, messages: int, collectives: int) -> str:
    names = ", ".join(map(str, early[:8])) + (" and others" if len(early) > 8 else "")
    return (
        f"The files of {len(early)} of {ranks} ranks end early (rank {names}), as the program was killed or a disk was "
        f"full: {messages} messages and {collectives} collective calls that lack their other end are left out."
    )


def _sentences(seen: Seen) -> Iterable[str]:
    if seen.wildcards:
        yield (
            f"{seen.wildcards} receives were from any source or with any tag: each is replayed with the source and tag "
            "of the message that it took."
        )
    if seen.threads:
        yield (
            "Several threads called MPI at once: what overlapped begins where it began and is waited for where it "
            "ended; the time before a call begins is taken as computing."
        )
    if seen.unended:
        yield f"{seen.unended} receives that were begun and not found complete are left out."
    if seen.probes or seen.asked:
        yield (
            f"Probes ({seen.probes}) and tests that found nothing ({seen.asked}) take no time; the time between them "
            "is computing."
        )
    if seen.makers:
        yield f"Making and freeing communicators takes no time: {_counts(seen.makers)}."
    for group, counts in seen.left_out.items():
        yield f"{_LEFT_OUT[group]} left out: {_counts(counts)}."
    if seen.failed:
        yield f"Calls that returned an error are left out: {_counts(seen.failed)}."


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
