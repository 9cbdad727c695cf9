"""The configuration side of a PowerConnect 55xx: parse, render, and the neutral operations behind SNMP SETs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from eee_testbed.twin.cli.grammar import Fault, Grammar
from eee_testbed.twin.families.ros import port_commands, switch_commands
from eee_testbed.twin.families.ros.config import (
    DEFAULT_VLAN,
    PortConfig,
    RosConfig,
    effect_of,
    factory_config,
    forget_vlan,
    membership,
    need_vlans,
    user_digests,
)
from eee_testbed.twin.families.ros.models import lag_plans, model_named, port_plans
from eee_testbed.twin.families.ros.render import running_config
from eee_testbed.twin.families.ros.switch_commands import STATICS_MAX, plain
from eee_testbed.twin.families.ros.table import ConfigHandler, Enter, Leave, Where
from eee_testbed.twin.families.ros.tokens import tokens
from eee_testbed.twin.switch.personality import DeviceSpec, Port, PortLldp, PortPlan, Refused, User

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eee_testbed.twin.switch.effect import Acceptable, SwitchEffect

FAMILY_NAME = "dell_powerconnect_55xx"
CONFIG_COMMANDS = (*switch_commands.COMMANDS, *port_commands.COMMANDS)


@cache
def _config_grammar(ports: tuple[Port, ...]) -> Grammar[ConfigHandler]:
    return Grammar(CONFIG_COMMANDS, tokens(ports))


class RosPersonality:
    """See `twin.switch.personality.Personality`; `config` is a `RosConfig`."""

    def __init__(self, spec: DeviceSpec, ports: Sequence[Port]) -> None:
        self.spec = spec
        self.ports = tuple(ports)
        self.config: RosConfig = factory_config(self.ports)

    def factory(self) -> RosConfig:
        """Return the factory configuration."""
        return factory_config(self.ports)

    def load(self, text: str) -> list[str]:
        """Execute the lines of a saved configuration; return those that were not understood or were refused."""
        rejected = []
        modes: list[tuple[str, dict[str, Any]]] = [("config", {})]
        for line in text.splitlines():
            if not line.strip() or line.lstrip().startswith("!"):
                if line.startswith("!"):
                    del modes[1:]
                continue
            if not self._execute(line, modes):
                rejected.append(line)
        self.config.jumbo_active = self.config.jumbo
        return rejected

    def _execute(self, line: str, modes: list[tuple[str, dict[str, Any]]]) -> bool:
        grammar = _config_grammar(self.ports)
        parsed = grammar.parse(modes[-1][0], line)
        if isinstance(parsed, Fault) and len(modes) > 1:
            parsed = grammar.parse("config", line)
            if not isinstance(parsed, Fault):
                del modes[1:]
        if isinstance(parsed, Fault):
            return False
        try:
            outcome = parsed.command.run(Where(self.config, self.ports, modes[-1][1]), parsed)
        except Refused:
            return False
        if isinstance(outcome, Enter):
            del modes[1:]
            modes.append((outcome.mode, outcome.about))
        elif isinstance(outcome, Leave):
            del modes[1:]
        return True

    def render(self) -> str:
        """`show running-config`."""
        return running_config(self.config, self.ports)

    def effect(self) -> SwitchEffect:
        """Return the effect for the engine."""
        return effect_of(self.config, self.ports)

    def users(self) -> Mapping[str, User]:
        """Return the local users of the configuration."""
        return user_digests(self.config)

    def alias(self, port: int) -> str:
        """Return ifAlias."""
        return self.config.ports[port].description

    def vlan_names(self) -> Mapping[int, str]:
        """Return the VLANs; one without a name is shown by its number, as in `show vlan` (recording)."""
        return {vid: name or str(vid) for vid, name in self.config.vlans.items()}

    def hostname(self) -> str:
        """Return sysName."""
        return self.config.hostname or self.spec.name

    def description(self) -> str:
        """Return sysDescr [M]."""
        return self.spec.model

    def lldp(self, port: int) -> PortLldp:
        """`lldp run`, `lldp transmit`, `lldp receive` and `eee lldp enable`."""
        port_config = self.config.ports[port]
        on = self.config.lldp
        return PortLldp(on and port_config.lldp_transmit, on and port_config.lldp_receive, port_config.eee_lldp)

    # -- neutral operations

    def _port(self, port: int) -> PortConfig:
        if port not in self.config.ports:
            raise Refused(f"{self.spec.name} has no bridge port {port}", reason="bad-value")
        return self.config.ports[port]

    def _physical(self, port: int) -> PortConfig:
        setting = self._port(port)
        if self.ports[port - 1].is_lag:
            raise Refused(f"{self.ports[port - 1].name} is a LAG: set its member ports", reason="in-lag")
        return setting

    def _general(self, port: int) -> PortConfig:
        """Put a port into general mode with its present membership: a SET of VLAN objects does so [M]."""
        setting = self._port(port)
        if setting.mode != "general":
            had = membership(setting)
            setting.general_tagged, setting.general_untagged = set(had.tagged), set(had.untagged)
            setting.general_pvid = had.pvid
            setting.mode = "general"
        return setting

    def set_admin(self, port: int, *, up: bool) -> None:
        """IfAdminStatus."""
        self._port(port).shutdown = not up

    def set_alias(self, port: int, text: str) -> None:
        """Set ifAlias, at most 64 characters."""
        if len(text) > 64:
            raise Refused("the description is longer than 64 characters", reason="bad-value")
        self._port(port).description = plain(text)

    def set_pvid(self, port: int, vid: int) -> None:
        """dot1qPvid: the VLAN of the active mode that takes untagged frames."""
        need_vlans(self.config, [vid])
        setting = self._port(port)
        if setting.mode == "access":
            setting.access_vid = vid
        elif setting.mode == "trunk":
            setting.trunk_native_vid = vid
        elif setting.mode == "customer":
            setting.customer_vid = vid
        else:
            setting.general_pvid = vid

    def set_acceptable(self, port: int, acceptable: Acceptable) -> None:
        """dot1qPortAcceptableFrameTypes."""
        self._general(port).general_acceptable = acceptable

    def set_ingress_filtering(self, port: int, *, on: bool) -> None:
        """dot1qPortIngressFiltering."""
        self._general(port).general_ingress_filtering = on

    def create_vlan(self, vid: int) -> None:
        """dot1qVlanStaticRowStatus createAndGo."""
        if not 1 <= vid <= 4094:
            raise Refused(f"{vid} is not a VLAN: use 1 to 4094", reason="bad-value")
        self.config.vlans.setdefault(vid, "")

    def destroy_vlan(self, vid: int) -> None:
        """dot1qVlanStaticRowStatus destroy."""
        if vid == DEFAULT_VLAN:
            raise Refused("VLAN 1 is the default VLAN and stays", reason="default-vlan")
        need_vlans(self.config, [vid])
        forget_vlan(self.config, vid)

    def rename_vlan(self, vid: int, name: str) -> None:
        """dot1qVlanStaticName."""
        need_vlans(self.config, [vid])
        if len(name) > 32:
            raise Refused("a VLAN name has at most 32 characters", reason="bad-value")
        self.config.vlans[vid] = "" if name == str(vid) else plain(name)

    def set_vlan_ports(self, vid: int, *, egress: frozenset[int], untagged: frozenset[int]) -> None:
        """dot1qVlanStaticEgressPorts and UntaggedPorts at once; ports that change go to general mode."""
        need_vlans(self.config, [vid])
        unknown = (egress | untagged) - self.config.ports.keys()
        if unknown or untagged - egress:
            raise Refused("untagged ports must be egress ports, and all ports must exist", reason="bad-value")
        for port in self.config.ports:
            had = membership(self.config.ports[port])
            if (vid in had.tagged, vid in had.untagged) == (port in egress - untagged, port in untagged):
                continue
            setting = self._general(port)
            setting.general_tagged.discard(vid)
            setting.general_untagged.discard(vid)
            if port in untagged:
                setting.general_untagged.add(vid)
            elif port in egress:
                setting.general_tagged.add(vid)
            if vid == DEFAULT_VLAN and port in egress:
                setting.forbidden_default_vlan = False

    def set_speed(self, port: int, mbps: int | None) -> None:
        """ifMauDefaultType: a forced speed, or None for negotiation."""
        setting = self._physical(port)
        if mbps is not None and mbps > self.ports[port - 1].speed_mbps:
            raise Refused(f"{self.ports[port - 1].name} cannot do {mbps} Mb/s", reason="bad-value")
        setting.speed_mbps = mbps
        setting.negotiation = mbps is None

    def set_autoneg(self, port: int, *, on: bool) -> None:
        """IfMauAutoNegAdminStatus."""
        self._physical(port).negotiation = on

    def set_eee(self, port: int | None, *, on: bool) -> None:
        """rlEeePortAdminStatus; None: rlEeeEnable."""
        if port is None:
            self.config.eee = on
        else:
            self._physical(port).eee = on

    def set_ageing(self, seconds: int) -> None:
        """dot1dTpAgingTime, within the range of the command."""
        if not 10 <= seconds <= 400:
            raise Refused("the ageing time is 10 to 400 s", reason="bad-value")
        self.config.ageing_s = seconds

    def add_static_mac(self, vid: int, mac: bytes, port: int) -> None:
        """dot1qStaticUnicastAllowedToGoTo with one port."""
        need_vlans(self.config, [vid])
        self._port(port)
        if mac[0] & 1:
            raise Refused("a multicast address cannot be bound to one port", reason="bad-value")
        if (vid, mac) not in self.config.statics and len(self.config.statics) >= STATICS_MAX:
            raise Refused(f"the switch holds at most {STATICS_MAX} static addresses", reason="full")
        self.config.statics[vid, mac] = (port, "permanent")

    def remove_static_mac(self, vid: int, mac: bytes) -> None:
        """dot1qStaticUnicastStatus invalid; a missing entry is ignored."""
        self.config.statics.pop((vid, mac), None)

    def set_stp(self, port: int | None, *, on: bool) -> None:
        """dot1dStpPortEnable; None: the whole switch."""
        if port is None:
            self.config.spanning_tree = on
        else:
            self._port(port).spanning_tree = on


class RosFamily:
    """See `twin.switch.personality.Family`."""

    name = FAMILY_NAME

    def ports(self, model: str) -> tuple[PortPlan, ...]:
        """Physical ports in bridge-port order."""
        return port_plans(model_named(model))

    def lags(self, model: str) -> tuple[PortPlan, ...]:
        """LAGs, which follow the ports."""
        model_named(model)
        return lag_plans()

    def personality(self, spec: DeviceSpec, ports: Sequence[Port]) -> RosPersonality:
        """Make the configuration of one device."""
        return RosPersonality(spec, ports)
