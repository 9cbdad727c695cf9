"""The law of configurations: with all settings as before, the text is as before, or each line that is not is named."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from eee_testbed.controller.drivers.driver import KeepsText
from eee_testbed.controller.model.config_text import ConfigText, differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from eee_testbed.controller.drivers.driver import Answers, Command, Driver, Query
    from eee_testbed.controller.model.state import PortState
    from eee_testbed.lab.model import Switch


def text_of(driver: Driver, switch: Switch, ask: Callable[[Iterable[Query]], Answers]) -> ConfigText:
    assert isinstance(driver, KeepsText)
    return driver.text(switch, ask(driver.text_queries(switch)))


_OF_VLANS = frozenset({"untagged_vids", "tagged_vids", "pvid", "acceptance", "ingress_filtering"})


def met_by_frames(ports: Mapping[str, PortState], wire: Callable[[str], Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What frames meet at each port; a member of a LAG forwards as the LAG does, whatever its own VLANs are."""
    return [
        {field: value for field, value in wire(name).items() if not (port.lag and field in _OF_VLANS)}
        for name, port in ports.items()
    ]


def put_text_back(
    driver: Driver,
    switch: Switch,
    ask: Callable[[Iterable[Query]], Answers],
    execute: Callable[[Iterable[Command]], None],
    wanted: ConfigText,
    frames: Callable[[], Any] = lambda: None,
) -> None:
    """Take the lines back, one after the other; `frames`: what frames meet, which none of them changes."""
    assert isinstance(driver, KeepsText)
    met = frames()
    for order in driver.put_back(switch, text_of(driver, switch, ask), wanted):
        execute([order])
        assert frames() == met, order


def require_named(now: str, before: str, found: ConfigText, wanted: ConfigText) -> None:
    """Each line that is gone is named, and there are no more new ones than replace those."""
    rows = list(difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0))[2:]
    gone = [row[1:].strip() for row in rows if row.startswith("-")]
    new = [row[1:].strip() for row in rows if row.startswith("+")]
    named = " ".join(differences(found, wanted))
    assert all(f"`{line}` is gone" in named for line in gone), (gone, named)
    assert len(new) <= len(gone), (new, gone)
