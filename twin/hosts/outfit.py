"""Makes the kit of each host: keys, accounts, configuration files, addresses."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from eee_testbed.lab.model import Lab
from eee_testbed.twin.hosts.hostfiles import (
    HOMES,
    SSH_CONFIG,
    UCX_CONFIG,
    USER,
    accounts,
    etc_hosts,
    known_hosts,
    openmpi_params,
    prrte_params,
    sshd_config,
)
from eee_testbed.twin.hosts.hostinit import HostKit
from eee_testbed.twin.hosts.sshd import find_sshd
from eee_testbed.twin.machine.cgroups import Hierarchy, HostGroup
from eee_testbed.twin.machine.lab_clock import host_environment
from eee_testbed.twin.machine.statedir import CLOCK, Journal, StateDir


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An ed25519 key in OpenSSH's formats; `public` has no comment."""

    private: str
    public: str


def make_key() -> KeyPair:
    """Make a key pair, as `ssh-keygen -t ed25519` does."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    public = key.export_public_key("openssh").decode().split()
    return KeyPair(key.export_private_key("openssh").decode(), " ".join(public[:2]))


def write_keys(lab: Lab, state: StateDir) -> tuple[KeyPair, dict[str, KeyPair]]:
    """Make the lab's user key and one host key per node; the user key is written to `keys/` for use from outside."""
    user_key = make_key()
    state.write_secret("keys/lab_ed25519", user_key.private)
    state.write_secret("keys/lab_ed25519.pub", f"{user_key.public} lab@{lab.name}\n")
    return user_key, {host.name: make_key() for host in lab.hosts}


def _common_files(lab: Lab, user_key: KeyPair, host_keys: Mapping[str, KeyPair]) -> dict[str, tuple[str, int, int]]:
    """Files that are the same on all hosts: text, permissions and owner."""
    number, account_files = accounts()
    authorized = f"{user_key.public} lab@{lab.name}\n"
    home = HOMES[USER]
    return {
        "/etc/passwd": (account_files["/etc/passwd"], 0o644, 0),
        "/etc/group": (account_files["/etc/group"], 0o644, 0),
        "/etc/shadow": (account_files["/etc/shadow"], 0o600, 0),
        "/etc/ssh/ssh_config": (SSH_CONFIG, 0o644, 0),
        "/etc/ssh/ssh_known_hosts": (
            known_hosts(lab.hosts, {name: key.public for name, key in host_keys.items()}),
            0o644,
            0,
        ),
        "/etc/ssh/authorized_keys": (authorized, 0o644, 0),
        "/etc/openmpi/openmpi-mca-params.conf": (openmpi_params(lab.data_network, lab.management_network), 0o644, 0),
        "/etc/openmpi/prte-mca-params.conf": (prrte_params(lab.management_network), 0o644, 0),
        "/etc/ucx/ucx.conf": (UCX_CONFIG, 0o644, 0),
        f"{home}/.ssh/authorized_keys": (authorized, 0o600, number),
        f"{home}/.ssh/id_ed25519": (user_key.private, 0o600, number),
        f"{home}/.ssh/id_ed25519.pub": (authorized, 0o644, number),
    }


def make_kits(
    lab: Lab,
    state: StateDir,
    hierarchy: Hierarchy,
    journal: Journal,
    user_key: KeyPair,
    host_keys: Mapping[str, KeyPair],
) -> list[HostKit]:
    """Return the kits of all hosts, in the order of the inventory; `journal` names their control groups."""
    number, _ = accounts()
    sshd = find_sshd()
    groups = Path(journal.cgroups)
    cpu_groups = Path(journal.cpu_groups) if journal.cpu_groups else None
    clock = state / CLOCK
    has_clock = clock.exists()
    environments = {
        host.name: host_environment(journal.cpu_ratios.get(host.name)) if has_clock else {} for host in lab.hosts
    }
    common = _common_files(lab, user_key, host_keys)
    data_length = ipaddress.IPv4Network(lab.data_network).prefixlen
    management_length = ipaddress.IPv4Network(lab.management_network).prefixlen
    return [
        HostKit(
            name=host.name,
            mac=host.mac,
            interface=host.interface,
            mtu_byte=host.mtu_byte,
            data_address=f"{host.data_address}/{data_length}",
            management_address=f"{host.management_address}/{management_length}",
            group=HostGroup(groups / host.name, hierarchy.version, cpu_groups and cpu_groups / host.name),
            staging=str(state / "root"),
            shared=str(state / "shared"),
            user_number=number,
            files={
                **common,
                "/etc/hostname": (host.name + "\n", 0o644, 0),
                "/etc/hosts": (etc_hosts(lab, host.name), 0o644, 0),
                "/etc/ssh/sshd_config": (sshd_config(environments[host.name]), 0o644, 0),
                "/etc/ssh/ssh_host_ed25519_key": (host_keys[host.name].private, 0o600, 0),
                "/etc/ssh/ssh_host_ed25519_key.pub": (host_keys[host.name].public + "\n", 0o644, 0),
            },
            sshd=sshd,
            clock=str(clock) if has_clock else "",
            clock_environment=environments[host.name],
        )
        for host in lab.hosts
    ]
