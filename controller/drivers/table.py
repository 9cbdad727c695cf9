"""Every switch family that a lab may have, in one visible table."""

from collections.abc import Mapping

from controller.drivers import cisco_ios, fastpath, linux_bridge, openvswitch, ros
from controller.drivers.driver import Family
from controller.model.lab import SwitchFamily

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
