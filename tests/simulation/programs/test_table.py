"""The table of programs: kinds, docstrings, parameters as files have them, mistakes with their remedy."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from eee_testbed.simulation.programs.table import GENERATORS, AnyParameters


@pytest.mark.parametrize("kind", sorted(GENERATORS))
def test_a_row_says_where_it_is_from_and_what_it_leaves_out(kind: str) -> None:
    row = GENERATORS[kind]
    paragraphs = (row.module.__doc__ or "").split("\n\n")
    assert sum(one.startswith("Source: ") for one in paragraphs) == 1
    assert sum(one.startswith("Left out: ") for one in paragraphs) == 1
    assert TypeAdapter[Any](AnyParameters).validate_python({"kind": kind}) == row.parameters()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "kripke", "zones": [256, 256, 127]}, "127 zones cannot be divided into 4 parts"),
        ({"kind": "minife", "ranks": 96}, "write a power of two of ranks, not 96"),
        ({"kind": "minife", "ranks": 64, "elements": [2, 9, 9]}, "some of 64 ranks would have no elements"),
        ({"kind": "stencil", "procs": [4, 4], "points": [1, 2, 3]}, "2 dimensions have 3 numbers of points"),
        ({"kind": "sw4lite", "ranks": 9973}, "9973 ranks are too many for 447 by 447 points"),
        ({"kind": "hpl", "rows": 1024, "columns": 1024}, "1048576 ranks are too many: use 131072 at most"),
        ({"kind": "laghos", "procs": [1000, 1000, 1]}, "1000000 ranks are too many: use 131072 at most"),
        ({"kind": "laghos", "grain_us": 3}, "grain_us"),
        ({"kind": "linpack"}, "linpack"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        TypeAdapter[Any](AnyParameters).validate_python(given)
