"""Every switch family that a lab may have, in one visible table."""

from collections.abc import Mapping

from eee_testbed.controller.drivers.cisco_ios import driver as cisco_ios
from eee_testbed.controller.drivers.driver import Driver, Family
from eee_testbed.controller.drivers.fastpath import driver as fastpath
from eee_testbed.controller.drivers.linux_bridge import driver as linux_bridge
from eee_testbed.controller.drivers.openvswitch import driver as openvswitch
from eee_testbed.controller.drivers.ros import driver as ros
from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Switch, SwitchFamily

FAMILIES: Mapping[SwitchFamily, Family] = {
    "dell_powerconnect_55xx": ros.DELL_55XX_FAMILY,
    "cisco_sg": ros.CISCO_SG_FAMILY,
    "netgear_m4300": fastpath.NETGEAR_M4300_FAMILY,
    "dell_powerconnect_62xx": fastpath.DELL_POWERCONNECT_62XX_FAMILY,
    "dell_n_series": fastpath.DELL_N_SERIES_FAMILY,
    "cisco_ios": cisco_ios.FAMILY,
    "linux_bridge": linux_bridge.FAMILY,
    "openvswitch": openvswitch.FAMILY,
}


def driver_of(switch: Switch) -> Driver:
    """The driver of a switch's family; PlanError if the table has none."""
    if switch.family not in FAMILIES:
        raise PlanError(f"{switch.name}: family {switch.family} has no driver; use one of {', '.join(FAMILIES)}.")
    return FAMILIES[switch.family].driver


def capabilities_of(switch: Switch) -> Capabilities:
    """What a switch's family can express; PlanError if it has no driver."""
    return driver_of(switch).capabilities
