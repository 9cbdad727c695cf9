"""`eeectl eee show` as text, at the sizes of people's terminals."""

from eee_testbed.controller.checking.eee_links import SwitchEee, eee_links
from eee_testbed.controller.checking.port_links import PortLink
from eee_testbed.controller.drivers.driver import EeeStatus
from eee_testbed.eeectl.eee_text import eee_text
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab
from tests.support import ROOT
from tests.support.labs.toy_view import LAB


def _shown(lab: Lab, off: str, shut: frozenset[str], hold_us: int | None = None) -> dict[str, SwitchEee]:
    """EEE on everywhere but at one switch, and some ports shut."""
    found = {}
    for switch in lab.switches:
        on = switch.name != off
        eee, links = {}, {}
        for port in switch.ports:
            end = f"{switch.name}:{port.name}"
            active = on and end not in shut and not off
            eee[port.name] = EeeStatus(
                supported=True, enabled=on, active=active, partner=None, hold_us=hold_us, wake_us=None
            )
            links[port.name] = PortLink("shut") if end in shut else PortLink("up", 1000)
        found[switch.name] = SwitchEee(eee, links)
    return found


def test_links_that_differ_come_first_with_a_header_and_what_it_means() -> None:
    shown = _shown(LAB, "sw2", frozenset({"sw1:p3", "sw2:p3"}))
    lines = eee_text("toy", eee_links(LAB, shown), 80, name_shut=False).splitlines()
    assert lines == [
        "EEE on lab toy: 4 links (3 up, 1 shut); 2 need a look.",
        "",
        "LINK              STATE         EEE AT ITS ENDS  FINDING",
        "sw1:p2--sw2:p2    up at 1 Gb/s  sw1 on, sw2 off  one-sided",
        "sw1:p1--n01:eth0  up at 1 Gb/s  sw1 on, n01 ?    not in force",
        "one-sided: on at one end only, so neither end may sleep.",
        "not in force: on, and not in force although the link is up: the other end does not advertise it.",
        "",
        "1 up at 1 Gb/s, EEE off:",
        "  sw2:p1--n02:eth0",
        "1 shut, EEE 1 on at one end only; --all names them",
    ]


def test_links_that_are_alike_stand_together_with_their_hold() -> None:
    shown = _shown(LAB, "", frozenset({"sw1:p3"}), hold_us=600)
    lines = eee_text("toy", eee_links(LAB, shown), 80, name_shut=True).splitlines()
    assert lines == [
        "EEE on lab toy: 4 links (3 up, 1 shut); no link needs a look.",
        "",
        "3 up at 1 Gb/s, EEE on and in force, hold 600 us:",
        "  sw1:p1--n01:eth0  sw2:p1--n02:eth0  sw1:p2--sw2:p2",
        "1 shut, EEE on, hold 600 us:",
        "  sw1:p3--sw2:p3",
    ]


def test_a_lab_of_42_links_fits_a_small_terminal_and_names_every_link_on_request() -> None:
    lab = load_lab(find_lab(str(ROOT / "inventory" / "virtual")))
    trunks = [link for link in lab.links if not link.b.device.startswith("n")]
    shown = _shown(lab, "", frozenset(str(link.a) for link in trunks[1::2]))
    small = eee_text(lab.name, eee_links(lab, shown), 80, name_shut=False).splitlines()
    assert len(small) <= 23
    assert max(map(len, small)) <= 80
    whole = eee_text(lab.name, eee_links(lab, shown), 160, name_shut=True)
    assert [link.name for link in lab.links if link.name not in whole] == []
