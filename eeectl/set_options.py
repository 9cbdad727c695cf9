"""Words of a command line that say what an experiment is to be."""

from collections.abc import Iterator, Sequence

from lab.errors import LabError
from lab.folder import find_lab, load_lab


def all_hosts(lab: str) -> list[str]:
    """Names of a lab's hosts, in the order of its inventory."""
    return [host.name for host in load_lab(find_lab(lab)).hosts]


def pairs(words: Sequence[str], example: str) -> Iterator[tuple[str, str]]:
    """NAME=VALUE, as name and value; LabError, with an example, where a word is not of that form."""
    for word in words:
        name, equals, text = word.partition("=")
        if not (name and equals and text):
            raise LabError(f"'{word}' is not NAME=VALUE: write it such as {example}.")
        yield name, text


def value(text: str) -> str | int | float | bool:
    """A number or a truth where it is one; on and off stay words."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
