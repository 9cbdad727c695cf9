"""What a switch family must provide: its ports, its configuration, and the neutral operations on it.

`twin.switch.device.SwitchDevice` holds one `Personality` and calls it under its lock; SNMP SETs reach the configuration
through the same operations, inside `SwitchDevice.change()`.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eee_testbed.twin.switch.effect import Acceptable, SwitchEffect


class Refused(Exception):
    """The switch refuses a change. `sentence` is neutral English; the CLI translates it into its family's words.

    `reason` lets the CLI choose those words without parsing the sentence: "no-vlan" (VLAN does not exist),
    "default-vlan" (may not be touched), "bad-value", "in-lag" (port belongs to a LAG), "not-possible", "full".
    """

    def __init__(self, sentence: str, *, reason: str = "not-possible") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.reason = reason


@dataclass(frozen=True, slots=True)
class PortPlan:
    """A port of a model before the engine knows it. `phy` is a key of `eee_engine.phy_profiles()`; "" for a LAG."""

    name: str  # as the CLI prints it: "gi1/0/1", "1/0/1", "po1"
    long_name: str  # ifDescr
    if_index: int
    phy: str
    speed_mbps: int  # the fastest it does


@dataclass(frozen=True, slots=True)
class Port:
    """A port or LAG of a running switch. `number` is the bridge-port number (1-based, LAGs after the ports)."""

    number: int
    name: str
    long_name: str
    if_index: int
    engine_port: int
    phy: str
    speed_mbps: int
    is_lag: bool


def password_digest(password: str) -> str:
    """What a configuration keeps in place of a password: hexadecimal SHA-1, as switches of that age do [M]."""
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class User:
    """A login. `privilege` is 1 (read-only) or 15; `keys` are OpenSSH public-key lines.

    `password` is the password itself, or `sha1:` and the hexadecimal digest that a configuration keeps of it.
    """

    name: str
    password: str
    privilege: int = 15
    keys: tuple[str, ...] = ()

    def accepts(self, password: str) -> bool:
        """Whether this is the right password."""
        kind, _, digest = self.password.partition(":")
        if kind == "sha1" and digest:
            return hmac.compare_digest(digest, password_digest(password))
        return hmac.compare_digest(self.password.encode(), password.encode())


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A neighbour that a port hears by LLDP, as command lines show it; `number` counts the port's neighbours from 1."""

    chassis: str  # a MAC address as pairs of digits with colons
    port: str
    system_name: str
    capabilities: str = "B"  # letters of the standard: B bridge, H host, ...
    ttl_s: int = 120
    number: int = 1
    eee: bool = False  # whether it announced wake times


@dataclass(frozen=True, slots=True)
class PortLldp:
    """LLDP of a port as configured; `eee`: wake times are announced too while EEE is in force."""

    transmit: bool = True
    receive: bool = True
    eee: bool = True


@dataclass(frozen=True, slots=True)
class Pace:
    """How slow the command line is: before the answer to each command, and per printed character."""

    command_s: float = 0.0
    character_s: float = 0.0


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """What is known of a switch before it is built. `users` are provisioned: they survive an erased configuration.

    (A real switch with an erased configuration is reached over its serial port, which the twin does not have.)
    """

    name: str
    family: str
    model: str
    base_mac: bytes
    users: tuple[User, ...]
    boot_s: float = 60.0
    pace: Pace = Pace()
    address: str = ""  # shown as the management address
    engine_options: Mapping[str, Any] = field(default_factory=dict)  # latency_us, egress_queue_byte, ...
    lpi_hold_us: float = 0.0  # the hardware's hold time, to which the command line of a family that can set it returns
    lpi_wake_us: float | None = None  # the hardware's Tw; None: the PHY profile's
    hold_limit_us: tuple[float, float] = (0.0, 4_294_977_295.0)  # beyond it the hardware clips a configured hold time
    wake_limit_us: tuple[float, float] = (0.0, 65_535.0)


class Personality(Protocol):
    """A family's configuration side. Port numbers are bridge-port numbers; a refusal raises `Refused`.

    `config` is the running configuration in the family's own dataclasses; it must be deep-copyable, and the whole of
    it: a method of this protocol may depend on nothing else that changes.
    """

    config: Any

    def factory(self) -> Any:
        """Return a fresh factory configuration."""

    def load(self, text: str) -> list[str]:
        """Execute a saved configuration on top of `config`; return the lines that were not understood."""

    def render(self) -> str:
        """Return the running configuration as the family's text, which `load` reads back."""

    def effect(self) -> SwitchEffect:
        """Return what `config` means on the wire."""

    def users(self) -> Mapping[str, User]:
        """Return the users that the configuration defines."""

    def set_admin(self, port: int, *, up: bool) -> None:
        """Disable or enable a port or LAG."""

    def set_alias(self, port: int, text: str) -> None:
        """Describe a port."""

    def set_pvid(self, port: int, vid: int) -> None:
        """Set the VLAN of untagged frames (PVID)."""

    def set_acceptable(self, port: int, acceptable: Acceptable) -> None:
        """Set the acceptable frame types of a port."""

    def set_ingress_filtering(self, port: int, *, on: bool) -> None:
        """Drop frames of VLANs that the port is not in."""

    def create_vlan(self, vid: int) -> None:
        """Create a VLAN; an existing one stays as it is."""

    def destroy_vlan(self, vid: int) -> None:
        """Remove a VLAN and every mention of it."""

    def rename_vlan(self, vid: int, name: str) -> None:
        """Name a VLAN."""

    def set_vlan_ports(self, vid: int, *, egress: frozenset[int], untagged: frozenset[int]) -> None:
        """Set the whole membership of a VLAN; `untagged` is a subset of `egress`."""

    def set_speed(self, port: int, mbps: int | None) -> None:
        """Force a speed; None: negotiate."""

    def set_autoneg(self, port: int, *, on: bool) -> None:
        """Switch autonegotiation on, or force the configured speed."""

    def set_eee(self, port: int | None, *, on: bool) -> None:
        """Set EEE of one port; None: the switch-wide setting."""

    def set_ageing(self, seconds: int) -> None:
        """Set the ageing time of learned addresses."""

    def add_static_mac(self, vid: int, mac: bytes, port: int) -> None:
        """Bind an address to a port or LAG in a VLAN."""

    def remove_static_mac(self, vid: int, mac: bytes) -> None:
        """Remove a static address; a missing one is ignored."""

    def set_stp(self, port: int | None, *, on: bool) -> None:
        """Switch spanning tree on or off for one port; None: for the switch."""

    def alias(self, port: int) -> str:
        """Return ifAlias, the port's description."""

    def vlan_names(self) -> Mapping[int, str]:
        """Return VID -> name of every VLAN that exists."""

    def hostname(self) -> str:
        """Return sysName: the configured host name, else the switch's name in the lab."""

    def description(self) -> str:
        """Return sysDescr."""

    def lldp(self, port: int) -> PortLldp:
        """Return what LLDP does at a physical port."""


class Family(Protocol):
    """A switch family as a lab uses it: `twin.families.ros.FAMILY` and its siblings."""

    name: str

    def ports(self, model: str) -> tuple[PortPlan, ...]:
        """Physical ports in bridge-port order; an unknown model raises `ValueError` with the known ones."""

    def lags(self, model: str) -> tuple[PortPlan, ...]:
        """LAGs, which follow the ports."""

    def personality(self, spec: DeviceSpec, ports: Sequence[Port]) -> Personality:
        """The configuration of one device."""
