"""Tables of columns under rules of dashes, as command lines print them. Pure.

A cell that is wider than its column goes on in the next row, below itself, where the first column is empty: ROS breaks
MAC addresses and names so. The parts are joined without a space, as they were broken without one.
"""

import re
from collections.abc import Iterator
from typing import Final

_RULE: Final = re.compile(r"\s*-{2,}(?:\s+-{2,})+\s*")


def table_rows(text: str) -> Iterator[tuple[str, ...]]:
    """The cells of each row under a rule, those of the rows that continue it joined; nothing without a rule."""
    spans: list[tuple[int, int]] = []
    held: list[str] = []
    for line in text.splitlines():
        if _RULE.fullmatch(line):
            starts = [dashes.start() for dashes in re.finditer("-+", line)]
            spans = list(zip([0, *starts[1:]], (*starts[1:], len(line) + 10_000), strict=True))
        elif spans:
            cells = [line[start:end].strip() for start, end in spans]
            if cells[0]:
                if held:
                    yield tuple(held)
                held = cells
            elif held and any(cells):
                held = [begun + more for begun, more in zip(held, cells, strict=True)]
            elif held:
                yield tuple(held)
                held = []
    if held:
        yield tuple(held)
