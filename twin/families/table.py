"""The switch families of the twin, in one visible table: configuration, command line and SNMP profile of each."""

from collections.abc import Callable
from dataclasses import dataclass

from eee_testbed.lab.model import Switch
from eee_testbed.twin.cli.shell import Cli
from eee_testbed.twin.families.fastpath import FAMILY as FASTPATH
from eee_testbed.twin.families.fastpath import FastpathCli
from eee_testbed.twin.families.fastpath.snmp_profile import SNMP_PROFILE as FASTPATH_SNMP
from eee_testbed.twin.families.ros import FAMILY as ROS
from eee_testbed.twin.families.ros import RosCli
from eee_testbed.twin.families.ros.snmp_profile import SNMP_PROFILE as ROS_SNMP
from eee_testbed.twin.snmp.profile import SnmpProfile
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import Family


@dataclass(frozen=True, slots=True)
class FamilyKit:
    """A family: `cli` makes the command line of one of its switches, `snmp` is its SNMP profile."""

    family: Family
    cli: Callable[[SwitchDevice], Cli]
    snmp: SnmpProfile


FAMILIES: dict[str, FamilyKit] = {
    "dell_powerconnect_55xx": FamilyKit(ROS, RosCli, ROS_SNMP),
    "netgear_m4300": FamilyKit(FASTPATH, FastpathCli, FASTPATH_SNMP),
}


def without_twin(switch: Switch) -> tuple[str, str] | None:
    """What keeps a switch from having a twin, and the way out; None if it can have one.

    Its family may have none, or its ports may not be those of its model.
    """
    if switch.family not in FAMILIES:
        return (
            f"is a {switch.family}, which has no twin (these have: {', '.join(FAMILIES)})",
            "bring up a lab of those, or use this one with its real switches",
        )
    try:
        plans = FAMILIES[switch.family].family.ports(switch.model)
    except ValueError as error:
        return str(error).partition(": ")[0], str(error).partition(": ")[2]
    real = {plan.name: plan.speed_mbps for plan in plans}
    if [port.name for port in switch.ports] != list(real):
        names = list(real)
        sentence = f"the ports of a {switch.model} are {names[0]} to {names[-1]}, {len(names)} in all and in this order"
        return f"{sentence}, but {len(switch.ports)} others are listed", "correct `ports` or `model`"
    for port in switch.ports:
        if port.rate_mbps != real[port.name]:
            sentence = f"port {port.name} of a {switch.model} does {real[port.name]} Mb/s, not {port.rate_mbps}"
            return sentence, "correct `ports`"
    return None
