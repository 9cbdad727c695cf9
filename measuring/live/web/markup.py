"""A view as HTML for the live page: each panel's text with its colours as classes. All text is escaped."""

import html
import io
from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from eee_testbed.measuring.live.screen import panels
from eee_testbed.measuring.live.screen.every_panel import panels_of
from eee_testbed.measuring.live.screen.link_table import COLUMNS, cells, chosen, title
from eee_testbed.measuring.live.state.view import LabView

_HEAD: Final = 100
"""Characters of the head at least, which wraps where there is no room for them."""


def page_of(view: LabView, columns: int, wide_columns: int) -> Mapping[str, Any]:
    """What the page shows: HTML of the head, of each panel and of the links. The study is `wide_columns` wide."""
    widths = {"study": wide_columns}
    rows = chosen(view, "all links", "trunks first")
    drawn = [
        {
            "name": one.name,
            "title": one.title,
            "html": markup(one.draw(view, widths.get(one.name, columns), one.most_lines)),
        }
        for one in panels_of(view)
    ]
    heads = "".join(f"<th>{html.escape(name)}<br>{html.escape(meaning)}</th>" for name, meaning in COLUMNS.items())
    body = "".join(f"<tr>{''.join(f'<td>{markup(cell)}</td>' for cell in cells(link))}</tr>" for link in rows)
    return {
        "head": markup(panels.head(view, max(wide_columns, _HEAD))),
        "panels": drawn,
        "links": {"title": title(rows, "all links", "trunks first"), "html": f"<tr>{heads}</tr>{body}"},
    }


def markup(text: Text) -> str:
    """Text as HTML; the words of a style, such as "bold red", are classes.

    >>> markup(Text("a<b", style="bold red"))
    '<span class="bold red">a&lt;b</span>'
    """
    parts = []
    for segment in text.render(Console(file=io.StringIO()), end=""):
        style = str(text.style if segment.style is None else segment.style)
        escaped = html.escape(segment.text)
        parts.append(escaped if style in {"", "none"} else f'<span class="{html.escape(style)}">{escaped}</span>')
    return "".join(parts)
