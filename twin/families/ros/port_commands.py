"""Interface configuration commands of ROS: physical side, VLANs, energy, spanning tree, LAGs.

Simplification: link-flap prevention (three flaps a second for ten seconds err-disable a port on later siblings) is not
modelled; a real switch would stop an experiment that flaps a port so fast, the twin does not.
Simplification: `channel-group … mode auto` makes a static LAG; no LACPDU is sent, which a capture could show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eee_testbed.twin.cli.grammar import Command, with_no
from eee_testbed.twin.families.ros.config import ALL_SPEEDS_MBPS, DEFAULT_VLAN, need_vlans
from eee_testbed.twin.families.ros.models import LAG_MEMBERS_MAX
from eee_testbed.twin.families.ros.switch_commands import plain
from eee_testbed.twin.families.ros.table import INTERFACE, ConfigHandler, Where, port_switch
from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Match

CAPABILITIES = {"10h": 10, "10f": 10, "100h": 100, "100f": 100, "1000f": 1000, "10000f": 10_000}


def _description(where: Where, match: Match[Any]) -> None:
    text = plain(match.get("rest", ""))
    if len(text) > 64:
        raise Refused("the description is longer than 64 characters", reason="bad-value")
    for setting in where.settings():
        setting.description = text


def _speed(where: Where, match: Match[Any]) -> None:
    speed = None if match.negated else int(match.keywords[-1])
    for port, setting in where.copper():
        if speed is not None and speed > port.speed_mbps:
            raise Refused(f"{port.name} does at most {port.speed_mbps} Mb/s", reason="bad-value")
        setting.speed_mbps = speed


def _negotiation(where: Where, match: Match[Any]) -> None:
    offered = {CAPABILITIES[k] for k in match.keywords if k in CAPABILITIES}
    for port, setting in where.copper():
        if any(s > port.speed_mbps for s in offered):
            raise Refused(f"{port.name} does at most {port.speed_mbps} Mb/s", reason="bad-value")
        setting.negotiation = not match.negated
        setting.advertised_mbps = tuple(s for s in ALL_SPEEDS_MBPS if s in offered)


def _duplex(where: Where, match: Match[Any]) -> None:
    for _, setting in where.copper():
        setting.half_duplex = match.has("half")


def _flow_control(where: Where, match: Match[Any]) -> None:
    for setting in where.settings():
        setting.flow_control = "off" if match.negated else match.keywords[-1]  # type: ignore[assignment]


def _mdix(where: Where, match: Match[Any]) -> None:
    for _, setting in where.copper():
        setting.mdix = "off" if match.negated else match.keywords[-1]  # type: ignore[assignment]


def _mode(where: Where, match: Match[Any]) -> None:
    for setting in where.settings():
        setting.mode = "access" if match.negated else match.keywords[-1]  # type: ignore[assignment]


def _single_vlan(name: str, default: int | None) -> ConfigHandler:
    """Make a handler for a setting that is one existing VLAN, `none`, or with `no` the default."""

    def run(where: Where, match: Match[Any]) -> None:
        vid = default if match.negated else match.get("vid")
        if vid is not None:
            need_vlans(where.config, [vid])
        for setting in where.settings():
            setattr(setting, name, vid)

    return run


def _trunk_allowed(where: Where, match: Match[Any]) -> None:
    vids = set(where.config.vlans) if match.has("all") else set(match.get("vlans"))
    if match.has("add"):
        need_vlans(where.config, sorted(vids))
    for setting in where.settings():
        setting.trunk_vids = setting.trunk_vids | vids if match.has("add") else setting.trunk_vids - vids


def _general_allowed(where: Where, match: Match[Any]) -> None:
    vids = set(match.get("vlans"))
    if match.has("add"):
        need_vlans(where.config, sorted(vids))
    for setting in where.settings():
        setting.general_tagged -= vids
        setting.general_untagged -= vids
        if match.has("untagged"):
            setting.general_untagged |= vids
        elif match.has("add"):
            setting.general_tagged |= vids


def _general_pvid(where: Where, match: Match[Any]) -> None:
    vid = match.get("pvid", DEFAULT_VLAN)
    if vid <= 4094:
        need_vlans(where.config, [vid])
    for setting in where.settings():
        setting.general_pvid = vid


_ACCEPTABLE = {"all": "all", "tagged-only": "tagged", "untagged-only": "untagged"}


def _acceptable(where: Where, match: Match[Any]) -> None:
    for setting in where.settings():
        setting.general_acceptable = _ACCEPTABLE.get(match.keywords[-1], "all")  # type: ignore[assignment]


def _forbidden(where: Where, match: Match[Any]) -> None:
    vids = set(match.get("vlans"))
    need_vlans(where.config, sorted(vids))
    for setting in where.settings():
        setting.forbidden_vids = setting.forbidden_vids | vids if match.has("add") else setting.forbidden_vids - vids


def _stp_cost(where: Where, match: Match[Any]) -> None:
    for setting in where.settings():
        setting.stp_cost = match.get("stp-cost")


def _stp_port_priority(where: Where, match: Match[Any]) -> None:
    priority = match.get("stp-port-priority", 128)
    if priority % 16:
        raise Refused("a port priority is a multiple of 16", reason="bad-value")
    for setting in where.settings():
        setting.stp_priority = priority


def _channel_group(where: Where, match: Match[Any]) -> None:
    chosen = where.copper()
    lag = match.get("lag")
    for port, setting in chosen:
        if lag is not None:
            _may_join(where, port.number, port.speed_mbps, lag)
        setting.lag = lag
        setting.lag_mode = "auto" if match.has("auto") else "on"


def _may_join(where: Where, number: int, speed_mbps: int, lag: int) -> None:
    members = [n for n, c in where.config.ports.items() if c.lag == lag and n != number]
    if len(members) >= LAG_MEMBERS_MAX:
        raise Refused(f"po{lag} has {LAG_MEMBERS_MAX} members already", reason="full")
    if any(where.ports[n - 1].speed_mbps != speed_mbps for n in members):
        raise Refused(f"the members of po{lag} have another speed", reason="in-lag")


COMMANDS: tuple[Command[ConfigHandler], ...] = (
    Command("[no] shutdown", port_switch("shutdown"), INTERFACE, "Disable the interface"),
    *with_no("description <rest>", _description, INTERFACE, "Description of the interface"),
    *with_no("speed (10|100|1000|10000)", _speed, INTERFACE, "Speed without negotiation"),
    *with_no("negotiation [10h] [10f] [100h] [100f] [1000f] [10000f]", _negotiation, INTERFACE, "Auto-negotiation"),
    *with_no("duplex (half|full)", _duplex, INTERFACE, "Duplex without negotiation"),
    *with_no("flowcontrol (on|off|auto)", _flow_control, INTERFACE, "802.3x flow control"),
    Command("[no] back-pressure", port_switch("back_pressure"), INTERFACE, "Back pressure"),
    *with_no("mdix (on|auto)", _mdix, INTERFACE, "Crossover"),
    *with_no("switchport mode (access|trunk|general|customer)", _mode, INTERFACE, "VLAN mode"),
    *with_no("switchport access vlan <vid>", _single_vlan("access_vid", DEFAULT_VLAN), INTERFACE, "Access VLAN"),
    *with_no(
        "switchport trunk native vlan (<vid>|none)",
        _single_vlan("trunk_native_vid", DEFAULT_VLAN),
        INTERFACE,
        "Untagged VLAN of a trunk",
    ),
    Command("switchport trunk allowed vlan (add|remove) (<vlans>|all)", _trunk_allowed, INTERFACE, "VLANs of a trunk"),
    Command(
        "switchport general allowed vlan add <vlans> [tagged|untagged]",
        _general_allowed,
        INTERFACE,
        "VLANs of a general port",
    ),
    Command("switchport general allowed vlan remove <vlans>", _general_allowed, INTERFACE, "VLANs of a general port"),
    *with_no("switchport general pvid <pvid>", _general_pvid, INTERFACE, "VLAN of untagged frames"),
    Command(
        "[no] switchport general ingress-filtering disable",
        port_switch("general_ingress_filtering", inverted=True),
        INTERFACE,
        "Accept frames of VLANs that the port is not in",
    ),
    *with_no(
        "switchport general acceptable-frame-type (all|tagged-only|untagged-only)",
        _acceptable,
        INTERFACE,
        "Frames to accept",
    ),
    *with_no("switchport customer vlan <vid>", _single_vlan("customer_vid", None), INTERFACE, "Customer VLAN"),
    Command(
        "[no] switchport forbidden default-vlan", port_switch("forbidden_default_vlan"), INTERFACE, "Keep out of VLAN 1"
    ),
    Command("switchport forbidden vlan (add|remove) <vlans>", _forbidden, INTERFACE, "Keep out of VLANs"),
    Command("[no] eee enable", port_switch("eee"), INTERFACE, "Energy-Efficient Ethernet"),
    Command("[no] eee lldp enable", port_switch("eee_lldp"), INTERFACE, "EEE wake times by LLDP"),
    Command("[no] green-ethernet energy-detect", port_switch("energy_detect"), INTERFACE, "Energy-detect mode"),
    Command("[no] green-ethernet short-reach", port_switch("short_reach"), INTERFACE, "Short-reach mode"),
    Command(
        "[no] spanning-tree disable", port_switch("spanning_tree", inverted=True), INTERFACE, "Spanning tree off here"
    ),
    Command("[no] spanning-tree portfast", port_switch("portfast"), INTERFACE, "No spanning tree delay"),
    *with_no("spanning-tree cost <stp-cost>", _stp_cost, INTERFACE, "Path cost"),
    *with_no("spanning-tree port-priority <stp-port-priority>", _stp_port_priority, INTERFACE, "Port priority"),
    Command("channel-group <lag> mode (on|auto)", _channel_group, INTERFACE, "Join a port-channel"),
    Command("no channel-group", _channel_group, INTERFACE, "Leave the port-channel"),
    Command("[no] lldp transmit", port_switch("lldp_transmit"), INTERFACE, "Send LLDP"),
    Command("[no] lldp receive", port_switch("lldp_receive"), INTERFACE, "Receive LLDP"),
)
