"""Checks before a lab is brought up. Nothing is changed here; each error says what to do."""

import importlib.util
import ipaddress
import json
import os
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import STATE_ROOT
from eee_testbed.lab.model import Lab
from eee_testbed.twin.hosts.sshd import find_sshd
from eee_testbed.twin.machine.statedir import running_labs
from eee_testbed.twin.machine.steer import listen_tcp

_TUN = Path("/dev/net/tun")
_MOUNTS = Path("/proc/self/mountinfo")
_STATE_FOLDER = re.compile(re.escape(STATE_ROOT) + r"/([^/\s\"']+)")


@dataclass(frozen=True, slots=True)
class Listener:
    """An address that a device of the lab listens at."""

    device: str
    address: str
    port: int
    protocol: Literal["tcp", "udp"]

    def __str__(self) -> str:
        return f"{self.address}:{self.port}/{self.protocol}"


def listeners(lab: Lab) -> tuple[Listener, ...]:
    """All addresses of switches and strips."""
    addresses = []
    for switch in lab.switches:
        addresses.append(Listener(switch.name, switch.address, switch.ssh_port, "tcp"))
        addresses.append(Listener(switch.name, switch.address, switch.snmp_port, "udp"))
    addresses += [Listener(strip.name, strip.address, strip.snmp_port, "udp") for strip in lab.strips]
    return tuple(addresses)


def check_machine() -> None:
    """Check privileges, devices and tools."""
    if os.geteuid() != 0:
        raise LabError("a virtual lab makes network namespaces and TAP devices, which only root may: use sudo.")
    if not _TUN.exists():
        raise LabError(
            "/dev/net/tun is missing, and hosts get their network card from it: load it with `modprobe tun`, or start "
            "the container with `--device /dev/net/tun`."
        )
    try:
        os.close(os.open(_TUN, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        raise LabError(
            f"/dev/net/tun cannot be opened ({error.strerror}): give the container the device and CAP_NET_ADMIN."
        ) from error
    check_root(_MOUNTS.read_text(encoding="utf-8"))
    for tool, package in (("ip", "iproute2"), ("ssh", "openssh-client")):
        if shutil.which(tool) is None:
            raise LabError(f"virtual labs need the tool `{tool}`: install {package}.")
    find_sshd()
    if importlib.util.find_spec("eee_engine") is None:
        raise LabError("the engine (module eee_engine) is not built: run `make setup` in the checkout.")


def check_root(mounts: str) -> None:
    """Refuse a root folder that is no mount point. `mounts`: /proc/self/mountinfo, whose field 5 is the place."""
    if not any(line.split()[4] == "/" for line in mounts.splitlines()):
        raise LabError(
            "the root folder here is no mount point, as in a chroot, so hosts can have no view of files of their own: "
            "run `mount --bind DIR DIR` outside before `chroot DIR`."
        )


def check_paths(lab: Lab) -> None:
    """Refuse an inventory that points at another virtual lab's keys, as a copy of a shipped one does."""
    for file in sorted(path for path in Path(lab.folder).rglob("*") if path.suffix in (".yml", ".yaml")):
        for other in _STATE_FOLDER.findall(file.read_text(encoding="utf-8", errors="replace")):
            if other != lab.name:
                raise LabError(
                    f"{file} points at {STATE_ROOT}/{other}, the keys and passwords of another lab, and this one is "
                    f"{lab.name}: write {STATE_ROOT}/{lab.name} there, or give the folder the name {other}."
                )


def check_networks(lab: Lab) -> None:
    """Refuse a management network that the machine or another lab uses already."""
    management = ipaddress.IPv4Network(lab.management_network)
    for name, journal in running_labs().items():
        if name != lab.name and management.overlaps(ipaddress.IPv4Network(journal.management_network)):
            raise LabError(
                f"lab {name} uses the management network {journal.management_network} too: take it down "
                f"(`eeectl lab down {name}`) or change management_network in {lab.folder}/hosts.yml."
            )
    done = subprocess.run(["ip", "-j", "-4", "addr", "show"], capture_output=True, text=True, check=True)
    for interface in json.loads(done.stdout or "[]"):
        for held in interface.get("addr_info", []):
            network = ipaddress.IPv4Interface(f"{held['local']}/{held['prefixlen']}").network
            if network.overlaps(management):
                raise LabError(
                    f"this machine's interface {interface['ifname']} is in {network}, which overlaps the lab's "
                    f"management network {management}: change management_network in {lab.folder}/hosts.yml."
                )


def _bindable(listener: Listener) -> bool:
    try:
        if listener.protocol == "tcp":
            trial, steering = listen_tcp(listener.address, listener.port)
            if steering is not None:
                steering.close()
        else:
            trial = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            trial.bind((listener.address, listener.port))
    except OSError:
        return False
    trial.close()
    return True


def check_listeners(lab: Lab) -> None:
    """Refuse addresses in use."""
    owners = {text: name for name, journal in running_labs().items() if name != lab.name for text in journal.listeners}
    for listener in listeners(lab):
        if str(listener) in owners:
            owner = owners[str(listener)]
            raise LabError(
                f"{listener.device}'s address {listener} is in use by lab {owner}: take it down "
                f"(`eeectl lab down {owner}`) or give {listener.device} another in {lab.folder}/hosts.yml."
            )
        if _bindable(listener):
            continue
        variable = "ansible_port" if listener.protocol == "tcp" else "snmp_port"
        raise LabError(
            f"{listener.device} cannot have its address {listener}: another program has it (`ss -lnptu 'sport = "
            f":{listener.port}'` shows which). Stop that program, or set {variable} or ansible_host of "
            f"{listener.device} in {lab.folder}/hosts.yml."
        )
