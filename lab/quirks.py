"""What sets one switch apart from its family, as data: the names, and which values they take.

A quirk stands in the inventory under a switch's (or a group's) `quirks`. Limits that a quirk gives take the place of
the family's (`controller.planning.limits`); what a driver does otherwise for one, its own documentation says.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from eee_testbed.lab.model import SwitchFamily


@dataclass(frozen=True, slots=True)
class Quirk:
    """`values` are the words that it takes; none: a number from 0, yes and no if `is_switch`, a name if `is_name`."""

    meaning: str
    is_switch: bool = False
    values: tuple[str, ...] = ()
    is_name: bool = False

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        if self.values:
            return f"one of {', '.join(self.values)}"
        if self.is_name:
            return "a name of letters, digits, and . _ -"
        return "yes or no" if self.is_switch else "a number from 0"

    def accepts(self, value: object) -> bool:
        """Whether a value of the inventory fits."""
        if self.values:
            return value in self.values
        if self.is_name:
            return isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", value) is not None
        if self.is_switch:
            return isinstance(value, bool)
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0


LIMITS: Mapping[str, Quirk] = {
    "vlans": Quirk("most VLANs at once, the default one included"),
    "static_entries": Quirk("most static forwarding entries of the switch"),
    "static_entries_per_port": Quirk("most static forwarding entries of a port"),
    "reserved_vid": Quirk("a VID that this switch keeps for itself"),
    "eee": Quirk("whether the model can do EEE at all", is_switch=True),
    "hold": Quirk("whether the hold time can be set", is_switch=True),
    "flow_control": Quirk("whether flow control can be set", is_switch=True),
}
"""For every family."""

_PORTS_PROVED = {
    "ports_proved": Quirk(
        "a person made sure that SNMP and the command line mean the same ports: no descriptions are written for it",
        is_switch=True,
    ),
}

QUIRKS: Mapping[SwitchFamily, Mapping[str, Quirk]] = {
    "cisco_ios": {
        **_PORTS_PROVED,
        "trunk_encapsulation": Quirk(
            "the model also knows ISL, and wants dot1q named before trunk mode", is_switch=True
        ),
        "eee_default": Quirk("EEE is on unless the configuration says otherwise", is_switch=True),
    },
    **dict.fromkeys(
        ("dell_powerconnect_55xx", "netgear_m4300", "dell_powerconnect_62xx", "dell_n_series"), _PORTS_PROVED
    ),
    "cisco_sg": {
        **_PORTS_PROVED,
        "link_flap_prevention": Quirk(
            "it shuts ports that flap (350 series on): that is turned off before the first port is", is_switch=True
        ),
    },
    "linux_bridge": {"bridge": Quirk("the bridge that is this switch, br0 without this quirk", is_name=True)},
    "openvswitch": {"bridge": Quirk("the bridge that is this switch, br0 without this quirk", is_name=True)},
}
"""For one family; its driver says what it does for it."""


def quirks_of(family: SwitchFamily) -> Mapping[str, Quirk]:
    """Every quirk that a switch of the family may have, by name."""
    return {**LIMITS, **QUIRKS.get(family, {})}
