"""Sizes of terminals as people write them."""

import re
from typing import Final

from eee_testbed.lab.errors import LabError

_LEAST: Final = 40
_MOST: Final = 400


def size_of(text: str) -> tuple[int, int]:
    """Columns and rows of a size such as 160x50; LabError for other text."""
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    columns, rows = (int(found[1]), int(found[2])) if found else (0, 0)
    if not (_LEAST <= columns <= _MOST and _LEAST // 2 <= rows <= _MOST):
        raise LabError(f"invalid size '{text}' of a terminal: write COLUMNSxROWS, such as 160x50; 40x20 to 400x400.")
    return columns, rows
