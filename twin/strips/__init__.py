"""Power strips over SNMP. A family is one file and one row of `FAMILIES`."""

from twin.strips import apc_rpdu2, gude_epc8226, servertech_sentry4
from twin.strips.strip import Outlet, Strip, StripFamily

FAMILIES: dict[str, StripFamily] = {
    family.name: family for family in (apc_rpdu2.FAMILY, servertech_sentry4.FAMILY, gude_epc8226.FAMILY)
}

__all__ = ["FAMILIES", "Outlet", "Strip", "StripFamily"]
