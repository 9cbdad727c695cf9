"""How much a test tries: a tenth before a commit, all of it in `make test`, twenty times as much overnight.

`EEE_EFFORT` says which; each is a profile of hypothesis. A law names the number of its examples for `make test`.
"""

import os
from typing import Any, Final

from hypothesis import Phase, settings

EFFORTS: Final = {"check": 0.1, "test": 1.0, "soak": 20.0}
"""How many examples are drawn, relative to `make test`."""

_FEWEST: Final = 5
_UNNAMED: Final = 100
"""Examples of a law that names no number, as hypothesis has it."""

_WITHOUT_SHRINKING: Final = tuple(phase for phase in Phase if phase not in (Phase.shrink, Phase.explain))


def effort() -> str:
    """The name of the effort; a name that is no effort ends the run."""
    name = os.environ.get("EEE_EFFORT", "test")
    if name not in EFFORTS:
        raise ValueError(f"EEE_EFFORT is {name!r}: use {', '.join(EFFORTS)}.")
    return name


def load_profile() -> None:
    """Register the efforts as profiles and load the one that is asked for."""
    for name in EFFORTS:
        phases = _WITHOUT_SHRINKING if name == "check" else tuple(Phase)
        settings.register_profile(name, max_examples=examples_of(_UNNAMED, name), deadline=None, phases=phases)
    settings.load_profile(effort())


def law(examples: int, **options: Any) -> settings:
    """Settings of a law that `make test` tries on this many examples; options are those of hypothesis."""
    return settings(max_examples=examples_of(examples, effort()), **options)


def examples_of(examples: int, name: str) -> int:
    """Of a law that names `examples`, how many are drawn with an effort; never fewer than five of those it names."""
    return max(min(_FEWEST, examples), round(examples * EFFORTS[name]))
