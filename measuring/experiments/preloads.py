"""Libraries that are loaded before the ranks of a program, and see its calls of MPI.

They travel as text, and each node compiles them before the program starts, once for all trials of a run. A node without
a compiler runs the program all the same, and nothing is seen.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eee_testbed.lab.model import Host

_compiled: Final[dict[tuple["Preload", Host], bytes]] = {}
"""What nodes compiled for this process, so that no later trial waits for it: half a second of a processor and more."""


@dataclass(frozen=True, slots=True)
class Preload:
    """A library: what it is compiled of, with which command, and the files that it writes.

    Each rank writes `prefix`.RANK; the environment's `variable` has the path of that without the rank.
    """

    library: str
    sources: Callable[[], Mapping[str, bytes]]
    compile: tuple[str, ...]
    variable: str
    prefix: str


def needed_by(preloads: Sequence[Preload], host: Host) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Files that a node needs, by name, and the command that it runs first in their folder, if any."""
    files: dict[str, bytes] = {}
    commands = []
    for preload in preloads:
        if (preload, host) in _compiled:
            files[preload.library] = _compiled[preload, host]
        else:
            files |= preload.sources()
            commands.append(preload.compile)
    if len(commands) < 2:
        return files, commands[0] if commands else ()
    return files, ("sh", "-c", " && ".join(map(shlex.join, commands)))


def fresh_libraries(preloads: Sequence[Preload], host: Host) -> tuple[str, ...]:
    """Names of the libraries that a node compiles."""
    return tuple(preload.library for preload in preloads if (preload, host) not in _compiled)


def keep_compiled(preloads: Sequence[Preload], host: Host, files: dict[str, bytes]) -> None:
    """Take what a node compiled out of the files that were fetched from it, for the next launch there.

    Simplification: another version of MPI on the node, while this process runs, would not be noticed.
    """
    for preload in preloads:
        if preload.library in files:
            _compiled[preload, host] = files.pop(preload.library)


def preloading(argv: Sequence[str], preloads: Sequence[Preload]) -> tuple[str, ...]:
    """The command of a rank, in the folder of the files that a node needs.

    The first library stands before the second, and all before those that the node itself loads first, such as a lab's
    clock: a library calls the function of the next one.
    """
    if not preloads:
        return tuple(argv)
    steps = [
        f'if [ -e "$PWD/{preload.library}" ]; then export {preload.variable}="$PWD/{preload.prefix}" '
        f'LD_PRELOAD="$PWD/{preload.library}${{LD_PRELOAD:+:$LD_PRELOAD}}"; fi; '
        for preload in reversed(preloads)
    ]
    return ("sh", "-c", "".join(steps) + 'exec "$@"', "sh", *argv)
