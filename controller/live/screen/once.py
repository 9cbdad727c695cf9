"""One view as text: all panels one below the other, and all links."""

from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from controller.live.screen import panels
from controller.live.screen.link_table import COLUMNS, cells, chosen, title
from controller.live.screen.study_panel import study
from controller.live.screen.topology_panel import topology
from controller.live.state.view import LabView

_CHART: Final = 6
_MOST: Final = 60


def as_text(view: LabView, width: int) -> RenderableType:
    """The whole view, `width` characters wide."""
    links = Table(box=None, padding=(0, 1, 0, 1), show_edge=False)
    for name, meaning in COLUMNS.items():
        links.add_column(f"{name}\n{meaning}", header_style="dim", no_wrap=True)
    rows = chosen(view, "all links", "trunks first")
    for link in rows:
        links.add_row(*cells(link))
    return Group(
        panels.head(view, width),
        *(_titled("study", study(view, width, _MOST)) if view.study is not None else ()),
        *_titled("power of the lab", panels.power(view, width, _CHART)),
        *_titled("power by device", panels.devices(view, width, _MOST)),
        *_titled("trials", panels.progress(view, width, 12)),
        *(_titled("closed loop", panels.loop(view, width, 12)) if view.loop is not None else ()),
        *_titled("alarms", panels.alarms(view, width, 20)),
        *_titled("topology", topology(view, width, _MOST)),
        *_titled(title(rows, "all links", "trunks first"), links),
        *_titled("events", panels.events(view, width, 12)),
    )


def _titled(title: str, panel: RenderableType) -> tuple[Text, RenderableType]:
    return Text(f"\n{title}", style="bold"), panel
