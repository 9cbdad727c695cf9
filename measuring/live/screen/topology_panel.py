"""Switches and their cables as a triangle of characters, one for each cable, and a row of hosts for each switch."""

from collections.abc import Iterable
from typing import Final

from rich.text import Text

from eee_testbed.measuring.live.screen.drawing import level
from eee_testbed.measuring.live.state.view import LabView, LinkView

_MOSTLY_LPI: Final = 0.5
_IDLE: Final = 0.0005
_BUSY: Final = 0.7

LEGEND: Final = (("x", "bright_black"), (" down  ", "dim"), ("z", "cyan"), (" mostly in LPI  ", "dim"))
_LEGEND_REST: Final = (("·", "green"), (" idle  ", "dim"), ("▁▄█", "green"), (" load  ", "dim"), ("?", ""))


def glyph(link: LinkView) -> tuple[str, str]:
    """One character for a cable, and its colour: down, mostly in LPI, idle, or its load."""
    if link.up is None:
        return "?", ""
    if not link.up:
        return "x", "bright_black"
    style = "yellow" if link.eee == "one-sided" else "green"
    load = link.load_share
    if load is not None and load >= _IDLE:
        return level(load), "red" if load >= _BUSY else style
    if link.lpi_share is not None and link.lpi_share >= _MOSTLY_LPI:
        return "z", "cyan"
    return "·", style


def topology(view: LabView, width: int, height: int) -> Text:
    """The triangle, cut at the right where there is no room for all switches."""
    names = view.switches
    between: dict[frozenset[str], list[LinkView]] = {}
    hosts: dict[str, list[LinkView]] = {name: [] for name in names}
    for link in view.links:
        ends = [end.partition(":")[0] for end in (link.a, link.b)]
        if link.trunk:
            between.setdefault(frozenset(ends), []).append(link)
        else:
            for end in ends:
                if end in hosts:
                    hosts[end].append(link)
    title = max((len(name) for name in names), default=0) + 1
    host_width = max(len("hosts"), *(len(links) for links in hosts.values()), 0)
    cell = max(max((len(links) for links in between.values()), default=0), max(map(len, names), default=0)) + 2
    lines = [_legend()]
    for row, name in enumerate(names):
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f" {name:<{title}}", style="bold")
        line.append(_glyphs(hosts[name], host_width + 2))
        for other in names[:row]:
            line.append(_glyphs(between.get(frozenset((name, other)), ()), cell))
        line.truncate(width)
        lines.append(line)
    if len(names) > 1:
        heads = "".join(f"{name:<{cell}}" for name in names[:-1])
        lines.append(Text(f" {'':<{title}}{'hosts':<{host_width + 2}}{heads}"[:width], style="dim", no_wrap=True))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines[:height])


def _glyphs(links: Iterable[LinkView], width: int) -> Text:
    drawn = Text()
    for link in links:
        drawn.append(*glyph(link))
    drawn.append(" " * max(1, width - len(drawn)))
    return drawn


def _legend() -> Text:
    return Text.assemble(" ", *LEGEND, *_LEGEND_REST, (" unknown", "dim"), no_wrap=True, overflow="ellipsis")
