"""Models of switches and strips that a drawn lab may have, in one visible table."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Model:
    """A switch model: `groups` are ranges of port names with their rate in Mb/s."""

    family: str
    name: str
    groups: tuple[tuple[str, int], ...]
    copper: str  # pattern of a copper port's name; {} is its number
    copper_count: int  # ports of 1000BASE-T, which come first

    def port(self, number: int) -> str:
        """Name of a copper port."""
        return self.copper.format(number)


@dataclass(frozen=True, slots=True)
class StripModel:
    """A power strip model."""

    family: str
    name: str
    outlet_count: int


DELL_24: Final = Model(
    "dell_powerconnect_55xx", "PowerConnect 5524", (("gi1/0/[1:24]", 1000), ("te1/0/[1:2]", 10_000)), "gi1/0/{}", 24
)
DELL_48: Final = Model(
    "dell_powerconnect_55xx", "PowerConnect 5548", (("gi1/0/[1:48]", 1000), ("te1/0/[1:2]", 10_000)), "gi1/0/{}", 48
)
NETGEAR_28: Final = Model("netgear_m4300", "M4300-28G", (("1/0/[1:24]", 1000), ("1/0/[25:28]", 10_000)), "1/0/{}", 24)
NETGEAR_52: Final = Model("netgear_m4300", "M4300-52G", (("1/0/[1:48]", 1000), ("1/0/[49:52]", 10_000)), "1/0/{}", 48)

MODELS: Final = (DELL_24, DELL_48, NETGEAR_28, NETGEAR_52)
"""Of each family the smaller models first."""

APC: Final = StripModel("apc_rpdu2", "AP8653", 24)
GUDE: Final = StripModel("gude", "Expert Power Control 8226", 12)
