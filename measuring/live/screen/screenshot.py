"""The screen as an SVG file that needs no network."""

import asyncio
import re
from typing import Final

from eee_testbed.measuring.live.feeds import Feed
from eee_testbed.measuring.live.screen.app import WatchApp
from eee_testbed.measuring.live.state.view import LabView

_FONTS: Final = re.compile(r"@font-face \{.*?\}", re.DOTALL)


def svg_of(feed: Feed, first: LabView, size: tuple[int, int]) -> str:
    """The screen of a terminal of that size as SVG, in the fonts of its viewer."""

    async def draw() -> str:
        app = WatchApp(feed, first)
        async with app.run_test(size=size) as pilot:
            for _ in range(4):  # a layout requests a drawing, which requests a layout
                await pilot.pause()
            return app.export_screenshot(title="eeectl watch")

    return _FONTS.sub("", asyncio.run(draw())).replace("Fira Code", "monospace")
