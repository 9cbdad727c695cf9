"""The lines of each family, in one visible table.

Those of Linux machines are for a person. None was tried on a real switch; `source` says where they are from. Factory
accounts: Cisco's page on password settings of its small-business switches (cisco, cisco), the rest from memory of
installation guides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from eee_testbed.controller.drivers.factory.lines import FactoryLines
from eee_testbed.controller.drivers.openvswitch.driver import UNIT, bridge_of, set_up
from eee_testbed.lab.model import Switch, SwitchFamily

_ROS: Final = FactoryLines(
    source="from memory of the CLI guides of Dell's 55xx and Cisco's SG; PowerConnect names the default VLAN 1",
    account=(
        "configure",
        "username USER password PASSWORD privilege 15",
        "crypto key generate rsa",
        "ip ssh server",
        "exit",
    ),
    address=("configure", "interface vlan 1", "ip address ADDRESS MASK", "exit", "exit"),
    community=("configure", "snmp-server server", "snmp-server community COMMUNITY rw", "exit"),
    snmp_v3=(
        "configure",
        "snmp-server server",
        "snmp-server engineID local default",
        "snmp-server group eee v3 priv read Default write Default",
        "snmp-server user SNMPUSER eee v3 auth AUTH AUTHKEY priv PRIVKEY",
        "exit",
    ),
    lldp=("configure", "lldp run", "exit"),
    save=("copy running-config startup-config",),
    # One key answers; Enter would answer the next question too.
    replies=((r"\(y/n\)\s*(\[[yn]\])?\s*\??\s*$", "Y"), (r"\[y/n\]\s*\??\s*$", "Y")),
    auth={"md5": "md5", "sha": "sha"},
    privacy={"des": "", "aes": ""},  # the line names none: the switch's software decides
)

_POWERCONNECT: Final = FactoryLines(
    source="from memory of the CLI guides of Dell's 62xx and N-series",
    account=(
        "configure",
        "username USER password PASSWORD level 15",
        "crypto key generate rsa",
        "crypto key generate dsa",
        "ip ssh server",
        "exit",
    ),
    address=("configure", "ip address ADDRESS MASK", "exit"),
    community=("configure", "snmp-server community COMMUNITY rw", "exit"),
    snmp_v3=(
        "configure",
        "snmp-server group eee v3 priv read Default write Default",
        "snmp-server user SNMPUSER eee auth-AUTH AUTHKEY priv-PRIV PRIVKEY",
        "exit",
    ),
    lldp=("configure", "interface range ethernet all", "lldp transmit", "lldp receive", "exit", "exit"),
    save=("copy running-config startup-config",),
    replies=((r"\(y/n\)\s*:?\s*$", "y"),),
    auth={"md5": "md5", "sha": "sha"},
    privacy={"des": "des"},
)

_LINUX: Final = FactoryLines(
    source="Debian",
    account=(
        "apt-get install openssh-server iproute2 ethtool",
        "useradd --create-home --shell /bin/bash USER",
        "passwd USER",
        "echo 'USER ALL=(root) NOPASSWD:ALL' > /etc/sudoers.d/USER",
    ),
    address=(),
    community=(),
    snmp_v3=(),
    lldp=("apt-get install lldpd",),
    save=(),
    privileged=(),
)


def _open_vswitch(switch: Switch) -> Sequence[str]:
    return (
        "apt-get install openvswitch-switch",
        *(line.text for line in set_up(switch)),
        f"cat >/etc/systemd/system/eee-bridge@.service <<'EOF'\n{UNIT}EOF",
        f"systemctl enable eee-bridge@{bridge_of(switch)}",
    )


FACTORY: Final[Mapping[SwitchFamily, FactoryLines]] = {
    "dell_powerconnect_55xx": _ROS,
    "cisco_sg": replace(
        _ROS,
        # Sessions with Dell's ask for name and password inside, those with Cisco's before (`controller.drivers.login`).
        account=(*_ROS.account[:-1], "ip ssh password-auth", "exit"),
        user="cisco",
        password="cisco",  # noqa: S106 - the published one
    ),
    "netgear_m4300": replace(
        _POWERCONNECT,
        source="from memory of the M4300's CLI manual",
        account=(
            "configure",
            "crypto key generate rsa",
            "username USER password PASSWORD level 15",
            "exit",
            "ip ssh server enable",
        ),
        address=("network parms ADDRESS MASK GATEWAY",),
        lldp=("configure", "interface PORTS", "lldp transmit", "lldp receive", "exit", "exit"),
        save=("write memory",),
        user="admin",
        privacy={"des": "des", "aes": "aes128"},
    ),
    "dell_powerconnect_62xx": _POWERCONNECT,
    "dell_n_series": _POWERCONNECT,
    "cisco_ios": FactoryLines(
        source="from memory of Cisco's configuration guides",
        account=(
            "configure terminal",
            "ip domain-name lab.example",
            "username USER privilege 15 secret PASSWORD",
            "crypto key generate rsa modulus 2048",
            "ip ssh version 2",
            "line vty 0 15",
            "login local",
            "transport input ssh",
            "end",
        ),
        address=("configure terminal", "interface vlan 1", "ip address ADDRESS MASK", "no shutdown", "end"),
        community=("configure terminal", "snmp-server community COMMUNITY RW", "end"),
        snmp_v3=(
            "configure terminal",
            "snmp-server group eee v3 priv",
            "snmp-server user SNMPUSER eee v3 auth AUTH AUTHKEY priv PRIV PRIVKEY",
            "end",
        ),
        lldp=("configure terminal", "lldp run", "end"),
        save=("write memory",),
        replies=((r"\[yes/no\]\s*:?\s*$", "yes\n"),),
        auth={"md5": "md5", "sha": "sha"},
        privacy={"des": "des", "aes": "aes 128", "aes192": "aes 192", "aes256": "aes 256"},
    ),
    "linux_bridge": _LINUX,
    "openvswitch": replace(_LINUX, bridge=_open_vswitch),
}
