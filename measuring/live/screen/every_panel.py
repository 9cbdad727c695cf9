"""The panels of a view that is shown whole, without the limits of a terminal: their titles, order and most lines."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from rich.text import Text

from eee_testbed.measuring.live.screen import panels
from eee_testbed.measuring.live.screen.study_panel import study
from eee_testbed.measuring.live.screen.topology_panel import topology
from eee_testbed.measuring.live.state.view import LabView

_MOST: Final = 60


class Panel(NamedTuple):
    """A panel; `draw` takes a view, characters and lines."""

    name: str
    title: str
    most_lines: int
    draw: Callable[[LabView, int, int], Text]


PANELS: Final = (
    Panel("study", "study", _MOST, study),
    Panel("power", "power of the lab", 6, panels.power),
    Panel("devices", "power by device", _MOST, panels.devices),
    Panel("trials", "trials", 12, panels.progress),
    Panel("loop", "closed loop", 12, panels.loop),
    Panel("alarms", "alarms", 20, panels.alarms),
    Panel("topology", "topology", _MOST, topology),
    Panel("events", "events", 12, panels.events),
)


def panels_of(view: LabView) -> Iterator[Panel]:
    """Those that the view has something for."""
    absent = {"study"} if view.study is None else set()
    absent |= {"loop"} if view.loop is None else set()
    yield from (panel for panel in PANELS if panel.name not in absent)
