"""Every family of power strips that a lab may have, in one visible table."""

from collections.abc import Mapping

from eee_testbed.controller.strips import apc, cyberpower, eaton, gude, raritan, servertech
from eee_testbed.controller.strips.family import FamilyRow
from eee_testbed.lab.model import StripFamily

METER_FAMILIES: Mapping[StripFamily, FamilyRow] = {
    "apc_rpdu": apc.RPDU_FAMILY,
    "apc_rpdu2": apc.RPDU2_FAMILY,
    "servertech_sentry3": servertech.SENTRY3_FAMILY,
    "servertech_sentry4": servertech.SENTRY4_FAMILY,
    "raritan_px": raritan.FAMILY,
    "eaton_g3": eaton.G3_FAMILY,
    "cyberpower_epdu": cyberpower.EPDU_FAMILY,
    "cyberpower_epdu2": cyberpower.EPDU2_FAMILY,
    "gude": gude.FAMILY,
}
