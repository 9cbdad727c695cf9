"""Which families of power strips a device may be of, by its sysObjectID (IANA, private enterprise numbers). Pure."""

from collections.abc import Mapping
from typing import Final

from eee_testbed.lab.model import StripFamily

_ENTERPRISES: Final = "1.3.6.1.4.1."
_MAKERS: Final[Mapping[StripFamily, str]] = {
    "apc_rpdu2": "318",
    "apc_rpdu": "318",
    "servertech_sentry4": "1718",
    "servertech_sentry3": "1718",
    "raritan_px": "13742",
    "eaton_g3": "534",
    "cyberpower_epdu2": "3808",
    "cyberpower_epdu": "3808",
    "gude": "28507",
}
"""Newer families of a maker stand first: their strips may answer with the older one's objects too."""


def strip_families_of(object_id: str) -> tuple[StripFamily, ...]:
    """The families of that maker; a maker's other devices answer none of their objects."""
    number = object_id.removeprefix(_ENTERPRISES).partition(".")[0]
    return tuple(family for family, maker in _MAKERS.items() if maker == number)
