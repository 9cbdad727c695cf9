"""Every switch family that a lab may have, in one visible table."""

from collections.abc import Mapping

from controller.drivers import cisco_ios
from controller.drivers.driver import Family
from controller.model.lab import SwitchFamily

FAMILIES: Mapping[SwitchFamily, Family] = {
    "cisco_ios": cisco_ios.FAMILY,
}
