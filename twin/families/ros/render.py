"""The running configuration of a ROS switch as text, which its parser reads back to the same configuration.

Only what differs from the factory settings is written, VLANs first because later lines refer to them. The layout (long
interface names, an indent of one blank, `!` after a block) is that of ROS 4 on later siblings [M for the 55xx].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_testbed.twin.cli.tokens import format_list
from eee_testbed.twin.families.ros.config import DEFAULT_VLAN, PortConfig, RosConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eee_testbed.twin.switch.personality import Port

_NEW = PortConfig()


def running_config(config: RosConfig, ports: Sequence[Port]) -> str:
    """Return the whole configuration; it ends in a newline."""
    lines = [*_vlans(config), *_switch(config), *_statics(config, ports), *_vlan_interfaces(config)]
    for port in ports:
        lines += interface(config.ports[port.number], port)
    return "".join(f"{line}\n" for line in lines)


def interface(setting: PortConfig, port: Port) -> list[str]:
    """Return one interface's block; empty if it has factory settings."""
    settings = [*_physical(setting), *_switchport(setting), *_energy(setting), *_protocols(setting)]
    return [f"interface {port.long_name}", *(f" {s}" for s in settings), "!"] if settings else []


def quoted(text: str) -> str:
    """Quote text so that it is one word."""
    return f'"{text}"' if " " in text or not text else text


def mac_text(mac: bytes) -> str:
    """`00:11:22:33:44:55`."""
    return mac.hex(":")


def _vlans(config: RosConfig) -> Iterator[str]:
    extra = config.vlans.keys() - {DEFAULT_VLAN}
    if extra:
        yield "vlan database"
        yield f"vlan {format_list(extra)}"
        yield "exit"


def _switch(config: RosConfig) -> Iterator[str]:
    if config.hostname:
        yield f"hostname {config.hostname}"
    for name, user in sorted(config.users.items()):
        yield f"username {quoted(name)} password encrypted {user.digest} privilege {user.privilege}"
    if config.enable_digest is not None:
        yield f"enable password level 15 encrypted {config.enable_digest}"
    if config.exec_timeout_s != 600:
        yield "line ssh"
        minutes, seconds = divmod(config.exec_timeout_s, 60)
        yield f"exec-timeout {minutes}" + (f" {seconds}" if seconds else "")
        yield "exit"
    yield from _ssh(config)
    yield from _features(config)
    if config.location:
        yield f"snmp-server location {quoted(config.location)}"
    if config.contact:
        yield f"snmp-server contact {quoted(config.contact)}"
    for line in config.snmp_server:
        yield f"snmp-server {line}"


def _ssh(config: RosConfig) -> Iterator[str]:
    if not config.ssh_server:
        yield "no ip ssh server"
    if config.ssh_password_auth:
        yield "ip ssh password-auth"
    if not config.ssh_pubkey_auth:
        yield "no ip ssh pubkey-auth"
    elif not config.pubkey_auto_login:
        yield "ip ssh pubkey-auth"


def _features(config: RosConfig) -> Iterator[str]:
    if not config.spanning_tree:
        yield "no spanning-tree"
    if config.stp_mode != "rstp":
        yield f"spanning-tree mode {config.stp_mode}"
    if config.stp_priority != 32768:
        yield f"spanning-tree priority {config.stp_priority}"
    if not config.eee:
        yield "no eee enable"
    if config.energy_detect:
        yield "green-ethernet energy-detect"
    if config.short_reach:
        yield "green-ethernet short-reach"
    if not config.lldp:
        yield "no lldp run"
    if config.jumbo:
        yield "port jumbo-frame"
    if config.ageing_s != 300:
        yield f"mac address-table aging-time {config.ageing_s}"


def _statics(config: RosConfig, ports: Sequence[Port]) -> Iterator[str]:
    for (vid, mac), (number, kind) in sorted(config.statics.items()):
        name = ports[number - 1].long_name
        yield f"mac address-table static {mac_text(mac)} vlan {vid} interface {name} {kind}"


def _vlan_interfaces(config: RosConfig) -> Iterator[str]:
    for vid, name in sorted(config.vlans.items()):
        address = config.management_address if vid == DEFAULT_VLAN else ""
        if name or address:
            yield f"interface vlan {vid}"
            if name:
                yield f" name {quoted(name)}"
            if address:
                yield f" ip address {address}"
            yield "!"


def _physical(setting: PortConfig) -> Iterator[str]:
    if setting.description:
        yield f"description {quoted(setting.description)}"
    if setting.shutdown:
        yield "shutdown"
    yield from _speed(setting)
    if setting.flow_control != "off":
        yield f"flowcontrol {setting.flow_control}"
    if setting.back_pressure:
        yield "back-pressure"
    if setting.mdix != "auto":
        yield "mdix on" if setting.mdix == "on" else "no mdix"
    if setting.lag is not None:
        yield f"channel-group {setting.lag} mode {setting.lag_mode}"


def _speed(setting: PortConfig) -> Iterator[str]:
    if not setting.negotiation:
        yield "no negotiation"
    elif setting.advertised_mbps:
        offered = " ".join(f"{s}f" for s in setting.advertised_mbps)
        yield f"negotiation {offered}"
    if setting.speed_mbps is not None:
        yield f"speed {setting.speed_mbps}"
    if setting.half_duplex:
        yield "duplex half"


def _switchport(setting: PortConfig) -> Iterator[str]:
    if setting.forbidden_default_vlan:
        yield "switchport forbidden default-vlan"
    if setting.forbidden_vids:
        yield f"switchport forbidden vlan add {format_list(setting.forbidden_vids)}"
    if setting.mode != "access":
        yield f"switchport mode {setting.mode}"
    if setting.access_vid != DEFAULT_VLAN:
        yield f"switchport access vlan {setting.access_vid}"
    if setting.trunk_vids:
        yield f"switchport trunk allowed vlan add {format_list(setting.trunk_vids)}"
    if setting.trunk_native_vid != DEFAULT_VLAN:
        yield f"switchport trunk native vlan {setting.trunk_native_vid or 'none'}"
    yield from _general(setting)
    if setting.customer_vid is not None:
        yield f"switchport customer vlan {setting.customer_vid}"


def _general(setting: PortConfig) -> Iterator[str]:
    if DEFAULT_VLAN not in setting.general_untagged | setting.general_tagged:
        yield f"switchport general allowed vlan remove {DEFAULT_VLAN}"
    if setting.general_tagged:
        yield f"switchport general allowed vlan add {format_list(setting.general_tagged)} tagged"
    if setting.general_untagged - {DEFAULT_VLAN}:
        yield f"switchport general allowed vlan add {format_list(setting.general_untagged - {DEFAULT_VLAN})} untagged"
    if setting.general_pvid != DEFAULT_VLAN:
        yield f"switchport general pvid {setting.general_pvid}"
    if not setting.general_ingress_filtering:
        yield "switchport general ingress-filtering disable"
    if setting.general_acceptable != "all":
        yield f"switchport general acceptable-frame-type {setting.general_acceptable}-only"


def _energy(setting: PortConfig) -> Iterator[str]:
    if not setting.eee:
        yield "no eee enable"
    if not setting.eee_lldp:
        yield "no eee lldp enable"
    if setting.energy_detect:
        yield "green-ethernet energy-detect"
    if setting.short_reach:
        yield "green-ethernet short-reach"


def _protocols(setting: PortConfig) -> Iterator[str]:
    if not setting.spanning_tree:
        yield "spanning-tree disable"
    if setting.portfast:
        yield "spanning-tree portfast"
    if setting.stp_cost is not None:
        yield f"spanning-tree cost {setting.stp_cost}"
    if setting.stp_priority != _NEW.stp_priority:
        yield f"spanning-tree port-priority {setting.stp_priority}"
    if not setting.lldp_transmit:
        yield "no lldp transmit"
    if not setting.lldp_receive:
        yield "no lldp receive"
