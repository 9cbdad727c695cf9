"""Tables as ROS prints them: fixed columns under dashes, long cells continued on the next row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Align = Literal["<", "^", ">"]


def rule(widths: Sequence[int]) -> str:
    """Return the row of dashes under a header."""
    return " ".join("-" * w for w in widths)


def row(cells: Sequence[str], widths: Sequence[int], aligns: Sequence[Align]) -> str:
    """Return one row without trailing blanks."""
    return " ".join(f"{c:{a}{w}}" for c, w, a in zip(cells, widths, aligns, strict=True)).rstrip()


def folded(text: str, width: int) -> list[str]:
    """Split a cell's text into pieces of at most `width`, lists after a comma, as in recordings of `show vlan`."""
    pieces: list[str] = []
    while len(text) > width:
        cut = text.rfind(",", 0, width) + 1 or width
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]


def ranges(names: Sequence[str]) -> str:
    """Return `gi1/0/1-4,te1/0/1,Po1-3` for names in port order; empty text for no names."""
    spans: list[tuple[str, int, int]] = []
    for name in names:
        head = name.rstrip("0123456789")
        number = int(name[len(head) :])
        if spans and spans[-1][0] == head and spans[-1][2] == number - 1:
            spans[-1] = (head, spans[-1][1], number)
        else:
            spans.append((head, number, number))
    return ",".join(f"{h}{a}" if a == b else f"{h}{a}-{b}" for h, a, b in spans)
