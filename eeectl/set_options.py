"""Parse command-line values from which verbs build an experiment."""

from collections.abc import Iterator, Sequence

from lab.errors import LabError
from lab.folder import find_lab, load_lab


def all_hosts(lab: str) -> list[str]:
    """Names of a lab's hosts, in the order of its inventory."""
    return [host.name for host in load_lab(find_lab(lab)).hosts]


def pairs(arguments: Sequence[str], example: str) -> Iterator[tuple[str, str]]:
    """Split NAME=VALUE arguments into name and value; LabError, with an example, if one has another form."""
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not (name and equals and text):
            raise LabError(f"'{argument}' is not NAME=VALUE: write, for example, {example}.")
        yield name, text


def value(text: str) -> str | int | float | bool:
    """A number, true or false if the text is one; anything else, such as on and off, stays a string."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
