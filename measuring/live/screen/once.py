"""One view as text: all panels one below the other, and all links."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from eee_testbed.measuring.live.screen import panels
from eee_testbed.measuring.live.screen.every_panel import panels_of
from eee_testbed.measuring.live.screen.link_table import COLUMNS, cells, chosen, title
from eee_testbed.measuring.live.state.view import LabView


def as_text(view: LabView, width: int) -> RenderableType:
    """The whole view, `width` characters wide."""
    links = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    for name, meaning in COLUMNS.items():
        links.add_column(f"{name}\n{meaning}", header_style="dim", no_wrap=True)
    rows = chosen(view, "all links", "trunks first")
    for link in rows:
        links.add_row(*cells(link))
    drawn = {panel.name: _titled(panel.title, panel.draw(view, width, panel.most_lines)) for panel in panels_of(view)}
    events = drawn.pop("events")
    return Group(
        panels.head(view, width),
        *(part for panel in drawn.values() for part in panel),
        *_titled(title(rows, "all links", "trunks first"), links),
        *events,
    )


def _titled(title: str, panel: RenderableType) -> tuple[Text, RenderableType]:
    return Text(f"\n{title}", style="bold"), panel
