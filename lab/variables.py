"""The variables of an inventory that the testbed reads, and what each may be. Everything else is Ansible's own.

Secrets stand here by reference only: a file that its owner alone may read, or an environment variable.
"""

import ipaddress
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from eee_testbed.lab.model import (
    RATES_MBPS,
    Host,
    Secret,
    SnmpAuthProtocol,
    SnmpPrivacyProtocol,
    SnmpUser,
    Strip,
    StripFamily,
    Switch,
    SwitchFamily,
)
from eee_testbed.lab.quirks import quirks_of

STATE_ROOT = "/run/eee-testbed"
"""Where running virtual labs keep their state; the environment's EEE_STATE_DIR names another place."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WITHOUT_SNMP = ("linux_bridge", "openvswitch")
"""Families that are Linux machines; their drivers need no SNMP."""


_CHAINED_FAMILIES = ("eaton_g3", "raritan_px")
"""Families of strips of which each unit of a daisy chain is a strip of its own in the inventory."""


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
        raise ValueError("this is not the name of an environment variable: write one such as EEE_SWITCH_PASSWORD")
    return text


def _way_in(text: str) -> str:
    switch, _, vid = text.rpartition(":")
    if not switch or not vid.isdecimal() or not 1 <= int(vid) <= 4094:
        raise ValueError("a way in is a switch and a VLAN, such as sw1:1")
    return text


Address = Annotated[str, AfterValidator(_address)]
Network = Annotated[str, AfterValidator(_network)]
Rate = Annotated[int, AfterValidator(_rate)]
UdpPort = Annotated[int, Field(ge=1, le=65_535)]
SecretFile = Annotated[str, AfterValidator(_file)]
SecretVariable = Annotated[str, AfterValidator(_variable)]


class _Vars(BaseModel):
    """Fields are named as in `lab.model`; a variable of another name is their alias."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def variables(cls) -> tuple[str, ...]:
        """The names of the variables, as they stand in an inventory."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    def fields_of(self, kind: type[Switch | Host | Strip]) -> dict[str, Any]:
        """Its values by the fields of a kind of device; those that the kind does not have are left out."""
        names = (field.name for field in fields(kind))
        return {name: getattr(self, name) for name in names if name in type(self).model_fields}


class LabVars(_Vars):
    """Variables of the group `all`. `way_in` is for in-band management; default: out of band.

    `watts_note`: for example, what the meters cannot show, or that the watts are invented.
    """

    management_network: Network = Field(description="management network of switches, strips and nodes, A.B.C.D/N")
    data_network: Network = Field(description="network of the nodes, over the switches under test, A.B.C.D/N")
    way_in: Annotated[str, AfterValidator(_way_in)] | None = Field(None, description="in-band management: SWITCH:VLAN")
    watts_note: str = Field("", description="a sentence that is shown beside all watts of this lab")


class SnmpUserVars(_Vars):
    """The user of SNMPv3; each key in a file or in an environment variable. A protocol without a key is not used."""

    user: str = Field(description="name of the user on the device")
    auth_protocol: SnmpAuthProtocol = "sha"
    auth_key_file: SecretFile = Field("", description="file with the authentication key, mode 0600")
    auth_key_env: SecretVariable = Field("", description="or its environment variable")
    privacy_protocol: SnmpPrivacyProtocol = "aes"
    privacy_key_file: SecretFile = Field("", description="file with the privacy key, mode 0600")
    privacy_key_env: SecretVariable = Field("", description="or its environment variable")

    @model_validator(mode="after")
    def _keys(self) -> "SnmpUserVars":
        _one_place("auth_key", self.auth_key_file, self.auth_key_env)
        _one_place("privacy_key", self.privacy_key_file, self.privacy_key_env)
        if (self.privacy_key_file or self.privacy_key_env) and not (self.auth_key_file or self.auth_key_env):
            raise ValueError("SNMPv3 has no privacy without authentication: give auth_key_file or auth_key_env")
        return self

    def as_user(self) -> SnmpUser:
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

    snmp_port: UdpPort = Field(161, description="UDP port of the SNMP agent")
    community_file: SecretFile = Field("", description="file with the community of SNMP v2c, mode 0600")
    community_variable: SecretVariable = Field("", description="or its environment variable", alias="community_env")
    snmp_v3: SnmpUserVars | None = Field(None, description="SNMPv3 user, instead of a community")

    @property
    def snmp_user(self) -> SnmpUser | None:
        """The user of SNMPv3; None: there is a community, or no SNMP."""
        return self.snmp_v3.as_user() if self.snmp_v3 else None

    def _check_snmp(self, *, needed: bool) -> None:
        _one_place("community", self.community_file, self.community_variable)
        if self.snmp_v3 and (self.community_file or self.community_variable):
            raise ValueError("it has a community and snmp_v3: give one of the two")
        if needed and not (self.snmp_v3 or self.community_file or self.community_variable):
            raise ValueError("SNMP has no secret: give community_file, community_env or snmp_v3")


class SwitchVars(_SnmpVars):
    """Variables of a switch. `ports` maps port names, as the switch shows them, or ranges of names to rates in Mb/s.

    `bridge_ports` is for an SNMP agent without port names.
    """

    address: Address = Field(description="management address", alias="ansible_host")
    ssh_port: UdpPort = Field(22, description="TCP port of the SSH server", alias="ansible_port")
    user: str = Field("admin", description="user that logs in", alias="ansible_user")
    key_file: SecretFile = Field(
        "", description="private key, if it accepts keys", alias="ansible_ssh_private_key_file"
    )
    family: SwitchFamily = Field(description="family, which chooses the driver")
    model: str = Field(description="the vendor's model name")
    password_file: SecretFile = Field("", description="file with the password, mode 0600")
    password_variable: SecretVariable = Field("", description="or its environment variable", alias="password_env")
    ssh_agent: bool = Field(default=False, description="whether to try the keys of the SSH agent")
    enable_password_file: SecretFile = Field("", description="file with the password of `enable`, mode 0600")
    enable_password_env: SecretVariable = Field("", description="or its environment variable")
    known_hosts_file: SecretFile = Field("", description="file with trusted host keys, in the format of OpenSSH")
    snmp_write: bool = Field(default=True, description="no: all changes are sent over the command line")
    quirks: dict[str, bool | int | str] = Field(default_factory=dict, description="deviations from the family")
    ports: dict[str, Rate] = Field(description="port names or ranges (`gi1/0/[1:24]`), each with its rate in Mb/s")
    bridge_ports: dict[str, Annotated[int, Field(ge=1, le=65_535)]] = Field(
        default_factory=dict, description="port names or ranges, each with the bridge port number of the first port"
    )

    @field_validator("quirks")
    @classmethod
    def _known_quirks(cls, quirks: dict[str, bool | int | str], info: ValidationInfo) -> dict[str, bool | int | str]:
        family = info.data.get("family")
        if family is None:  # said already
            return quirks
        accepted = quirks_of(family)
        for name, value in quirks.items():
            if name not in accepted:
                raise ValueError(f"a {family} has no quirk '{name}'; known are {', '.join(accepted)}")
            if not accepted[name].accepts(value):
                raise ValueError(f"the quirk {name} takes {accepted[name].takes}")
        return quirks

    @model_validator(mode="after")
    def _secrets(self) -> "SwitchVars":
        _one_place("password", self.password_file, self.password_variable)
        _one_place("enable_password", self.enable_password_file, self.enable_password_env)
        if not (self.password_file or self.password_variable or self.key_file or self.ssh_agent):
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

    management_address: Address = Field(description="management address", alias="ansible_host")
    ssh_port: UdpPort = Field(22, description="TCP port of the SSH server", alias="ansible_port")
    user: str = Field(description="user that logs in", alias="ansible_user")
    ssh_arguments: Annotated[str, AfterValidator(_ssh_arguments)] = Field(
        "", description="additional options of ssh", alias="ansible_ssh_common_args"
    )
    key_file: SecretFile = Field("", description="private key for SSH", alias="ansible_ssh_private_key_file")
    data_address: Address = Field(description="address on the data network")
    mac: Annotated[str, AfterValidator(_mac)] = Field(description="MAC address of `interface`, six lower-case pairs")
    interface: str = Field("eth0", description="interface on the data network")
    rate_mbps: Rate = Field(1000, description="rate of `interface`, Mb/s")
    mtu_byte: int = Field(default=1500, ge=576, le=9202, description="MTU of `interface`, bytes")
    pops_tags: bool = Field(default=False, description="whether it accepts frames with any VLAN tag as untagged")
    agent_python: str = Field("python3", description="Python that runs agents on the node")


class StripVars(_SnmpVars):
    """Variables of a power strip."""

    address: Address = Field(description="management address", alias="ansible_host")
    family: StripFamily = Field(description="family, which chooses the MIB")
    model: str = Field(description="the vendor's model name")
    outlet_count: int = Field(
        ge=0, le=64, description="number of metered or switched outlets; 0: only inlets are metered", alias="outlets"
    )
    unit: int = Field(default=0, ge=0, le=63, description="number in the daisy chain behind this address, from 0")

    @field_validator("unit")
    @classmethod
    def _chained(cls, unit: int, info: ValidationInfo) -> int:
        family = info.data.get("family")
        if unit and family is not None and family not in _CHAINED_FAMILIES:
            raise ValueError(f"a {family} has no unit numbers; only {', '.join(_CHAINED_FAMILIES)} have")
        return unit

    @model_validator(mode="after")
    def _secrets(self) -> "StripVars":
        self._check_snmp(needed=True)
        return self


def _one_place(what: str, file: str, variable: str) -> None:
    if file and variable:
        raise ValueError(f"it has {what}_file and {what}_env: give one of the two")
