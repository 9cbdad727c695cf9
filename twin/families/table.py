"""The switch families of the twin, in one visible table: how each enters a lab, and its command line."""

from collections.abc import Callable
from dataclasses import dataclass

from lab.errors import LabError
from lab.model import Switch
from twin.cli.shell import Cli
from twin.families.fastpath import FAMILY as FASTPATH
from twin.families.fastpath import FastpathCli
from twin.families.ros import FAMILY as ROS
from twin.families.ros import RosCli
from twin.switch.device import SwitchDevice
from twin.switch.personality import Family


@dataclass(frozen=True, slots=True)
class FamilyKit:
    """A family, and what makes the command line of one of its switches."""

    family: Family
    cli: Callable[[SwitchDevice], Cli]


FAMILIES: dict[str, FamilyKit] = {
    "dell_powerconnect_55xx": FamilyKit(ROS, RosCli),
    "netgear_m4300": FamilyKit(FASTPATH, FastpathCli),
}


def check_face(switch: Switch) -> None:
    """Refuse a switch of a family that the twin cannot play."""
    if switch.family not in FAMILIES:
        raise LabError(
            f"{switch.name} is a {switch.family}, which the twin cannot play (it plays {', '.join(FAMILIES)}): "
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
