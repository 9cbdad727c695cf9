"""Families of switches that count how often and how long their ports are in Low Power Idle: what to ask. Pure.

FASTPATH's ``show green-mode PORT`` (CLI manual 202-11997) has events and durations of both directions since somebody
cleared them. Its text says durations are in steps of 10 s, its sample heading "(uSec)": the heading is believed, and
a port whose idle time is known tells which is right. Dell's N-series has the same code base, and its output is not
known. The ROS family (Dell 55xx, Cisco SG) shows no such counters; hosts' own are the node sampler's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from controller.drivers.driver import Answers, Query, Show
from controller.drivers.fastpath.shows import GREEN, fields
from lab.errors import Unreadable
from lab.model import Switch, SwitchFamily

_LABELS: Final = (
    "Tx Low Power Idle Event Count",
    "Tx Low Power Idle Duration (uSec)",
    "Rx Low Power Idle Event Count",
    "Rx Low Power Idle Duration (uSec)",
)

LpiCounts = tuple[int, int, int, int]
"""tx events, tx microseconds, rx events, rx microseconds."""


class LpiFamily(Protocol):
    """One family."""

    def queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask."""

    def read(self, switch: Switch, answers: Answers) -> Mapping[str, LpiCounts]:
        """Counts of each port; Unreadable if they are not there."""


@dataclass(frozen=True, slots=True)
class GreenMode:
    """FASTPATH: one command a port."""

    def queries(self, switch: Switch) -> tuple[Query, ...]:
        """``show green-mode`` of each port."""
        return tuple(Show(f"{GREEN} {port.name}") for port in switch.ports)

    def read(self, switch: Switch, answers: Answers) -> Mapping[str, LpiCounts]:
        """Four numbers a port."""
        return {port.name: self._port(switch, f"{GREEN} {port.name}", answers) for port in switch.ports}

    def _port(self, switch: Switch, command: str, answers: Answers) -> LpiCounts:
        text = answers[Show(command)]
        if not isinstance(text, str):
            raise Unreadable(switch.name, command, repr(text))
        said = fields(switch, command, text)
        if any(not said.get(label, "").isdecimal() for label in _LABELS):
            raise Unreadable(switch.name, command, text)
        tx_event, tx_us, rx_event, rx_us = (int(said[label]) for label in _LABELS)
        return tx_event, tx_us, rx_event, rx_us


LPI_FAMILIES: Final[Mapping[SwitchFamily, LpiFamily]] = {"netgear_m4300": GreenMode()}
"""Every family that shows them."""
