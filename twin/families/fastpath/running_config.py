"""The running configuration as FASTPATH prints it.

Structure of real ones (EdgeSwitch 1.8, EdgeCore AS4600, M4300 12.0): lines of privileged exec first, then the VLAN
database, then ``configure`` with the global lines and one block per interface without factory settings, empty lines
between blocks. The order of lines inside a block is partly [M].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_testbed.twin.cli.tokens import format_list
from eee_testbed.twin.families.fastpath.config import (
    AGEING_DEFAULT_S,
    HISTORY_INTERVAL_DEFAULT_S,
    HISTORY_SAMPLES_DEFAULT,
    MAX_STATIC_DEFAULT,
    MTU_DEFAULT_BYTE,
    VID_MAX,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_testbed.twin.families.fastpath.config import Config, PortConfig
    from eee_testbed.twin.switch.personality import Port

_ACCEPT_WORDS = {"tagged": "vlanonly", "untagged": "admituntaggedonly"}


def quoted(text: str) -> str:
    """Return text in double quotes, which no name can contain."""
    return f'"{text}"'


def described(text: str) -> str:
    """Return a description in single quotes as real switches print it, in double quotes if single ones fail."""
    plain = "'" not in text and text == " ".join(text.split())
    return f"'{text}'" if plain else quoted(text)


def mac_text(mac: bytes) -> str:
    """Return an address as FASTPATH prints it."""
    return mac.hex(":").upper()


def rate_word(mbps: int) -> str:
    """Return a rate as `speed` accepts it: 10G for 10 000 Mb/s, else plain Mb/s."""
    return f"{mbps // 1000}G" if mbps >= 10_000 else str(mbps)


def render_config(config: Config, ports: Sequence[Port]) -> str:
    """Return everything but the comment lines on top; it can be executed line by line from privileged exec."""
    blocks = [[*config.exec_lines.values(), "vlan database", *_vlan_lines(config), "exit"]]
    blocks += [["configure", *_global_lines(config)]]
    for port in ports:
        lines = interface_lines(config, port)
        if lines:
            blocks.append([f"interface {port.name}", *lines, "exit"])
    blocks.append(["exit"])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def render_interface(config: Config, ports: Sequence[Port], numbers: Sequence[int]) -> str:
    """``show running-config interface``: the blocks of some ports, also those without lines."""
    blocks = []
    for number in numbers:
        port = ports[number - 1]
        blocks.append("\n".join([f"interface {port.name}", *interface_lines(config, port), "exit"]))
    return "\n\n".join(blocks) + "\n"


def _vlan_lines(config: Config) -> list[str]:
    others = sorted(config.vlans.keys() - {1})
    lines = [f"vlan {format_list(others)}"] if others else []
    factory = {1: "default"}
    for vid, name in sorted(config.vlans.items()):
        if name and name != factory.get(vid, ""):
            lines.append(f"vlan name {vid} {quoted(name)}")
    return lines


def _global_lines(config: Config) -> list[str]:
    lines = []
    if config.hostname:
        lines.append(f"hostname {quoted(config.hostname)}")
    for name, (digest, level) in sorted(config.users.items()):
        lines.append(f"username {quoted(name)} password {digest} level {level} encrypted")
    lines += config.global_lines.values()
    if config.flow_control:
        lines.append("flowcontrol")
    if not config.spanning_tree:
        lines.append("no spanning-tree")
    if config.ageing_s != AGEING_DEFAULT_S:
        lines.append(f"bridge aging-time {config.ageing_s}")
    if config.history_interval_s != HISTORY_INTERVAL_DEFAULT_S:
        lines.append(f"green-mode eee-lpi-history sampling-interval {config.history_interval_s}")
    if config.history_samples != HISTORY_SAMPLES_DEFAULT:
        lines.append(f"green-mode eee-lpi-history max-samples {config.history_samples}")
    if config.port_security:
        lines.append("port-security")
    for vid, mac in sorted(config.macfilters):
        lines.append(f"macfilter {mac_text(mac)} {vid}")
    return lines


def interface_lines(config: Config, port: Port) -> list[str]:
    """Return the lines of one interface block; empty for a port with factory settings."""
    p = config.ports[port.number]
    lines = ["shutdown"] if p.shutdown else []
    if p.description:
        lines.append(f"description {described(p.description)}")
    lines += _link_lines(p)
    if p.lag is not None:
        lines.append(f"addport lag {p.lag}")
    if p.lag_static:
        lines.append("port-channel static")
    lines += _switchport_lines(p) + _vlan_port_lines(p) + _green_lines(p)
    if not p.spanning_tree:
        lines.append("no spanning-tree port mode")
    lines += [f"no lldp {way}" for way, on in (("transmit", p.lldp_transmit), ("receive", p.lldp_receive)) if not on]
    lines += _security_lines(p)
    for (vid, mac), macfilter in sorted(config.macfilters.items()):
        if port.number in macfilter.sources:
            lines.append(f"macfilter addsrc {mac_text(mac)} {vid}")
        if port.number in macfilter.destinations:
            lines.append(f"macfilter adddest {mac_text(mac)} {vid}")
    return lines


def _link_lines(p: PortConfig) -> list[str]:
    lines = []
    if not p.autoneg:
        lines.append("no auto-negotiate")
        if p.forced_mbps is not None:
            lines.append(f"speed {rate_word(p.forced_mbps)} full-duplex")
    elif p.advertised_mbps is not None:
        lines.append("speed auto " + " ".join(rate_word(m) for m in sorted(p.advertised_mbps)))
    if p.flow_control:
        lines.append("flowcontrol")
    if p.mtu_byte != MTU_DEFAULT_BYTE:
        lines.append(f"mtu {p.mtu_byte}")
    return lines


def _switchport_lines(p: PortConfig) -> list[str]:
    lines = [f"switchport mode {p.mode}"] if p.mode is not None else []
    if p.access_vid != 1:
        lines.append(f"switchport access vlan {p.access_vid}")
    if p.native_vid != 1:
        lines.append(f"switchport trunk native vlan {p.native_vid}")
    if p.allowed is not None:
        barred = frozenset(range(1, VID_MAX + 1)) - p.allowed
        allowed = format_list(p.allowed) if p.allowed else f"except {format_list(barred)}"
        lines.append(f"switchport trunk allowed vlan {allowed}")
    return lines


def _vlan_port_lines(p: PortConfig) -> list[str]:
    lines = [f"vlan pvid {p.pvid}"] if p.pvid != 1 else []
    if p.acceptable in _ACCEPT_WORDS:
        lines.append(f"vlan acceptframe {_ACCEPT_WORDS[p.acceptable]}")
    if p.ingress_filter:
        lines.append("vlan ingressfilter")
    if 1 not in p.include and 1 not in p.exclude:
        lines.append("vlan participation auto 1")
    if p.exclude:
        lines.append(f"vlan participation exclude {format_list(p.exclude)}")
    if p.include - {1}:
        lines.append(f"vlan participation include {format_list(p.include - {1})}")
    if p.tagging:
        lines.append(f"vlan tagging {format_list(p.tagging)}")
    return lines


def _green_lines(p: PortConfig) -> list[str]:
    lines = ["green-mode energy-detect"] if p.energy_detect else []
    if p.eee:
        lines.append("green-mode eee")
    if p.tx_idle_us:
        lines.append(f"green-mode eee tx-idle-time {p.tx_idle_us}")
    if p.tx_wake_us:
        lines.append(f"green-mode eee tx-wake-time {p.tx_wake_us}")
    return lines


def _security_lines(p: PortConfig) -> list[str]:
    lines = ["port-security"] if p.locked else []
    if p.max_static != MAX_STATIC_DEFAULT:
        lines.append(f"port-security max-static {p.max_static}")
    lines += [f"port-security mac-address {mac_text(mac)} {vid}" for vid, mac in sorted(p.static_macs)]
    return lines
