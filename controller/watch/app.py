"""The live view in a terminal. It draws what a feed tells once a second, and knows nothing else."""

from typing import Any, ClassVar, Final

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.coordinate import Coordinate
from textual.widgets import DataTable, Footer, Static
from textual.worker import get_current_worker

from controller.errors import LabError
from controller.watch import panels
from controller.watch.feeds import Feed
from controller.watch.link_table import COLUMNS, FILTERS, ORDERS, cells, chosen
from controller.watch.topology_panel import topology
from controller.watch.view import LabView

_LOOK_S: Final = 1.0
_WIDE: Final = 120
_RIGHT: Final = frozenset({"speed", "a→b", "b→a", "LPI %"})
_WIDTHS: Final = {"state": 5, "speed": 5, "a→b": 5, "b→a": 5, "load": 8, "LPI %": 7, "EEE": 6}


class WatchApp(App[str]):
    """Shows a feed until somebody ends it; what is returned is why it ended by itself, else nothing."""

    TITLE = "eeectl watch"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012 - as the base class declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("v", "step_view", "view"),
        Binding("f", "step_filter", "filter"),
        Binding("s", "step_order", "sort"),
    ]
    CSS = """
    Screen { layout: vertical; }
    #head { height: 1; background: $panel; }
    #body { height: 1fr; }
    #left, #right { height: 1fr; }
    #right { width: 1fr; }
    .panel { border: round $primary-darken-2; border-title-color: $text-muted; height: auto; }
    #links { height: 1fr; border: round $primary-darken-2; border-title-color: $text-muted; }
    DataTable { background: $background; }
    DataTable > .datatable--header { background: $background; color: $text-muted; text-style: none; }
    DataTable > .datatable--cursor { background: $panel; text-style: none; }

    .-narrow #left, .-narrow #right { width: 1fr; }
    .-narrow #body { layout: vertical; }
    .-narrow #left { height: 1fr; }
    .-narrow #right { height: auto; }
    .-narrow #devices, .-narrow #events { display: none; }
    .-narrow #power { height: 5; }
    .-narrow #progress { height: 5; }
    .-narrow #alarms { height: 4; }
    .-narrow #topology { display: none; height: 1fr; }
    .-narrow.-show-topology #topology { display: block; }
    .-narrow.-show-topology #links { display: none; }
    .-narrow.-show-events #events { display: block; height: 12; }
    .-narrow.-show-events #links { display: none; }
    .-narrow.-show-events #left { height: 0; }
    .-narrow.-show-events #right { height: 1fr; }
    .-narrow.-show-events #events { height: 1fr; }

    .-wide #left { width: 84; }
    .-wide #topology { max-height: 16; }
    .-wide #power { height: 10; }
    .-wide #devices { height: auto; max-height: 14; }
    .-wide #progress { height: 1fr; min-height: 6; }
    .-wide #alarms { height: auto; min-height: 4; max-height: 10; }
    .-wide #events { height: 8; }
    """
    _VIEWS: ClassVar[tuple[str, ...]] = ("", "-show-topology", "-show-events")

    def __init__(self, feed: Feed, first: LabView) -> None:
        super().__init__()
        self._feed = feed
        self._seen = first
        self._filter = next(iter(FILTERS))
        self._order = next(iter(ORDERS))
        self._place = 0
        self._shown: list[str] = []
        self._cells: list[tuple[Any, ...]] = []

    def compose(self) -> ComposeResult:
        """Every panel; which of them are seen depends on the size."""
        yield Static(id="head")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Static(id="topology", classes="panel")
                yield DataTable(id="links", cursor_type="row", zebra_stripes=False)
            with Vertical(id="right"):
                yield Static(id="power", classes="panel")
                yield Static(id="devices", classes="panel")
                yield Static(id="progress", classes="panel")
                yield Static(id="alarms", classes="panel")
                yield Static(id="events", classes="panel")
        yield Footer()

    def on_mount(self) -> None:
        """Titles, columns, and the first picture."""
        for name in ("topology", "power", "devices", "progress", "alarms", "events"):
            self.query_one(f"#{name}").border_title = {"devices": "watts by device", "progress": "trials"}.get(
                name, name
            )
        table = self.query_one(DataTable)
        for name in COLUMNS:
            table.add_column(name.rjust(_WIDTHS[name]) if name in _RIGHT else name, key=name, width=_WIDTHS.get(name))
        self.call_after_refresh(self._draw)
        self.set_interval(_LOOK_S, self._look)

    def on_resize(self) -> None:
        """Panels are drawn for their sizes."""
        self.call_after_refresh(self._draw)

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        """Look in a thread, as files and devices take their time."""
        try:
            seen = self._feed.look()
        except LabError as error:
            self.call_from_thread(self.exit, str(error), 1)
            return
        if not get_current_worker().is_cancelled:
            self.call_from_thread(self._show, seen)

    def _show(self, seen: LabView) -> None:
        self._seen = seen
        self._draw()

    def _draw(self) -> None:
        seen = self._seen
        self.query_one("#head", Static).update(panels.head(seen, self.size.width))
        self.query_one("#devices").display = self.has_class("-wide") or self.screen.has_class("-wide")
        for name, draw in (
            ("topology", topology),
            ("power", panels.power),
            ("devices", panels.devices),
            ("progress", panels.progress),
            ("alarms", panels.alarms),
            ("events", panels.events),
        ):
            panel = self.query_one(f"#{name}", Static)
            room = panel.content_size
            free = panel.styles.height is not None and panel.styles.height.is_auto
            panel.update(draw(seen, room.width or self.size.width, (16 if free else room.height) or 1))
        self._fill()

    def _fill(self) -> None:
        """Only cells that changed are drawn again."""
        table = self.query_one(DataTable)
        table.border_title = f"links: {self._filter}, {self._order}"
        rows = chosen(self._seen, self._filter, self._order)
        names = [link.name for link in rows]
        drawn = [cells(link) for link in rows]
        if names != self._shown:
            at = table.scroll_offset, table.cursor_row
            table.clear()
            for row in drawn:
                table.add_row(*row)
            table.scroll_to(y=at[0].y, animate=False)
            table.move_cursor(row=at[1], animate=False, scroll=False)
        else:
            for number, (row, before) in enumerate(zip(drawn, self._cells, strict=True)):
                for place, cell in enumerate(row):
                    if cell != before[place]:
                        table.update_cell_at(Coordinate(number, place), cell)
        self._shown, self._cells = names, drawn

    def action_step_view(self) -> None:
        """On a narrow terminal: links, topology, events in turn."""
        self._place = (self._place + 1) % len(self._VIEWS)
        for name in self._VIEWS[1:]:
            self.screen.set_class(name == self._VIEWS[self._place], name)
        self.call_after_refresh(self._draw)

    def action_step_filter(self) -> None:
        """The next choice of links."""
        self._filter = _after(list(FILTERS), self._filter)
        self._draw()

    def action_step_order(self) -> None:
        """The next order of links."""
        self._order = _after(list(ORDERS), self._order)
        self._draw()


def _after(names: list[str], name: str) -> str:
    return names[(names.index(name) + 1) % len(names)]
