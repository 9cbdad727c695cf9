"""The configuration side of an M4300, for `twin.switch.device.SwitchDevice` and SNMP SETs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eee_testbed.twin.families.fastpath.config import VID_MAX, Config, PortConfig, factory_config, membership
from eee_testbed.twin.families.fastpath.ports import FORCIBLE_MBPS, model_named
from eee_testbed.twin.families.fastpath.running_config import render_config
from eee_testbed.twin.families.fastpath.wire import switch_effect
from eee_testbed.twin.switch.personality import PortLldp, Refused, User

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from eee_testbed.twin.cli.grammar import Grammar
    from eee_testbed.twin.cli.shell import Handler
    from eee_testbed.twin.switch.effect import Acceptable, SwitchEffect
    from eee_testbed.twin.switch.personality import DeviceSpec, Port

NAME_MAX_CHARACTERS = 32
DESCRIPTION_MAX_CHARACTERS = 64
AGEING_S = (10, 1_000_000)


class FastpathPersonality:
    """Running configuration of one switch; see `twin.switch.personality.Personality` for the operations.

    SNMP works on the effective membership and PVID, so its operations write the lines of general mode and put a port of
    another mode into general mode, as the web interface and the CLI would have to.
    """

    def __init__(
        self,
        spec: DeviceSpec,
        ports: Sequence[Port],
        grammar: Grammar[Handler],
        phy_wake_us: Mapping[str, float],
        execute: Callable[[FastpathPersonality, str], list[str]],
    ) -> None:
        """`execute` executes a saved configuration's lines and returns those that failed."""
        self.spec = spec
        self.ports = tuple(ports)
        self.grammar = grammar
        self.phy_wake_us = phy_wake_us
        self._execute = execute
        self.config: Config = self.factory()

    def factory(self) -> Config:
        """Return the factory configuration."""
        return factory_config(len(self.ports))

    def load(self, text: str) -> list[str]:
        """Execute a saved configuration; return the lines that were not understood or not possible."""
        return self._execute(self, text)

    def render(self) -> str:
        """Return the configuration's text without the comment lines of `show running-config`."""
        return render_config(self.config, self.ports)

    def effect(self) -> SwitchEffect:
        """Return the effect for the engine."""
        return switch_effect(self.config, self.ports, self.spec, self.phy_wake_us)

    def users(self) -> Mapping[str, User]:
        """Return the users of `username` lines."""
        return {n: User(n, f"sha1:{digest}", level) for n, (digest, level) in self.config.users.items()}

    def saved_is_running(self, startup: str) -> bool:
        """Whether booting from this text would give the present configuration."""
        running, self.config = self.config, self.factory()
        try:
            self._execute(self, startup)
            return render_config(self.config, self.ports) == render_config(running, self.ports)
        finally:
            self.config = running

    # -- ports

    def physical(self, number: int) -> Port:
        """Return a port that has a PHY; LAGs and unknown numbers are refused."""
        port = self._port(number)
        if port.is_lag:
            raise Refused(f"{port.name} has no PHY of its own", reason="bad-value")
        return port

    def set_admin(self, port: int, *, up: bool) -> None:
        """`shutdown`."""
        self._change(port, shutdown=not up)

    def set_alias(self, port: int, text: str) -> None:
        """`description`."""
        check_description(text)
        self._change(port, description=text)

    def set_speed(self, port: int, mbps: int | None) -> None:
        """`speed`."""
        phy = self.physical(port).phy
        if mbps is None:
            self._change(port, autoneg=True, advertised_mbps=None)
        elif mbps in FORCIBLE_MBPS[phy]:
            self._change(port, autoneg=False, forced_mbps=mbps)
        else:
            raise Refused(f"{phy} cannot be forced to {mbps} Mb/s: negotiate it", reason="bad-value")

    def set_autoneg(self, port: int, *, on: bool) -> None:
        """`auto-negotiate`."""
        self.physical(port)
        self._change(port, autoneg=on)

    def set_eee(self, port: int | None, *, on: bool) -> None:
        """`green-mode eee`; this family has no switch-wide setting, so None means every port."""
        numbers = [p.number for p in self.ports if not p.is_lag] if port is None else [self.physical(port).number]
        self.config.change(numbers, eee=on)

    def set_stp(self, port: int | None, *, on: bool) -> None:
        """`spanning-tree` and `spanning-tree port mode`."""
        if port is None:
            self.config.spanning_tree = on
        else:
            self._change(port, spanning_tree=on)

    def alias(self, port: int) -> str:
        """Return the description."""
        return self._config(port).description

    def hostname(self) -> str:
        """Return the configured host name, else the switch's name in the lab."""
        return self.config.hostname or self.spec.name

    def description(self) -> str:
        """Return sysDescr [M]."""
        return f"{model_named(self.spec.model).description}, 12.0.13.8, 1.0.0.9"

    def lldp(self, port: int) -> PortLldp:
        """`lldp transmit` and `lldp receive`; wake times are announced where EEE is on."""
        port_config = self.config.ports[port]
        return PortLldp(port_config.lldp_transmit, port_config.lldp_receive, port_config.eee)

    # -- VLANs

    def set_pvid(self, port: int, vid: int) -> None:
        """`vlan pvid`."""
        self.need_vlan(vid)
        self._general(port, pvid=vid)

    def set_acceptable(self, port: int, acceptable: Acceptable) -> None:
        """`vlan acceptframe`."""
        self._general(port, acceptable=acceptable)

    def set_ingress_filtering(self, port: int, *, on: bool) -> None:
        """`vlan ingressfilter`."""
        self._general(port, ingress_filter=on)

    def create_vlan(self, vid: int) -> None:
        """`vlan N`; an existing one stays as it is."""
        if not 1 <= vid <= VID_MAX:
            raise Refused(f"VLAN {vid} is not within 1 to {VID_MAX}", reason="bad-value")
        self.config.vlans.setdefault(vid, "")

    def destroy_vlan(self, vid: int) -> None:
        """`no vlan N`."""
        if vid == 1:
            raise Refused("the default VLAN cannot be deleted", reason="default-vlan")
        self.need_vlan(vid)
        self.config.destroy_vlan(vid)

    def rename_vlan(self, vid: int, name: str) -> None:
        """`vlan name N`."""
        self.need_vlan(vid)
        if vid == 1:
            raise Refused("the default VLAN keeps its name", reason="default-vlan")
        check_text(name, NAME_MAX_CHARACTERS)
        self.config.vlans[vid] = name

    def set_vlan_ports(self, vid: int, *, egress: frozenset[int], untagged: frozenset[int]) -> None:
        """Set the membership of one VLAN; ports whose membership changes go into general mode."""
        self.need_vlan(vid)
        for number in egress | untagged:
            self._port(number)
        vids = frozenset({vid})
        for port in self.ports:
            port_config = self.config.ports[port.number]
            now = membership(port_config, frozenset(self.config.vlans))
            wanted = (port.number in egress, port.number in egress - untagged)
            if wanted != (vid in now.member, vid in now.tagged):
                port_config = self._as_general(port_config)
                include = port_config.include | vids if wanted[0] else port_config.include - vids
                tagging = port_config.tagging | vids if wanted[1] else port_config.tagging - vids
                exclude = port_config.exclude - vids
                self.config.ports[port.number] = replace(port_config, include=include, tagging=tagging, exclude=exclude)

    def vlan_names(self) -> Mapping[int, str]:
        """VID -> name."""
        return dict(self.config.vlans)

    def need_vlan(self, vid: int) -> None:
        """Refuse a VLAN that does not exist."""
        if vid not in self.config.vlans:
            raise Refused(f"VLAN {vid} does not exist: create it in the VLAN database", reason="no-vlan")

    # -- forwarding table

    def set_ageing(self, seconds: int) -> None:
        """`bridge aging-time`."""
        if not AGEING_S[0] <= seconds <= AGEING_S[1]:
            raise Refused(f"the ageing time is {AGEING_S[0]} to {AGEING_S[1]} seconds", reason="bad-value")
        self.config.ageing_s = seconds

    def add_static_mac(self, vid: int, mac: bytes, port: int) -> None:
        """`port-security mac-address`, which is active only on a locked port."""
        port_config = self._config(port)
        if not (self.config.port_security and port_config.locked):
            raise Refused(
                f"{self._port(port).name} takes static addresses only while port-security is on for it and the switch"
            )
        for number, other in self.config.ports.items():
            if number != port and (vid, mac) in other.static_macs:
                self.config.change([number], static_macs=other.static_macs - {(vid, mac)})
        self.lock_mac(port, vid, mac)

    def lock_mac(self, port: int, vid: int, mac: bytes) -> None:
        """Add a statically locked address to a port, within its `max-static` (factory: 1)."""
        self.need_vlan(vid)
        if mac[0] & 1 or not any(mac):
            raise Refused("a static address is a unicast address", reason="bad-value")
        port_config = self._config(port)
        if (vid, mac) not in port_config.static_macs and len(port_config.static_macs) >= port_config.max_static:
            raise Refused(
                f"{self._port(port).name} already holds {port_config.max_static} static addresses "
                "(port-security max-static)",
                reason="full",
            )
        self._change(port, static_macs=port_config.static_macs | {(vid, mac)})

    def remove_static_mac(self, vid: int, mac: bytes) -> None:
        """`no port-security mac-address` wherever the address is locked."""
        for number, port_config in self.config.ports.items():
            if (vid, mac) in port_config.static_macs:
                self.config.change([number], static_macs=port_config.static_macs - {(vid, mac)})

    # -- helpers

    def _port(self, number: int) -> Port:
        if not 1 <= number <= len(self.ports):
            raise Refused(f"{self.spec.name} has no bridge port {number}", reason="bad-value")
        return self.ports[number - 1]

    def _config(self, number: int) -> PortConfig:
        return self.config.ports[self._port(number).number]

    def _change(self, number: int, **values: object) -> None:
        self.config.change([self._port(number).number], **values)

    def _general(self, number: int, **values: object) -> None:
        port_config = self._config(number)
        if port_config.mode in {"access", "trunk"}:
            self.config.ports[number] = self._as_general(port_config)
        self._change(number, **values)

    def _as_general(self, port_config: PortConfig) -> PortConfig:
        """Return settings of general mode with the same effect."""
        if port_config.mode not in {"access", "trunk"}:
            return port_config
        now = membership(port_config, frozenset(self.config.vlans))
        return replace(
            port_config,
            mode="general",
            pvid=now.pvid,
            include=now.member,
            exclude=frozenset(),
            tagging=now.tagged,
            acceptable=now.acceptable,
            ingress_filter=now.ingress_filtering,
        )


def check_description(text: str) -> None:
    """Refuse text that `description` cannot hold: a leading single quote begins a quotation."""
    check_text(text, DESCRIPTION_MAX_CHARACTERS)
    if text.startswith("'"):
        raise Refused("a description does not begin with a quote", reason="bad-value")


def check_text(text: str, longest: int) -> None:
    """Refuse text that the configuration cannot hold."""
    if len(text) > longest or not text.isprintable() or not text.isascii() or '"' in text:
        raise Refused(
            f"text takes at most {longest} printable characters, none of them a double quote", reason="bad-value"
        )
