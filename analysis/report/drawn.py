"""A figure that is drawn once and saved in several formats.

Matplotlib draws a figure anew for each file: it places ticks, measures texts and lays the figure out, which takes most
of the time and comes out the same. Here its calls to a renderer are kept, and made again to the renderer of each
format.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Final, NamedTuple

from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Transform, TransformedPath

_POINTS: Final = 72.0
"""Dots per inch of vector formats."""

_CALLS: Final = (
    *("open_group", "close_group", "draw_path", "draw_markers", "draw_path_collection", "draw_quad_mesh"),
    *("draw_gouraud_triangles", "draw_image", "draw_text"),
)


class _Call(NamedTuple):
    """A call to a renderer."""

    name: str
    positional: Sequence[Any]
    named: Mapping[str, Any]


class Drawn(Figure):
    """The figure as it was drawn, as wide and high; it can be saved, not changed."""

    def __init__(self, figure: Figure) -> None:
        width_inch, height_inch = (float(inch) for inch in figure.get_size_inches())
        super().__init__(figsize=(width_inch, height_inch))
        self._height = height_inch * _POINTS
        recorder = _Recorder(width_inch * _POINTS, self._height)
        dpi, canvas = figure.dpi, figure.canvas
        FigureCanvasSVG(figure)  # its layout is made of the sizes that texts have there
        figure.dpi = _POINTS
        figure.draw(recorder)
        figure.dpi = dpi
        figure.set_canvas(canvas)
        self._calls = recorder.calls

    @property
    def texts_shown(self) -> frozenset[str]:
        """Every text, a line at a time."""
        return frozenset(call.positional[3] for call in self._calls if call.name == "draw_text")

    def draw(self, renderer: RendererBase) -> None:
        """Make the calls again."""
        for call in self._calls:
            positional = [_for(renderer, value) for value in call.positional]
            if call.name == "draw_text" and renderer.flipy():
                positional[2] = self._height - positional[2]
            getattr(renderer, call.name)(*positional, **call.named)


class _Recorder(RendererBase):
    """Keeps the calls of a figure of this size in points; y is upwards."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.calls: list[_Call] = []
        self._size = (width, height)
        for name in _CALLS:
            setattr(self, name, partial(self._keep, name))

    def _keep(self, name: str, *positional: Any, **named: Any) -> None:
        kept = {key: _kept(value) for key, value in named.items()}
        self.calls.append(_Call(name, [_kept(value) for value in positional], kept))

    def flipy(self) -> bool:
        """Whether y is downwards."""
        return False

    def get_canvas_width_height(self) -> tuple[float, float]:
        """The size in points."""
        return self._size

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        """The size of a text as an SVG has it, in points."""
        return text_to_path.get_text_width_height_descent(s, prop, ismath)


def _kept(value: Any) -> Any:
    """An argument as it is now: places in a figure change with its dots per inch."""
    match value:
        case GraphicsContextBase():
            kept = GraphicsContextBase()
            kept.copy_properties(value)
            if (box := value.get_clip_rectangle()) is not None:
                kept.set_clip_rectangle(box.frozen())
            clip: tuple[Any, Any] = value.get_clip_path()
            if clip[0] is not None:
                kept.set_clip_path(TransformedPath(clip[0], _as_it_is(clip[1])))
            return kept
        case Transform():
            return _as_it_is(value)
        case Text():
            text = copy(value)
            text.set_transform(_as_it_is(value.get_transform()))
            return text
    return value


def _as_it_is(transform: Any) -> Any:
    """A transform that does not follow its figure; the library's types say less of it."""
    return transform.frozen()


def _for(renderer: RendererBase, value: Any) -> Any:
    """An argument for a renderer, which may have contexts of its own."""
    if not isinstance(value, GraphicsContextBase):
        return value
    context = renderer.new_gc()
    context.copy_properties(value)
    return context
