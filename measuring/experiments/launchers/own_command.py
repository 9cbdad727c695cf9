"""A command line of the user that starts the ranks: places for hosts and numbers are filled in. Pure.

The program follows the command line. It enters the private folder by itself, and brings its environment along: a
launcher that knows neither will do.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eee_testbed.benchmarks.program import Placement
from eee_testbed.measuring.experiments.launchers.launcher import Start, last_line, rank_lines

_HOST_FILE: Final = "hosts_of_ranks"
_PLACE: Final = re.compile(r"\{(\w+)\}")
_ENTER: Final = 'cd "$0" && exec "$@"'
PLACES: Final = ("hosts", "hostfile", "ranks", "ranks_per_host")


def files(placement: Placement) -> Mapping[str, bytes]:
    """The host file."""
    return {_HOST_FILE: rank_lines(placement)}


def require_places(words: Sequence[str]) -> None:
    """ValueError with a sentence if the words are no command line that says where to run."""
    named = [name for word in words for name in _PLACE.findall(word)]
    if not words:
        raise ValueError(
            "launcher command needs launcher_words: give a command line, as mpiexec -host {hosts} -n {ranks}"
        )
    unknown = [name for name in named if name not in PLACES]
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in PLACES)
        raise ValueError(f"the launcher's words have an unknown place {{{unknown[0]}}}: use {known}")
    if not {"hosts", "hostfile"} & {*named}:
        raise ValueError("the launcher's words do not say where to run: put {hosts} or {hostfile} into them")


def argv(start: Start) -> list[str]:
    """The command line with its places filled in, and the program behind it."""
    placement = start.placement
    values = {
        "hosts": ",".join(placement.hosts),
        "hostfile": f"{start.folder}/{_HOST_FILE}",
        "ranks": str(placement.ranks),
        "ranks_per_host": str(placement.ranks_per_host),
    }
    words = [_PLACE.sub(lambda found: values[found[1]], word) for word in start.words]
    environment = [f"{name}={value}" for name, value in start.environment.items()]
    return [*words, "env", *environment, "sh", "-c", _ENTER, start.folder, *start.launch.argv]


def diagnose(status: int, errors_text: str, hosts: Sequence[str]) -> tuple[str, str]:  # noqa: ARG001 - it may say anything
    """What can be said of any launcher."""
    return "", f"the launcher ended with status {status} ({last_line(errors_text)}): check its output."
