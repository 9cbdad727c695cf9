"""The screen as an SVG file that needs no network."""

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
    """Columns and rows of a size such as 160x50; LabError for other text."""
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    columns, rows = (int(found[1]), int(found[2])) if found else (0, 0)
    if not (_LEAST <= columns <= _MOST and _LEAST // 2 <= rows <= _MOST):
        raise LabError(f"invalid size '{text}' of a terminal: write COLUMNSxROWS, such as 160x50; 40x20 to 400x400.")
    return columns, rows


def svg_of(feed: Feed, first: LabView, size: tuple[int, int]) -> str:
    """The screen of a terminal of that size as SVG, in the fonts of its viewer."""

    async def draw() -> str:
        app = WatchApp(feed, first)
        async with app.run_test(size=size) as pilot:
            for _ in range(4):  # a layout requests a drawing, which requests a layout
                await pilot.pause()
            return app.export_screenshot(title="eeectl watch")

    return _FONTS.sub("", asyncio.run(draw())).replace("Fira Code", "monospace")
