"""Parse command-line values from which verbs build an experiment."""

import re
from collections.abc import Collection, Iterator, Sequence

from eee_testbed.lab.errors import LabError


def names_in(arguments: Sequence[str]) -> tuple[str, ...]:
    """Names of a list as every verb takes it: n01,n02 or n01 n02, or both."""
    return tuple(name for argument in arguments for name in argument.split(",") if name)


def pair_in(text: str, known: Collection[str]) -> tuple[str, str]:
    """The two different names of FROM:TO; LabError, with an example, if it is no such pair."""
    first, _, second = text.partition(":")
    if first not in known or second not in known or first == second:
        raise LabError(f"'{text}' does not name two hosts of the lab: write FROM:TO, like {':'.join(list(known)[:2])}.")
    return first, second


def pairs(arguments: Sequence[str], example: str) -> Iterator[tuple[str, str]]:
    """Split NAME=VALUE arguments into name and value; LabError, with an example, if one has another form."""
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not (name and equals and text):
            raise LabError(f"'{argument}' is not NAME=VALUE: write, for example, {example}.")
        yield name, text


def share_of(text: str, what: str) -> float:
    """A share such as "2%" or "0.02", of something that `what` names; LabError for anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip())
    share = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0 < share < 1:
        raise LabError(f"invalid {what} '{text}': write it as 2% or 0.02.")
    return share


def value(text: str) -> str | int | float | bool:
    """A number, true or false if the text is one; anything else, such as on and off, stays a string."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
