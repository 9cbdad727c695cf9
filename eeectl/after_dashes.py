"""Commands after ``--``, for verbs that run one: its words never reach the parser of options."""

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from cyclopts import Parameter

AfterDashes = Annotated[tuple[str, ...], Parameter(parse=False)]
"""A parameter of a verb: the words after ``--``, empty without."""


def takes_command(verb: Callable[..., Any] | None) -> bool:
    """Whether a verb has such a parameter."""
    return _name_in(verb) is not None


def split(verb: Callable[..., Any] | None, tokens: Sequence[str]) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """What the parser gets of a command line, and the verb's argument for the words after ``--``.

    A verb without such a parameter gets all, and no argument.
    """
    name = _name_in(verb)
    if name is None or "--" not in tokens:
        return list(tokens), {}
    place = list(tokens).index("--")
    return list(tokens[:place]), {name: tuple(tokens[place + 1 :])}


def _name_in(verb: Callable[..., Any] | None) -> str | None:
    parameters = {} if verb is None else inspect.signature(verb).parameters
    return next((name for name, one in parameters.items() if one.annotation is AfterDashes), None)
