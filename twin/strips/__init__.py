"""Power strips over SNMP. A family is one file and one row of `FAMILIES`."""

from eee_testbed.twin.strips import apc_rpdu2, gude, servertech_sentry4
from eee_testbed.twin.strips.strip import Outlet, Strip, StripFamily, StripModel

FAMILIES: dict[str, StripFamily] = {
    family.name: family for family in (apc_rpdu2.FAMILY, servertech_sentry4.FAMILY, gude.FAMILY)
}

__all__ = ["FAMILIES", "Outlet", "Strip", "StripFamily", "StripModel"]
