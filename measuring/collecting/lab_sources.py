"""The sources of a lab's samples, and the offsets of its nodes' clocks."""

from collections.abc import Sequence
from typing import Final

from eee_testbed.controller.strips.outlets import Meter
from eee_testbed.controller.transports.host_clock import ClockReading, read_clocks, tracking_here
from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import access_of
from eee_testbed.controller.transports.switches import open_session
from eee_testbed.lab.errors import AccessDenied, DeviceError
from eee_testbed.lab.model import Host, Lab, Strip, Switch
from eee_testbed.measuring.collecting.collect import Timed
from eee_testbed.measuring.collecting.lpi_counters import LPI_FAMILIES
from eee_testbed.measuring.collecting.lpi_source import LpiSource
from eee_testbed.measuring.collecting.port_source import PortSource
from eee_testbed.measuring.collecting.strip_source import StripSource
from eee_testbed.record.clock_offsets import Exchange, Offset, by_chrony, offset_of
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.store import Run

PERIOD_S: Final = 1.0
LPI_PERIOD_S: Final = 10.0
_TIMEOUTS: Final = ((0.3, 6), (1.0, 1))
"""Shorter than those of a plan: the next tick polls again."""


def sources_of(lab: Lab, *, period_s: float = PERIOD_S, lpi_period_s: float = LPI_PERIOD_S) -> tuple[Timed, ...]:
    """Every switch with an SNMP agent, every strip, and the LPI counters of families that show them.

    `lpi_period_s` 0: without LPI counters. A switch without SNMP (Open vSwitch, Linux bridges) has no source.
    """
    strips = [Timed(_strip(lab, strip), period_s) for strip in lab.strips]
    switches = [Timed(_ports(switch), period_s) for switch in lab.switches if _has_agent(switch)]
    counting = [switch for switch in lab.switches if switch.family in LPI_FAMILIES and lpi_period_s]
    return (*switches, *strips, *(Timed(_lpi(switch), lpi_period_s) for switch in counting))


def _has_agent(switch: Switch) -> bool:
    try:
        access_of(switch)
    except AccessDenied:
        return False
    return True


def _ports(switch: Switch) -> PortSource:
    return PortSource(switch, lambda: Agent(access_of(switch), _TIMEOUTS))


def _strip(lab: Lab, strip: Strip) -> StripSource:
    feeds = {outlet.number: outlet.feeds for outlet in lab.outlets if outlet.strip == strip.name}
    return StripSource(strip, feeds, lambda: Meter(strip, Agent(access_of(strip), _TIMEOUTS)))


def _lpi(switch: Switch) -> LpiSource:
    return LpiSource(switch, LPI_FAMILIES[switch.family], lambda: open_session(switch))


def note_clocks(run: Run, hosts: Sequence[Host]) -> dict[str, Offset]:
    """Read the nodes' clocks and record their offsets in the run, an event for each that cannot be read.

    Call it at the start and at the end of a run. Where chrony runs on both machines, the smaller of its bound and that
    of the round trips is kept.
    """
    offsets: dict[str, Offset] = {}
    here = tracking_here()
    for name, reading in read_clocks(hosts).items():
        if isinstance(reading, DeviceError):
            run.event(EventKind.CLOCK_UNKNOWN, source=name, why=str(reading))
        else:
            offsets[name] = _offset(run, name, reading, here)
    run.add_clocks([offset.plain() for offset in offsets.values()])
    return offsets


def _offset(run: Run, name: str, reading: ClockReading, here: str) -> Offset:
    at_ns = run.clock.at_ns
    exchanges = [Exchange(at_ns(sent), there, at_ns(received)) for sent, there, received in reading.exchanges]
    over_ssh = offset_of(name, "ssh round trips", exchanges)
    chrony = by_chrony(name, here, reading.tracking, over_ssh.time_ns, run.clock.system_ahead_ns())
    return chrony if chrony is not None and chrony.bound_ns < over_ssh.bound_ns else over_ssh
