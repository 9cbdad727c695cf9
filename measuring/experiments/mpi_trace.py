"""The recorder of MPI calls (`benchmarks/on_nodes/record_calls.c`) on nodes, and its files in a trial's folder.

Files come back in parts while the node clears up, also from a program that failed: a trace may be large.
"""

import base64
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eee_testbed import benchmarks
from eee_testbed.benchmarks.recorder.table import FILE, FOLDER
from eee_testbed.benchmarks.recorder.wrappers import header
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Host
from eee_testbed.measuring.experiments.preloads import Preload
from eee_testbed.measuring.experiments.raw_files import RawFile

_SOURCE: Final = "record_calls.c"
_LIBRARY: Final = "record_calls.so"
_NAME: Final = re.compile(rf"{FILE}\.\d{{1,7}}")
_MOST_PART: Final = 1 << 22
_FIRST_OF: Final = 'for one in {names}; do command -v "$one" >/dev/null && exec "$one" "$@"; done; exec "$one" "$@"'


def _sources() -> Mapping[str, bytes]:
    text = (Path(benchmarks.__file__).parent / "on_nodes" / _SOURCE).read_bytes()
    return {_SOURCE: text, "record_wrappers.h": header().encode("ascii")}


PATTERN: Final = f"{FILE}.*"
"""The files of a node's ranks."""


def recorder(mpicc: Sequence[str]) -> Preload:
    """The recorder, compiled by the first of these compilers that a node has."""
    compiler = mpicc[:1] if len(mpicc) == 1 else ("sh", "-c", _FIRST_OF.format(names=" ".join(mpicc)), "sh")
    words = (*compiler, "-O1", "-w", "-shared", "-fPIC", "-o", _LIBRARY, _SOURCE, "-ldl", "-lpthread")
    return Preload(_LIBRARY, _sources, words, "EEE_TRACE", FILE)


def take_part(host: Host, folder: Path, answer: Mapping[str, Any]) -> None:
    """Append a part of a rank's file, as a keeper sends it, to that in a trial's folder; Unreadable if it is none."""
    name = answer.get("part")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Unreadable(host.name, "the trace of its ranks", f"a part of {name!r}")
    unpacked = zlib.decompressobj()
    try:
        data = unpacked.decompress(base64.b64decode(answer["data"], validate=True), _MOST_PART)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise Unreadable(host.name, "the trace of its ranks", str(error)) from error
    if not unpacked.eof:
        raise Unreadable(host.name, "the trace of its ranks", f"a part above {_MOST_PART} bytes, or a damaged one")
    with RawFile(folder / FOLDER / name) as file:
        file.append(data)


def clear_traces(folder: Path) -> None:
    """Remove what an earlier program left in a trial's folder: parts are appended."""
    for path in (folder / FOLDER).glob(PATTERN):
        path.unlink()


def recorded_ranks(folder: Path) -> int:
    """How many ranks of a trial left a trace."""
    return sum(_NAME.fullmatch(path.name) is not None for path in (folder / FOLDER).glob(PATTERN))
