"""Families of switches that count how often and how long their ports are in LPI, and the commands for it. Pure.

FASTPATH's ``show green-mode PORT`` (CLI manual 202-11997) has events and durations of both directions since they were
cleared. Its text says that durations are in steps of 10 s, the heading of its sample says "(uSec)": this code takes
microseconds, and a port whose idle time is known shows which is right. Dell's N-series has the same code base, but its
output is unknown. The ROS family (Dell 55xx, Cisco SG) shows no such counters; the node sampler reads those of hosts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from eee_testbed.controller.drivers.driver import Answers, Query, Show
from eee_testbed.controller.drivers.fastpath.shows import GREEN, fields
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch, SwitchFamily

_LABELS: Final = (
    "Tx Low Power Idle Event Count",
    "Tx Low Power Idle Duration (uSec)",
    "Rx Low Power Idle Event Count",
    "Rx Low Power Idle Duration (uSec)",
)

LpiCounts = tuple[int, int, int, int]
"""tx events, tx microseconds, rx events, rx microseconds."""


class LpiFamily(Protocol):
    """The LPI counters of one family."""

    def queries(self, switch: Switch) -> tuple[Query, ...]:
        """The commands to send."""

    def read(self, switch: Switch, answers: Answers) -> Mapping[str, LpiCounts]:
        """Counts of each port; Unreadable if they are missing."""


@dataclass(frozen=True, slots=True)
class GreenMode:
    """FASTPATH: one command for each port."""

    def queries(self, switch: Switch) -> tuple[Query, ...]:
        """``show green-mode`` of each port."""
        return tuple(Show(f"{GREEN} {port.name}") for port in switch.ports)

    def read(self, switch: Switch, answers: Answers) -> Mapping[str, LpiCounts]:
        """Four numbers for each port."""
        return {port.name: self._port(switch, f"{GREEN} {port.name}", answers) for port in switch.ports}

    def _port(self, switch: Switch, command: str, answers: Answers) -> LpiCounts:
        text = answers[Show(command)]
        if not isinstance(text, str):
            raise Unreadable(switch.name, command, repr(text))
        shown = fields(switch, command, text)
        if any(not shown.get(label, "").isdecimal() for label in _LABELS):
            raise Unreadable(switch.name, command, text)
        tx_event, tx_us, rx_event, rx_us = (int(shown[label]) for label in _LABELS)
        return tx_event, tx_us, rx_event, rx_us


LPI_FAMILIES: Final[Mapping[SwitchFamily, LpiFamily]] = {"netgear_m4300": GreenMode()}
"""Every family that shows LPI counters."""
