"""Sizes of terminals as people write them."""

import re
from typing import Final

from eee_testbed.lab.errors import LabError

_LEAST_COLUMNS: Final = 40
_MOST_COLUMNS: Final = 400


def size_of(text: str) -> tuple[int, int]:
    """Columns and rows of a size such as 160x50; LabError for other text."""
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    columns, rows = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (_LEAST_COLUMNS <= columns <= _MOST_COLUMNS and _LEAST_COLUMNS // 2 <= rows <= _MOST_COLUMNS):
        raise LabError(f"invalid size '{text}' of a terminal: write COLUMNSxROWS, such as 160x50; 40x20 to 400x400.")
    return columns, rows
