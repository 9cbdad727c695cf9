"""SimGrid's time-independent traces: a line a call, `RANK VERB ARGUMENTS`, in one file or one for each rank.

Computing is counted in operations there, so a speed is needed. The engine reads the lines (`engine/replay/src/ti.rs`
says what they become), as a large trace has millions.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eee_engine import TraceError, read_time_independent

from eee_testbed.lab.counted_text import counted
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.replay.calls import COLLECTIVES
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.reading import REMEDY, Options, bytes_of, head_of
from eee_testbed.simulation.replay.records import calls_of

_FLOPS_PER_S: Final = 1e9
_FIRST: Final = frozenset({b"init", b"location", b"compute", b"comm_size"})
_WHOLE: Final = re.compile(rb"^[ \t]*\d+[ \t]+finalize\b", re.MULTILINE)


def looks_like_ti(head: bytes) -> bool:
    """Whether a file begins as one of these: a rank, and what a program's first line may be."""
    lines = (line.split() for line in head.splitlines())
    words = next((line for line in lines if line and not line[0].startswith(b"#")), [])
    return len(words) > 1 and words[0].isdigit() and words[1].lower() in _FIRST


def listed_files(files: Sequence[Path]) -> Sequence[Path]:
    """The files of the ranks that a single file lists, one a line, as SMPI writes it beside them; else the files.

    SMPI names them as seen from where it ran.
    """
    if len(files) != 1:
        return files
    first = head_of(files[0]).split(b"\n", 1)[0].strip()
    for folder in (files[0].parent, Path()):
        if first and os.path.isfile(folder / os.fsdecode(first)):  # noqa: PTH113 - of whatever bytes: no error
            lines = map(bytes.strip, bytes_of(files[0]).splitlines())
            return [folder / os.fsdecode(line) for line in lines if line]
    return files


def read_ti(files: Sequence[Path], options: Options) -> Program:
    """The program of the files; UnreadableFile names file and line of what cannot be used."""
    flops_per_s = options.flops_per_s or _FLOPS_PER_S
    texts = [bytes_of(path) for path in files]
    try:
        trace = read_time_independent(texts, 1e9 / flops_per_s)
    except TraceError as error:
        file, line, sentence, remedy = error.args
        raise UnreadableFile(str(files[file]), line, sentence, remedy or REMEDY) from error
    calls = calls_of(trace["rows"], trace["lists"], trace["ends"])
    assumed = [f"Computing is given in operations: {flops_per_s:g} of them take a second."]
    if trace["makes_communicators"]:
        assumed.append(
            "Communicators are made, but the format does not name them in calls: all calls are on the world."
        )
    elif calls["call"].is_in([int(call) for call in COLLECTIVES]).any():
        assumed.append("Collective calls are taken as those of all ranks: the format has no communicators.")
    if trace["older_lists"]:
        assumed.append("Lists are as SMPI wrote them up to 3.31, so MPI_Alltoallv counts bytes, whatever its types.")
    if trace["tests"]:
        assumed.append("Tests take no time; where no wait follows, the last test of a request is its wait.")
    ranks = len(trace["ends"])
    if (whole := sum(len(_WHOLE.findall(text)) for text in texts)) < ranks:
        assumed.append(
            f"Only {whole} of {ranks} ranks end with finalize: the trace may have been cut off, and is used as it is."
        )
    source = f"SimGrid time-independent trace, {counted(len(files), 'file')}"
    return Program(options.name, ranks, calls, (range(ranks),), source, tuple(assumed))
