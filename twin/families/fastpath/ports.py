"""Models and port names of the M4300 series, and how a command line writes ports.

Sources: CLI manual 202-11997 (``unit/slot/port``, ``lag N``, ranges ``1/0/1-1/0/4``, 128 port channels); outputs of an
M4300-24X with firmware 12.0.13 for ifIndex (port N is N, `lag N` is 769 + N) and for the rates that a port offers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_testbed.twin.cli.tokens import BadToken
from eee_testbed.twin.switch.personality import PortPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

LAG_COUNT = 128
LAG_MEMBERS_MAX = 8
_FIRST_LAG_IF_INDEX = 770


@dataclass(frozen=True, slots=True)
class Model:
    """A chassis: port counts in the order in which they are numbered."""

    name: str
    description: str
    gigabit: int
    ten_gigabit: int


# Simplification: SFP+ slots behave as 10GBASE-T ports. A real one has no EEE with optics or direct-attach cables, and
# its link comes up without negotiation; `show green-mode` and the link-up time could show it.
MODELS = {
    m.name: m
    for m in (
        Model("M4300-28G", "M4300-28G ProSAFE 24-port 1G and 2-port 10GBASE-T and 2-port 10G SFP+", 24, 4),
        Model("M4300-52G", "M4300-52G ProSAFE 48-port 1G and 2-port 10GBASE-T and 2-port 10G SFP+", 48, 4),
        Model("M4300-24X", "M4300-24X ProSAFE 20-port 10GBASE-T and 4-port 10G combo", 0, 24),
        Model("M4300-48X", "M4300-48X ProSAFE 48-port 10GBASE-T", 0, 48),
    )
}


def model_named(name: str) -> Model:
    """Return a model by its name; ValueError lists the known models."""
    if name not in MODELS:
        raise ValueError(f"unknown NETGEAR model {name!r}: use one of {', '.join(MODELS)}")
    return MODELS[name]


def physical_ports(model: Model) -> tuple[PortPlan, ...]:
    """Ports in bridge-port order."""
    phys = [("1000BASE-T", 1000, "Gigabit - Level")] * model.gigabit
    phys += [("10GBASE-T", 10_000, "10G - Level")] * model.ten_gigabit
    return tuple(
        PortPlan(f"1/0/{n}", f"Unit: 1 Slot: 0 Port: {n} {level}", n, phy, mbps)
        for n, (phy, mbps, level) in enumerate(phys, start=1)
    )


def lag_ports() -> tuple[PortPlan, ...]:
    """Return the port channels: all exist in the factory configuration, empty."""
    return tuple(
        PortPlan(f"lag {n}", f" Link Aggregate {n}", _FIRST_LAG_IF_INDEX - 1 + n, "", 0)
        for n in range(1, LAG_COUNT + 1)
    )


# Rates in Mb/s by PHY. Measured on an M4300-24X (10GBASE-T) and a GSM7252PS (1000BASE-T): 1000 can only be negotiated.
OFFERED_MBPS: dict[str, tuple[int, ...]] = {
    "1000BASE-T": (10, 100, 1000),
    "10GBASE-T": (100, 1000, 10_000),
}
FORCIBLE_MBPS: dict[str, tuple[int, ...]] = {
    "1000BASE-T": (10, 100),
    "10GBASE-T": (100, 10_000),
}


@dataclass(frozen=True, slots=True)
class PortRange:
    """Ports as a line wrote them. `numbers` are bridge-port numbers."""

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PortToken:
    """``1/0/4``, ``lag 3`` and, where `ranges`, ``1/0/1-1/0/4``. Value: PortRange."""

    physical: int
    ranges: bool = True
    placeholder: str = "<unit/slot/port>"
    help: str = "Enter interface in unit/slot/port format."

    def parse(self, words: Sequence[str]) -> tuple[PortRange, int]:
        """Read one or two words."""
        if words[0].lower() == "lag":
            if len(words) < 2 or not re.fullmatch(r"[1-9]\d{0,2}", words[1]) or int(words[1]) > LAG_COUNT:
                raise BadToken(f"lag takes a number from 1 to {LAG_COUNT}")
            return PortRange(f"lag {int(words[1])}", (self.physical + int(words[1]),)), 2
        match = re.fullmatch(r"1/0/([1-9]\d{0,2})(?:-1/0/([1-9]\d{0,2}))?", words[0])
        if not match or (match[2] and not self.ranges):
            raise BadToken(f"{words[0]!r} is not a port such as 1/0/1")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last <= self.physical:
            raise BadToken(f"{words[0]!r} is outside 1/0/1 to 1/0/{self.physical}")
        return PortRange(words[0], tuple(range(first, last + 1))), 1
