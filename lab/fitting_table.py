"""Tables that fit a terminal: a table whose columns do not fit side by side is printed as one record a row.

Numbers are never broken or cut: right-justified columns stay on one line. Text wraps between words.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

_BOUNDLESS: Final = 10_000
_BETWEEN: Final = "   "
_INDENT: Final = "  "


def print_table(console: Console, table: Table, *, markup: bool = True) -> None:
    """Print a table, or its rows as records: a row's first cell, and below it each heading with its cell.

    Without `markup` brackets in its cells are text.
    """
    least = [max(_least(console, column, cell) for cell in _cells(column)) for column in table.columns]
    natural = [max(_measured(console, cell).maximum for cell in _cells(column)) for column in table.columns]
    spare = console.width - _around(console, table, natural) - sum(least)
    if spare >= 0:
        for column, least_width, whole_width in zip(table.columns, least, natural, strict=True):
            column.no_wrap = column.no_wrap or column.justify == "right"
            column.min_width = least_width + min(spare, whole_width - least_width)
            spare -= column.min_width - least_width
            column.max_width = column.min_width
        console.print(table, markup=markup)
        return
    if table.title:
        console.print(table.title, style="italic")
    for record in _records(console, table, markup=markup):
        console.print(record, soft_wrap=True)
    if table.caption:
        console.print(table.caption, style="dim italic")


def _around(console: Console, table: Table, natural: Sequence[int]) -> int:
    """Columns of the terminal beside the cells: padding and lines of the table."""
    titled = table.title, table.caption
    table.title = table.caption = None
    around = _measured(console, table).maximum - sum(natural)
    table.title, table.caption = titled
    return around


def _measured(console: Console, cell: RenderableType) -> Measurement:
    return Measurement.get(console, console.options.update(max_width=_BOUNDLESS), cell)


def _least(console: Console, column: Column, cell: RenderableType) -> int:
    measured = _measured(console, cell)
    return measured.maximum if column.no_wrap or column.justify == "right" else measured.minimum


def _cells(column: Column) -> Sequence[RenderableType]:
    return [column.header, *column.cells]


def _records(console: Console, table: Table, *, markup: bool) -> Iterator[Text]:
    headings = [console.render_str(str(column.header), markup=markup).plain for column in table.columns[1:]]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        head, *cells = (one if isinstance(one, Text) else console.render_str(str(one), markup=markup) for one in row)
        named = zip(headings, cells, strict=True)
        parts = [Text.assemble((heading, "bold"), " ", cell) for heading, cell in named if cell]
        yield Text("\n").join([head, *_lines(console, parts)])


def _lines(console: Console, parts: Sequence[Text]) -> Sequence[Text]:
    """Indented lines, each with as many of the parts as fit; a part that is wider than a line is wrapped."""
    width = console.width - len(_INDENT)
    lines: list[Text] = []
    for part in parts:
        if lines and lines[-1].cell_len + len(_BETWEEN) + part.cell_len <= width:
            lines[-1] = Text.assemble(lines[-1], _BETWEEN, part)
        else:
            lines += part.wrap(console, width)
    return [Text.assemble(_INDENT, line) for line in lines]
