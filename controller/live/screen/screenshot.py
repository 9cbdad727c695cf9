"""The screen as a picture: SVG that opens without a network."""

import asyncio
import re
from typing import Final

from controller.live.feeds import Feed
from controller.live.screen.app import WatchApp
from controller.live.state.view import LabView
from lab.errors import LabError

_FONTS: Final = re.compile(r"@font-face \{.*?\}", re.DOTALL)
_LEAST, _MOST = 40, 400


def size_of(text: str) -> tuple[int, int]:
    """Columns and rows of a size such as 160x50; LabError if it is none."""
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    columns, rows = (int(found[1]), int(found[2])) if found else (0, 0)
    if not (_LEAST <= columns <= _MOST and _LEAST // 2 <= rows <= _MOST):
        raise LabError(f"'{text}' is no size of a terminal: write COLUMNSxROWS, as in 160x50, of 40x20 to 400x400.")
    return columns, rows


def svg_of(feed: Feed, first: LabView, size: tuple[int, int]) -> str:
    """The screen of a terminal of that size, as SVG; fonts are those of whoever looks at it."""

    async def draw() -> str:
        app = WatchApp(feed, first)
        async with app.run_test(size=size) as pilot:
            for _ in range(4):  # a drawing is asked for after a layout, which asks for one
                await pilot.pause()
            return app.export_screenshot(title="eeectl watch")

    return _FONTS.sub("", asyncio.run(draw())).replace("Fira Code", "monospace")
