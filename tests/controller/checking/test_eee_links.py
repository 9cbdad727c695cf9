"""What EEE and the states of ports at both ends of a link amount to."""

from collections.abc import Mapping

import pytest

from eee_testbed.controller.checking.eee_links import EeeLink, SwitchEee, eee_links
from eee_testbed.controller.checking.port_links import IF_HIGH_SPEED, PortLink, of_ends, read_port_links
from eee_testbed.controller.drivers.driver import EeeStatus, SnmpValue, Walk
from eee_testbed.controller.drivers.places import (
    BASE_PORT_IF_INDEX,
    IF_ADMIN_STATUS,
    IF_ALIAS,
    IF_DESCR,
    IF_NAME,
    IF_OPER_STATUS,
)
from tests.support.labs.toy_view import LAB

UP, DOWN, SHUT = PortLink("up", 1000), PortLink("down"), PortLink("shut")


def _eee(*, enabled: bool, active: bool | None = None) -> EeeStatus:
    return EeeStatus(supported=True, enabled=enabled, active=active, partner=None, hold_us=None, wake_us=None)


ON, OFF = _eee(enabled=True, active=True), _eee(enabled=False, active=False)
ODD = _eee(enabled=False, active=True)
IDLE, SILENT = _eee(enabled=True, active=False), _eee(enabled=True)


def _trunk(first: EeeStatus | None, second: EeeStatus | None, *links: PortLink) -> EeeLink:
    """The link sw1:p2--sw2:p2."""
    ends = [{} if status is None else {"p2": status} for status in (first, second)]
    shown = {f"sw{n}": SwitchEee(eee, {"p2": link}) for n, (eee, link) in enumerate(zip(ends, links, strict=True), 1)}
    return eee_links(LAB, shown)[2]


@pytest.mark.parametrize(
    ("ends", "links", "finding", "differs"),
    [
        ((ON, ON), (UP, UP), "in force", False),
        ((IDLE, OFF), (UP, UP), "one-sided", True),
        ((IDLE, OFF), (SHUT, UP), "one-sided", False),
        ((IDLE, OFF), (DOWN, DOWN), "one-sided", True),
        ((IDLE, IDLE), (UP, UP), "not in force", True),
        ((IDLE, IDLE), (DOWN, DOWN), "not in force", False),
        ((ON, IDLE), (UP, UP), "not in force", True),
        ((SILENT, SILENT), (UP, UP), "on", False),
        ((OFF, OFF), (UP, UP), "off", False),
        ((None, None), (UP, UP), "unknown", True),
        ((ODD, ODD), (UP, UP), "contradictory", True),
        ((ON, ODD), (UP, UP), "contradictory", True),
        ((ODD, None), (UP, UP), "contradictory", True),
    ],
)
def test_what_two_ends_amount_to(
    ends: tuple[EeeStatus | None, EeeStatus | None], links: tuple[PortLink, ...], finding: str, *, differs: bool
) -> None:
    link = _trunk(*ends, *links)
    assert (link.finding, link.differs) == (finding, differs)


def test_eee_in_force_proves_a_link_whose_ports_show_no_state() -> None:
    shown = {"sw1": SwitchEee({"p1": ON, "p2": ON}, {}), "sw2": SwitchEee({"p2": ON}, {})}
    host, _, trunk, _ = eee_links(LAB, shown)
    assert (host.state, host.finding, host.ends[1].status) == ("up", "in force", None)
    assert trunk.state == "up"


def test_a_switch_without_an_answer_leaves_its_links_unknown() -> None:
    assert [(one.finding, one.state) for one in eee_links(LAB, {})] == [("unknown", "unknown")] * 4


def test_the_state_of_a_link_is_that_of_its_worse_end() -> None:
    unknown = PortLink("unknown")
    assert of_ends([UP, PortLink("up", 100)]) == PortLink("up", 100)
    assert of_ends([UP, DOWN]) == DOWN
    assert of_ends([DOWN, SHUT]) == SHUT
    assert of_ends([unknown, UP]) == UP
    assert of_ends([unknown, unknown]) == unknown


def test_states_are_read_by_the_names_of_ports() -> None:
    def walk(column: Walk, **rows: SnmpValue) -> dict[Walk, Mapping[str, SnmpValue]]:
        return {column: {index.removeprefix("i"): value for index, value in rows.items()}}

    answers = {
        **walk(IF_NAME, i11=b"p1", i12=b"p2", i13=b"p3"),
        **walk(IF_DESCR),
        **walk(IF_ALIAS),
        **walk(BASE_PORT_IF_INDEX, i1=11, i2=12, i3=13),
        **walk(IF_ADMIN_STATUS, i11=1, i12=1, i13=2),
        **walk(IF_OPER_STATUS, i11=1, i12=2, i13=2),
        **walk(IF_HIGH_SPEED, i11=1000, i12=0, i13=0),
    }
    assert read_port_links(LAB.switches[0], answers) == {"p1": UP, "p2": DOWN, "p3": SHUT}
    del answers[IF_OPER_STATUS]
    assert {one.state for one in read_port_links(LAB.switches[0], answers).values()} == {"unknown"}
