"""The live view in a terminal: it polls a feed once a second, in real time, and draws the result."""

from typing import Any, ClassVar, Final

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.coordinate import Coordinate
from textual.widgets import DataTable, Footer, Static
from textual.worker import get_current_worker

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.live.clocks import ReadClock, WallPace
from eee_testbed.measuring.live.feeds import Feed
from eee_testbed.measuring.live.screen import panels
from eee_testbed.measuring.live.screen.link_table import COLUMNS, FILTERS, ORDERS, cells, chosen, title
from eee_testbed.measuring.live.screen.study_panel import study
from eee_testbed.measuring.live.screen.topology_panel import topology
from eee_testbed.measuring.live.state.view import LabView

_WIDE_COLUMNS: Final = 140
_MOST_LINES: Final = {
    "study": 12,
    "topology": 16,
    "power": 8,
    "devices": 9,
    "progress": 8,
    "loop": 8,
    "alarms": 6,
    "events": 8,
}
"""Largest heights of panels whose height depends on their content."""

_RIGHT: Final = frozenset({"speed", "a→b", "b→a", "LPI"})
_WIDTHS: Final = {"state": 5, "speed": 5, "a→b": 6, "b→a": 6, "load": 6, "LPI": 8, "EEE": 5}


class WatchApp(App[str]):
    """Shows a feed until the user quits. Returns the reason if it ends by itself, else nothing.

    `read_clock`: the lab's clock, if this process lives in a lab's time instead of real time.
    """

    TITLE = "eeectl watch"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE_COLUMNS, "-wide")]  # noqa: RUF012 - as the base class declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
        Binding("v", "step_view", "view"),
        Binding("f", "step_filter", "filter"),
        Binding("s", "step_order", "sort"),
    ]
    CSS = """
    Screen { layout: vertical; }
    #head { height: 1; background: $panel; }
    #body, #left { height: 1fr; }
    Static { text-wrap: nowrap; text-overflow: ellipsis; }
    .panel, #links { border-top: solid $primary-darken-2; border-title-color: $text-muted; height: auto; }
    #links { height: 1fr; background: $background; }
    DataTable > .datatable--header { background: $background; color: $text-muted; text-style: none; }
    DataTable { scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; scrollbar-color: $primary-darken-2;
                scrollbar-background: $background; }
    .-no-run #progress { display: none; }
    .-no-loop #loop { display: none; }
    .-no-study #study { display: none; }

    .-narrow #body { layout: vertical; }
    .-narrow #right { height: auto; }
    .-narrow #devices, .-narrow #events, .-narrow #topology { display: none; }
    .-narrow #power, .-narrow #progress { height: 4; }
    .-narrow #loop { height: 5; }
    .-narrow #study { height: 4; }
    .-narrow #alarms { height: 3; }
    .-narrow.-show-topology #topology { display: block; height: 1fr; }
    .-narrow.-show-topology #links, .-narrow.-show-events #links { display: none; }
    .-narrow.-show-events #left { height: auto; }
    .-narrow.-show-events #right, .-narrow.-show-events #events { display: block; height: 1fr; }

    .-wide .panel, .-wide #links { border: round $primary-darken-2; border-title-color: $text-muted; }
    .-wide #left { width: 80; }
    .-wide #right { width: 1fr; height: 1fr; }
    .-wide #power { height: 10; }
    .-wide #progress, .-wide #events { height: 1fr; }
    """
    _VIEWS: ClassVar[tuple[str, ...]] = ("", "-show-topology", "-show-events")

    def __init__(self, feed: Feed, first: LabView, read_clock: ReadClock | None = None) -> None:
        super().__init__()
        self._pace = WallPace(read_clock)
        self._feed = feed
        self._view = first
        self._filter = next(iter(FILTERS))
        self._order = next(iter(ORDERS))
        self._place = 0
        self._shown: list[str] = []
        self._cells: list[tuple[Any, ...]] = []

    def compose(self) -> ComposeResult:
        """Every panel; the size decides which of them are visible."""
        yield Static(id="head")
        yield Static(id="study", classes="panel")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Static(id="topology", classes="panel")
                yield DataTable(id="links", cursor_type="none", cell_padding=0, header_height=2)
            with Vertical(id="right"):
                yield Static(id="power", classes="panel")
                yield Static(id="devices", classes="panel")
                yield Static(id="progress", classes="panel")
                yield Static(id="loop", classes="panel")
                yield Static(id="alarms", classes="panel")
                yield Static(id="events", classes="panel")
        yield Footer()

    def on_mount(self) -> None:
        """Titles, columns, and the first drawing."""
        for name in _MOST_LINES:
            self.query_one(f"#{name}").border_title = {
                "devices": "power by device",
                "power": "power of the lab",
                "progress": "trials",
                "loop": "closed loop",
            }.get(name, name)
        table = self.query_one(DataTable)
        for name, meaning in COLUMNS.items():
            width = _WIDTHS.get(name)
            table.add_column(_head(name, meaning), key=name, width=width + 1 if width is not None else None)
        self.call_after_refresh(self._draw)
        self._await_poll()

    def on_resize(self) -> None:
        """Draw the panels for their new sizes."""
        self.call_after_refresh(self._draw)

    def _await_poll(self) -> None:
        """Poll once a second of the wall."""
        pause_s = self._pace.pause_s()
        if not pause_s:
            self._poll()
            pause_s = self._pace.pause_s()
        self.set_timer(pause_s, self._await_poll)

    @work(thread=True, exclusive=True, group="poll")
    def _poll(self) -> None:
        """Poll in a thread, as files and devices can be slow."""
        try:
            view = self._feed.poll()
        except LabError as error:
            self.call_from_thread(self.exit, str(error), 1)
            return
        if not get_current_worker().is_cancelled:
            self.call_from_thread(self._show, view)

    def _show(self, view: LabView) -> None:
        self._view = view
        self._draw()

    def _draw(self) -> None:
        view = self._view
        self.query_one("#head", Static).update(panels.head(view, self.size.width))
        self.screen.set_class(view.run is None, "-no-run")
        self.screen.set_class(view.loop is None, "-no-loop")
        self.screen.set_class(view.study is None, "-no-study")
        for name, draw in (
            ("study", study),
            ("topology", topology),
            ("power", panels.power),
            ("devices", panels.devices),
            ("progress", panels.progress),
            ("loop", panels.loop),
            ("alarms", panels.alarms),
            ("events", panels.events),
        ):
            panel = self.query_one(f"#{name}", Static)
            room = panel.content_size
            free = panel.styles.height is not None and panel.styles.height.is_auto
            panel.update(draw(view, room.width or self.size.width, (_MOST_LINES[name] if free else room.height) or 1))
        self._fill()

    def _fill(self) -> None:
        """Draw the cells that have changed."""
        table = self.query_one(DataTable)
        rows = chosen(self._view, self._filter, self._order)
        table.border_title = title(rows, self._filter, self._order)
        names = [link.name for link in rows]
        drawn = [cells(link) for link in rows]
        if names != self._shown:
            at = table.scroll_offset.y
            table.clear()
            for row in drawn:
                table.add_row(*row)
            table.scroll_to(y=at, animate=False)
        else:
            for number, (row, before) in enumerate(zip(drawn, self._cells, strict=True)):
                for place, cell in enumerate(row):
                    if cell != before[place]:
                        table.update_cell_at(Coordinate(number, place), cell)
        self._shown, self._cells = names, drawn

    def action_step_view(self) -> None:
        """On a narrow terminal: show links, topology, and events in turn."""
        self._place = (self._place + 1) % len(self._VIEWS)
        for name in self._VIEWS[1:]:
            self.screen.set_class(name == self._VIEWS[self._place], name)
        self.call_after_refresh(self._draw)

    def action_step_filter(self) -> None:
        """Apply the next filter of links."""
        self._filter = _after(list(FILTERS), self._filter)
        self._draw()

    def action_step_order(self) -> None:
        """Apply the next order of links."""
        self._order = _after(list(ORDERS), self._order)
        self._draw()


def _head(name: str, meaning: str) -> str:
    if name in _RIGHT:
        return f"{name.rjust(_WIDTHS[name])}\n{meaning.rjust(_WIDTHS[name])}"
    indent = "" if name in _WIDTHS else " "
    return f"{indent}{name}\n{indent}{meaning}"


def _after(names: list[str], name: str) -> str:
    return names[(names.index(name) + 1) % len(names)]
