"""EEE of every link of a lab, as the switches at its ends show it, and what it amounts to. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from eee_testbed.controller.checking.port_links import NO_STATE, PortLink, State, of_ends
from eee_testbed.controller.drivers.driver import EeeStatus
from eee_testbed.lab.model import End, Lab, Link

Finding = Literal["contradictory", "one-sided", "not in force", "unknown", "in force", "on", "off"]
"""What EEE of a link amounts to.

contradictory: a switch shows it as in force, and as off or not supported: one of the two is misread. one-sided: on at
one end, off at the other, so neither may sleep (IEEE 802.3, 78.3). not in force: on at every end that
was asked, and yet not negotiated. in force: negotiated. on: on, and the switch does not say whether it is in force.
unknown: no end shows it.
"""


@dataclass(frozen=True, slots=True)
class SwitchEee:
    """What one switch shows of its ports."""

    eee: Mapping[str, EeeStatus]
    links: Mapping[str, PortLink]


@dataclass(frozen=True, slots=True)
class EeeEnd:
    """One end of a link; `status` None for a host, which is not asked, and for a switch that did not answer."""

    end: End
    status: EeeStatus | None


@dataclass(frozen=True, slots=True)
class EeeLink:
    """EEE of one link. `rate_mbps` is 0 unless it is up."""

    link: Link
    ends: tuple[EeeEnd, EeeEnd]
    finding: Finding
    state: State
    rate_mbps: int

    @property
    def differs(self) -> bool:
        """Whether EEE of this link is not what somebody switched: at one end only, or not in force though it is up."""
        if self.finding == "contradictory":
            return True
        if self.finding == "one-sided":
            return self.state != "shut"
        return self.state in {"up", "unknown"} and self.finding in {"not in force", "unknown"}


def eee_links(lab: Lab, shown: Mapping[str, SwitchEee]) -> tuple[EeeLink, ...]:
    """EEE of every link, in the order of the inventory; switches that did not answer are not in `shown`."""
    return tuple(_eee_link(link, shown) for link in lab.links)


def _eee_link(link: Link, shown: Mapping[str, SwitchEee]) -> EeeLink:
    first, second = (_end(end, shown) for end in (link.a, link.b))
    seen = [shown[end.device].links.get(end.port, NO_STATE) for end in (link.a, link.b) if end.device in shown]
    found = of_ends(seen)
    finding = _finding(first.status, second.status)
    state = "up" if found.state == "unknown" and finding == "in force" else found.state
    return EeeLink(link, (first, second), finding, state, found.rate_mbps)


def _end(end: End, shown: Mapping[str, SwitchEee]) -> EeeEnd:
    return EeeEnd(end, shown[end.device].eee.get(end.port) if end.device in shown else None)


def _finding(*ends: EeeStatus | None) -> Finding:
    ports = [end for end in ends if end is not None]
    if not ports:
        return "unknown"
    if any(end.active and (not end.enabled or end.supported is False) for end in ports):
        return "contradictory"
    enabled = {end.enabled for end in ports}
    if len(enabled) > 1:
        return "one-sided"
    if not enabled.pop():
        return "off"
    active = [end.active for end in ports if end.active is not None]
    if not active:
        return "on"
    return "in force" if all(active) else "not in force"
