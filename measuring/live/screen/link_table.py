"""Rows of the table of links: filters, orders and cells."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rich.text import Text

from eee_testbed.measuring.live.screen.drawing import rate_text, share_text, spark, speed_text
from eee_testbed.measuring.live.state.view import LabView, LinkView

COLUMNS: Final[Mapping[str, str]] = {
    "link": "a--b",
    "state": "",
    "speed": "bit/s",
    "a→b": "bit/s",
    "b→a": "bit/s",
    "load": "recent",
    "LPI": "% →/←",
    "EEE": "",
}
"""By name; the unit or meaning of their values is the second line of the head."""

_SPARK: Final = 6
_UNCOUNTED: Final = "LPI -: no counter read"

FILTERS: Final[Mapping[str, Callable[[LinkView], bool]]] = {
    "all links": lambda _: True,
    "trunks": lambda link: link.trunk,
    "hosts' links": lambda link: not link.trunk,
    "links that are up": lambda link: bool(link.up),
    "links that carry frames": lambda link: bool(link.load_share),
}
"""By name; a key steps through them."""

ORDERS: Final[Mapping[str, Callable[[LinkView], float]]] = {
    "trunks first": lambda link: 2.0 * (not link.up) + (not link.trunk),
    "as in the inventory": lambda _: 0.0,
    "by load": lambda link: -(link.load_share or 0.0),
    "by LPI": lambda link: -(link.lpi_share if link.lpi_share is not None else -1.0),
}


def chosen(view: LabView, which: str, order: str) -> Sequence[LinkView]:
    """Links of one filter in one order."""
    return sorted(filter(FILTERS[which], view.links), key=ORDERS[order])


def title(links: Sequence[LinkView], which: str, order: str) -> str:
    """Title of the table: filter, order, and what a dash in it means if there is one."""
    unknown = any(link.up and link.lpi_share is None for link in links)
    return f"links: {which}, {order}" + (f" · {_UNCOUNTED}" if unknown else "")


def cells(link: LinkView) -> tuple[Text, ...]:
    """One row, with a cell for each of `COLUMNS`."""
    state, style = {True: ("up", "green"), False: ("down", "bright_black"), None: ("?", "")}[link.up]
    lpi = "-"
    if link.ab_lpi_share is not None or link.ba_lpi_share is not None:
        lpi = f"{share_text(link.ab_lpi_share)}/{share_text(link.ba_lpi_share)}"
    eee_style = {"on": "green", "off": "", "one-sided": "yellow", "": ""}[link.eee]
    return (
        Text(f" {link.name} ", style="" if link.up else "bright_black"),
        Text(state, style=style),
        Text(f"{speed_text(link.rate_mbps) if link.up else '-':>5}"),
        Text(f"{rate_text(link.ab_bps) if link.up else '':>6}"),
        Text(f"{rate_text(link.ba_bps) if link.up else '':>6}"),
        Text(spark(link.recent_share, _SPARK), style="green"),
        Text(f"{lpi if link.up else '':>8}", style="cyan"),
        Text({"one-sided": "1 end"}.get(link.eee, link.eee), style=eee_style),
    )
