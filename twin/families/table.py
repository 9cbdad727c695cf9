"""The switch families of the twin, in one visible table: configuration, command line and SNMP profile of each."""

from collections.abc import Callable
from dataclasses import dataclass

from lab.errors import LabError
from lab.model import Switch
from twin.cli.shell import Cli
from twin.families.fastpath import FAMILY as FASTPATH
from twin.families.fastpath import FastpathCli
from twin.families.fastpath.snmp_profile import SNMP_PROFILE as FASTPATH_SNMP
from twin.families.ros import FAMILY as ROS
from twin.families.ros import RosCli
from twin.families.ros.snmp_profile import SNMP_PROFILE as ROS_SNMP
from twin.snmp.profile import SnmpProfile
from twin.switch.device import SwitchDevice
from twin.switch.personality import Family


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


def check_family(switch: Switch) -> None:
    """Refuse a switch of a family that has no twin."""
    if switch.family not in FAMILIES:
        raise LabError(
            f"{switch.name} is a {switch.family}, which has no twin (these have: {', '.join(FAMILIES)}): "
            "bring up a lab of those, or use this one with its real switches."
        )


def check_ports(switch: Switch) -> None:
    """Refuse a switch whose ports in the inventory are not those of its model."""
    try:
        plans = FAMILIES[switch.family].family.ports(switch.model)
    except ValueError as error:
        raise LabError(f"{switch.name}: {error}.") from error
    real = {plan.name: plan.speed_mbps for plan in plans}
    if [port.name for port in switch.ports] == list(real):
        for port in switch.ports:
            if port.rate_mbps != real[port.name]:
                raise LabError(
                    f"{switch.name}: port {port.name} of a {switch.model} does {real[port.name]} Mb/s, but hosts.yml "
                    f"says {port.rate_mbps}: correct it there."
                )
        return
    names = list(real)
    raise LabError(
        f"{switch.name}: the ports of a {switch.model} are {names[0]} to {names[-1]}, {len(names)} in all and in this "
        f"order, but hosts.yml lists {len(switch.ports)} others: correct `ports` or `model` there."
    )
