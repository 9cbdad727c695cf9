"""The management network: a bridge on the machine, and a veth cable from it to each host.

All interfaces on the machine's side are in one interface group with a random number, which is written to the lab's
journal before the first is made: deleting the group removes exactly the lab's interfaces, all at once.
"""

import ipaddress
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eee_testbed.lab.errors import LabError

_INTERFACES = Path("/sys/class/net")


@dataclass(frozen=True, slots=True)
class Bridge:
    """The names of one lab's management network on the machine; `address` has its prefix length."""

    name: str
    address: str
    group: int

    def cable(self, number: int) -> str:
        """Name of the machine's end of the cable to host `number`."""
        return f"ev{self.group:08x}.{number}"


def bridge_name(lab: str, group: int) -> str:
    """Return an interface name (at most 15 characters) for a lab's bridge."""
    return f"eee-{lab}" if len(lab) <= 11 else f"eee-{lab[:6]}-{group & 0xFFFF:04x}"


def own_address(network: str, taken: set[str]) -> str:
    """Return the highest address of the network that no host has, with the prefix length: the machine's own."""
    parsed = ipaddress.IPv4Network(network)
    for number in range(int(parsed.broadcast_address) - 1, int(parsed.network_address), -1):
        address = str(ipaddress.IPv4Address(number))
        if address not in taken:
            return f"{address}/{parsed.prefixlen}"
    raise LabError(f"the management network {network} has no address left for the machine: use a larger network.")


def _ip(commands: str, what: str) -> None:
    done = subprocess.run(["ip", "-batch", "-"], input=commands, text=True, capture_output=True, check=False)
    if done.returncode:
        raise LabError(f"the management network could not {what}; `ip` printed: {done.stderr.strip()}.")


def make_bridge(bridge: Bridge) -> None:
    """Create the bridge; LabError if an interface of that name exists."""
    if (_INTERFACES / bridge.name).exists():
        raise LabError(
            f"an interface {bridge.name} exists already and does not belong to this lab: remove it "
            f"(`ip link delete {bridge.name}`) or rename the lab's folder."
        )
    _ip(
        f"link add {bridge.name} group {bridge.group} type bridge stp_state 0 forward_delay 0 mcast_snooping 0\n"
        f"link set {bridge.name} addrgenmode none\n"
        f"addr add {bridge.address} brd + dev {bridge.name}\n"
        f"link set {bridge.name} up\n",
        "be made",
    )


def plug_cables(bridge: Bridge, processes: Mapping[int, int]) -> None:
    """Run a cable to each host; `processes` maps a host's number to its process 1. Its end is called mgmt0."""
    lines = []
    for number, process in processes.items():
        end = bridge.cable(number)
        lines += [
            f"link add {end} group {bridge.group} type veth peer name mgmt0 netns {process}",
            f"link set {end} addrgenmode none master {bridge.name} up",
        ]
    _ip("\n".join(lines) + "\n", "be cabled")


def interfaces_in(group: int) -> list[str]:
    """Interfaces of the machine that are in a group."""
    interfaces = []
    for folder in _INTERFACES.iterdir():
        try:
            if int((folder / "netdev_group").read_text(encoding="ascii")) == group:
                interfaces.append(folder.name)
        except (FileNotFoundError, NotADirectoryError, OSError):
            continue  # it was removed meanwhile
    return interfaces


def remove_group(group: int) -> None:
    """Remove every interface of a lab's group; an empty group is ignored."""
    while interfaces_in(group):
        done = subprocess.run(
            ["ip", "link", "delete", "group", str(group)], text=True, capture_output=True, check=False
        )
        if done.returncode and interfaces_in(group):
            raise LabError(f"the management network could not be removed; `ip` printed: {done.stderr.strip()}.")
