"""The variables of an inventory that the testbed reads, and what each may be. Everything else is Ansible's own.

Secrets stand here by reference only: a file that its owner alone may read, or an environment variable.
"""

import ipaddress
import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from lab.model import (
    RATES_MBPS,
    Secret,
    SnmpAuthProtocol,
    SnmpPrivacyProtocol,
    SnmpUser,
    StripFamily,
    SwitchFamily,
)
from lab.quirks import quirks_of

STATE_ROOT = "/run/eee-testbed"
"""Where running virtual labs keep their state; the environment's EEE_STATE_DIR names another place."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WITHOUT_SNMP = ("linux_bridge", "openvswitch")
"""Families that are Linux machines; their drivers need no SNMP."""


def _address(text: str) -> str:
    return str(ipaddress.IPv4Address(text))


def _network(text: str) -> str:
    return str(ipaddress.IPv4Network(text))


def _mac(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", text):
        raise ValueError("a MAC address is six lower-case pairs, such as 02:ee:00:00:00:01")
    if int(text[:2], 16) & 1:
        raise ValueError("this is a group address; the first byte of a card's address is even")
    return text


def _rate(rate_mbps: int) -> int:
    if rate_mbps not in RATES_MBPS:
        raise ValueError(f"Ethernet runs at {', '.join(map(str, RATES_MBPS))} Mb/s")
    return rate_mbps


def _file(text: str) -> str:
    root = os.environ.get("EEE_STATE_DIR")
    if root and text.startswith(STATE_ROOT + "/"):
        return root + text.removeprefix(STATE_ROOT)
    path = Path(text).expanduser()
    if not path.is_absolute():
        raise ValueError("write the whole path of the file, from / or ~")
    return str(path)


def _ssh_arguments(text: str) -> str:
    root = os.environ.get("EEE_STATE_DIR")
    return text.replace(STATE_ROOT + "/", root + "/") if root else text


def _variable(text: str) -> str:
    if not _VARIABLE.fullmatch(text):
        raise ValueError("this is not a name of an environment variable such as EEE_SWITCH_PASSWORD")
    return text


def _way_in(text: str) -> str:
    switch, _, vid = text.rpartition(":")
    if not switch or not vid.isdecimal() or not 1 <= int(vid) <= 4094:
        raise ValueError("a way in is a switch and a VLAN, such as sw1:1")
    return text


Address = Annotated[str, AfterValidator(_address)]
Rate = Annotated[int, AfterValidator(_rate)]
UdpPort = Annotated[int, Field(ge=1, le=65_535)]
SecretFile = Annotated[str, AfterValidator(_file)]
SecretVariable = Annotated[str, AfterValidator(_variable)]


class _Vars(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LabVars(_Vars):
    """Variables of the group `all`. `way_in` is in-band management as SWITCH:VLAN; left out: out of band.

    `watts_note`: a sentence that stands beside every figure of watts from this lab, such as what a meter cannot show.
    """

    management_network: Annotated[str, AfterValidator(_network)]
    data_network: Annotated[str, AfterValidator(_network)]
    way_in: Annotated[str, AfterValidator(_way_in)] | None = None
    watts_note: str = ""


class SnmpUserVars(_Vars):
    """The user of SNMPv3; each key in a file or in an environment variable. A protocol without a key is not used."""

    user: str
    auth_protocol: SnmpAuthProtocol = "sha"
    auth_key_file: SecretFile = ""
    auth_key_env: SecretVariable = ""
    privacy_protocol: SnmpPrivacyProtocol = "aes"
    privacy_key_file: SecretFile = ""
    privacy_key_env: SecretVariable = ""

    @model_validator(mode="after")
    def _keys(self) -> "SnmpUserVars":
        _one_place("auth_key", self.auth_key_file, self.auth_key_env)
        _one_place("privacy_key", self.privacy_key_file, self.privacy_key_env)
        if (self.privacy_key_file or self.privacy_key_env) and not (self.auth_key_file or self.auth_key_env):
            raise ValueError("SNMPv3 has no privacy without authentication: give auth_key_file or auth_key_env")
        return self

    def user_of(self) -> SnmpUser:
        """The same as a value of the model."""
        return SnmpUser(
            self.user,
            self.auth_protocol,
            Secret(self.auth_key_file, self.auth_key_env),
            self.privacy_protocol,
            Secret(self.privacy_key_file, self.privacy_key_env),
        )


class _SnmpVars(_Vars):
    """How SNMP is spoken to a device."""

    snmp_port: UdpPort = 161
    community_file: SecretFile = ""
    community_env: SecretVariable = ""
    snmp_v3: SnmpUserVars | None = None

    def _check_snmp(self, *, needed: bool) -> None:
        _one_place("community", self.community_file, self.community_env)
        if self.snmp_v3 and (self.community_file or self.community_env):
            raise ValueError("it has a community and snmp_v3: give one of the two")
        if needed and not (self.snmp_v3 or self.community_file or self.community_env):
            raise ValueError("SNMP has no secret: give community_file, community_env or snmp_v3")


class SwitchVars(_SnmpVars):
    """Variables of a switch. `ports` maps names or ranges of names, as the switch calls them, to their rate in Mb/s.

    `bridge_ports` maps names or ranges to the bridge port number of the first, for an SNMP agent that names no port.
    """

    ansible_host: Address
    ansible_port: UdpPort = 22
    ansible_user: str = "admin"
    ansible_ssh_private_key_file: SecretFile = ""
    family: SwitchFamily
    model: str
    password_file: SecretFile = ""
    password_env: SecretVariable = ""
    ssh_agent: bool = False
    enable_password_file: SecretFile = ""
    enable_password_env: SecretVariable = ""
    known_hosts_file: SecretFile = ""
    snmp_write: bool = True
    quirks: dict[str, bool | int | str] = Field(default_factory=dict)
    ports: dict[str, Rate]
    bridge_ports: dict[str, Annotated[int, Field(ge=1, le=65_535)]] = Field(default_factory=dict)

    @field_validator("quirks")
    @classmethod
    def _known_quirks(cls, quirks: dict[str, bool | int | str], info: ValidationInfo) -> dict[str, bool | int | str]:
        family = info.data.get("family")
        if family is None:  # said already
            return quirks
        known = quirks_of(family)
        for name, value in quirks.items():
            if name not in known:
                raise ValueError(f"a {family} has no quirk '{name}'; known are {', '.join(known)}")
            if not known[name].accepts(value):
                raise ValueError(f"the quirk {name} takes {known[name].takes}")
        return quirks

    @model_validator(mode="after")
    def _secrets(self) -> "SwitchVars":
        _one_place("password", self.password_file, self.password_env)
        _one_place("enable_password", self.enable_password_file, self.enable_password_env)
        if not (self.password_file or self.password_env or self.ansible_ssh_private_key_file or self.ssh_agent):
            raise ValueError(
                "nothing opens its command line: give password_file, password_env, ansible_ssh_private_key_file or "
                "ssh_agent"
            )
        self._check_snmp(needed=self.family not in _WITHOUT_SNMP)
        if self.bridge_ports and self.family in _WITHOUT_SNMP:
            raise ValueError(f"a {self.family} is not read over SNMP: remove bridge_ports")
        return self

    @property
    def enable(self) -> Secret:
        """Where the password for privileged mode is."""
        return Secret(self.enable_password_file, self.enable_password_env)


class NodeVars(_Vars):
    """Variables of a node. `pops_tags`: it takes frames of any VLAN tag as if they had none.

    `agent_python`: what runs agents there, such as a Python that playbooks/nodes.yml has given CAP_NET_RAW.
    """

    ansible_host: Address
    ansible_port: UdpPort = 22
    ansible_user: str
    ansible_ssh_common_args: Annotated[str, AfterValidator(_ssh_arguments)] = ""
    ansible_ssh_private_key_file: SecretFile = ""
    data_address: Address
    mac: Annotated[str, AfterValidator(_mac)]
    interface: str = "eth0"
    rate_mbps: Rate = 1000
    mtu_byte: int = Field(default=1500, ge=576, le=9202)
    pops_tags: bool = False
    agent_python: str = "python3"


class StripVars(_SnmpVars):
    """Variables of a power strip."""

    ansible_host: Address
    family: StripFamily
    model: str
    outlets: int = Field(ge=1, le=64)

    @model_validator(mode="after")
    def _secrets(self) -> "StripVars":
        self._check_snmp(needed=True)
        return self


def _one_place(what: str, file: str, variable: str) -> None:
    if file and variable:
        raise ValueError(f"it has {what}_file and {what}_env: give one of the two")
