"""Links are watched going down and coming up, and no host moves to a link that is not up."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from eee_testbed.controller.applying import actuation
from eee_testbed.controller.applying.actuation import Watcher, link_watch, timings, waiting_within
from eee_testbed.controller.applying.journal import LinkSeen
from eee_testbed.controller.model.state import PortChange, State, diff, factory_state, replay
from eee_testbed.controller.transports.port_watch import LinkEvent
from eee_testbed.lab.errors import Unreachable
from eee_testbed.lab.model import Lab, Switch
from tests.controller.applying.test_apply import record_of, run_apply, scene_of
from tests.support.labs.toy_lab import ToyLab, small_lab, trees_state


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return small_lab(tmp_path / "toys")


@dataclass
class _Ports:
    """Ports of a switch with their link states, and the states that later polls will show."""

    up: dict[str, bool]
    coming: list[LinkEvent] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)

    def is_up(self, port: str) -> bool:
        return self.up[port]

    def wait_for(self, port: str, *, up: bool, timeout_s: float, since_ns: int = 0) -> LinkEvent | None:
        assert timeout_s >= 0
        for event in self.coming:
            if event.port == port and event.up == up and event.seen_ns > since_ns:
                self.up[port] = up
                return event
        return None


def watcher_of(switches: dict[str, _Ports]) -> Watcher:
    @contextmanager
    def watch(switch: Switch, ports: Sequence[str]) -> Iterator[_Ports]:
        switches[switch.name].opened += ports
        yield switches[switch.name]

    return watch


def toys_links(toys: ToyLab, *, dead: str = "") -> Watcher:
    """A watch that sees the toys' own ports: up if both ends are; the cable at `dead` never is."""
    ends = {end: link for link in toys.lab.links for end in (link.a, link.b)}

    @dataclass
    class Seen:
        name: str

        def is_up(self, port: str) -> bool:
            link = next(link for end, link in ends.items() if (end.device, end.port) == (self.name, port))
            if dead in (str(link.a), str(link.b)):
                return False
            return all(toys.state.port(end.device, end.port).admin_up for end in (link.a, link.b))

        def wait_for(self, port: str, *, up: bool, timeout_s: float, since_ns: int = 0) -> LinkEvent | None:
            assert timeout_s >= 0
            return LinkEvent(port, up, since_ns + 1, since_ns + 2) if self.is_up(port) == up else None

    @contextmanager
    def watch(switch: Switch, _: Sequence[str]) -> Iterator[Seen]:
        yield Seen(switch.name)

    return watch


def test_a_link_that_is_shut_is_seen_going_at_both_ends(lab: Lab) -> None:
    before = trees_state(lab)
    link = next(lab.trunks())
    shut = [_shut(before, end.device, end.port) for end in (link.a, link.b)]
    ports = {
        "sw1": _Ports({"gi1/0/3": True}, [LinkEvent("gi1/0/3", False, 10, 12)]),
        "sw2": _Ports({"gi1/0/5": True}, [LinkEvent("gi1/0/5", False, 11, 14)]),
    }
    with link_watch(lab, watcher_of(ports))(6, before, replay(shut, before), shut) as links:
        report = links.report()
    assert [(seen.switch, seen.port, seen.up, seen.seen_ns) for seen in report.seen] == [
        ("sw1", "gi1/0/3", False, 12),
        ("sw2", "gi1/0/5", False, 14),
    ]
    assert report.missing == ()


def test_a_link_that_restarts_is_seen_going_and_coming(lab: Lab) -> None:
    before = trees_state(lab)
    slow = replace(before.port("sw1", "gi1/0/3"), speed_mbps=100)
    change = PortChange("sw1", "gi1/0/3", before.port("sw1", "gi1/0/3"), slow)
    ports = {
        "sw1": _Ports({"gi1/0/3": True}, [LinkEvent("gi1/0/3", False, 1, 2), LinkEvent("gi1/0/3", True, 5, 6)]),
        "sw2": _Ports({"gi1/0/5": True}, [LinkEvent("gi1/0/5", False, 1, 2)]),
    }
    with link_watch(lab, watcher_of(ports))(3, before, replay([change], before), [change]) as links:
        report = links.report()
    assert [(seen.switch, seen.up) for seen in report.seen] == [("sw1", False), ("sw1", True), ("sw2", False)]
    assert report.missing == (("sw2", "gi1/0/5"),)


def test_a_port_without_link_before_the_apply_is_not_waited_for(lab: Lab) -> None:
    before = trees_state(lab)
    shut = _shut(before, "sw1", "gi1/0/3")
    ports = {"sw1": _Ports({"gi1/0/3": False}), "sw2": _Ports({"gi1/0/5": False})}
    with link_watch(lab, watcher_of(ports))(3, before, replay([shut], before), [shut]) as links:
        assert links.report() == actuation.LinkReport((), ())


def test_links_are_waited_for_within_a_context_which_no_order_is(lab: Lab) -> None:
    before = trees_state(lab)
    shut = _shut(before, "sw1", "gi1/0/3")
    ports = {"sw1": _Ports({"gi1/0/3": True}, [LinkEvent("gi1/0/3", False, 1, 2)]), "sw2": _Ports({"gi1/0/5": False})}
    seen: list[str] = []

    @contextmanager
    def waiting() -> Iterator[None]:
        seen.append("waits")
        yield
        seen.append("goes on")

    with waiting_within(link_watch(lab, watcher_of(ports)), waiting)(
        3, before, replay([shut], before), [shut]
    ) as links:
        seen.append("orders")
        (one,) = links.report().seen
    assert (one.switch, one.up) == ("sw1", False)
    assert seen == ["orders", "waits", "goes on"]


def test_many_links_are_polled_after_all_orders_are_sent(lab: Lab) -> None:
    after = factory_state(lab)
    ends = [(end.device, end.port) for link in lab.trunks() for end in (link.a, link.b)]
    shut = [_shut(after, *end) for end in ends]
    wake = [change.inverse for change in shut]
    ports = {name: _Ports({port: True for device, port in ends if device == name}) for name in ("sw1", "sw2", "sw3")}
    ports["sw2"].up["gi1/0/5"] = False
    with link_watch(lab, watcher_of(ports))(1, replay(shut, after), after, wake) as links:
        assert not any(own.opened for own in ports.values())
        assert links.report().missing == (("sw2", "gi1/0/5"),)


def test_rounds_without_link_changes_watch_no_port(lab: Lab) -> None:
    before = trees_state(lab)
    old = before.port("sw1", "gi1/0/3")
    change = PortChange("sw1", "gi1/0/3", old, replace(old, tagged_vids=old.tagged_vids | {99}))
    ports = {name: _Ports({}) for name in ("sw1", "sw2", "sw3")}
    with link_watch(lab, watcher_of(ports))(3, before, before, [change]) as links:
        links.report()
    assert all(not own.opened for own in ports.values())


def test_a_switch_without_an_agent_is_not_watched(lab: Lab) -> None:
    before = trees_state(lab)
    shut = _shut(before, "sw1", "gi1/0/3")

    @contextmanager
    def watch(switch: Switch, _: Sequence[str]) -> Iterator[_Ports]:
        raise Unreachable(switch.name, "no agent")
        yield

    with link_watch(lab, watch)(3, before, replay([shut], before), [shut]) as links:
        assert links.report().missing == ()


@pytest.mark.parametrize("scene", ["trees", "link off"])
def test_an_apply_waits_for_its_links_and_reports_their_times(lab: Lab, scene: str) -> None:
    start, wish = scene_of(lab, scene)
    toys = ToyLab(lab, start)
    result = run_apply(toys, wish, toys.backend(watch_links=link_watch(lab, toys_links(toys))))
    assert result.ending == "applied"
    record = record_of(lab)
    seen = [entry for entry in record.entries if isinstance(entry, LinkSeen)]
    assert len(seen) == (2 if scene == "link off" else 8)
    rows = timings(record)
    assert {row["target"] for row in rows if "target" in row} == {
        row["target"] for row in rows if "target" in row and row["acknowledged_s"] >= row["sent_s"]
    }
    assert len(rows) == len(record.begun.steps) + len(seen)


def test_no_host_moves_to_a_link_that_does_not_come_up(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    watch = link_watch(lab, toys_links(toys, dead="sw1:gi1/0/4"))
    result = run_apply(toys, scene_of(lab, "trees")[1], toys.backend(watch_links=watch))
    assert result.ending == "taken back"
    assert "the link at gi1/0/" in str(result.cause)
    assert not diff(toys.state, toys.initial)
    moved = [entry for entry in record_of(lab).entries if "pvid" in str(getattr(entry, "orders", ""))]
    assert not moved


def _shut(state: State, switch: str, port: str) -> PortChange:
    old = state.port(switch, port)
    return PortChange(switch, port, old, replace(old, admin_up=False))
