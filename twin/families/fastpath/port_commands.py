"""Lines of an interface block except VLANs: link, green Ethernet, LAG, spanning tree, static addresses.

CLI manual 202-11997: "Port Configuration", "Green Ethernet", "Port-Channel/LAG", "Port Security", "Static MAC
Filtering". The rates that a port accepts were measured on real ones, see `twin.families.fastpath.ports`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eee_testbed.twin.cli.grammar import Command, with_no
from eee_testbed.twin.families.fastpath.actions import Configure, Enter, flag, on_all, value
from eee_testbed.twin.families.fastpath.config import MAX_STATIC_DEFAULT, MTU_DEFAULT_BYTE, MacFilter, lag_members
from eee_testbed.twin.families.fastpath.personality import check_description
from eee_testbed.twin.families.fastpath.ports import FORCIBLE_MBPS, LAG_MEMBERS_MAX, OFFERED_MBPS
from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Handler
    from eee_testbed.twin.families.fastpath.actions import Ports
    from eee_testbed.twin.families.fastpath.personality import FastpathPersonality

_RATE_MBPS = {"10": 10, "100": 100, "1000": 1000, "2.5g": 2500, "5g": 5000, "10g": 10_000}
MULTICAST_FILTERS_MAX = 256
UNICAST_FILTERS_MAX = 20


def _about_ports(match: Match[Any]) -> dict[str, Any]:
    chosen = match.get("ports")
    return {"ports": chosen.numbers, "text": chosen.text}


def _description(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    text = match.get("text", "")
    check_description(text)
    personality.config.change(ports, description=text)


def _speed(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    rates = [_RATE_MBPS[w] for w in match.keywords if w in _RATE_MBPS]
    for number in ports:
        phy = personality.physical(number).phy
        allowed = OFFERED_MBPS[phy] if match.has("auto") else FORCIBLE_MBPS[phy]
        wrong = [m for m in rates if m not in allowed]
        if wrong:
            raise Refused(f"{phy} does not take {wrong[0]} Mb/s here", reason="bad-value")
        if match.has("auto"):
            chosen = frozenset(rates)
            every = not chosen or chosen == frozenset(OFFERED_MBPS[phy])
            personality.config.change([number], autoneg=True, advertised_mbps=None if every else chosen)
        else:
            personality.config.change([number], autoneg=False, forced_mbps=rates[0])


def _auto_negotiate(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    for number in ports:
        personality.set_autoneg(number, on=not match.negated)


def _eee(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    for number in ports:
        personality.set_eee(number, on=not match.negated)


def _tx_time(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    name = "tx_idle_us" if match.has("tx-idle-time") else "tx_wake_us"
    for number in ports:
        personality.physical(number)
    personality.config.change(ports, **{name: match.get("us", 0)})


def _lldp(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    name = "lldp_transmit" if match.has("transmit") else "lldp_receive"
    for number in ports:
        personality.physical(number)
    personality.config.change(ports, **{name: not match.negated})


def _energy_detect(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    for number in ports:
        if personality.physical(number).phy != "1000BASE-T":
            raise Refused("only 1G copper ports support energy-detect mode", reason="no-energy-detect")
    personality.config.change(ports, energy_detect=not match.negated)


def _addport(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    lag = _lag_number(personality, match)
    for number in ports:
        personality.physical(number)
        members = lag_members(personality.config).get(lag, ())
        if number not in members and len(members) >= LAG_MEMBERS_MAX:
            raise Refused(f"lag {lag} already has {LAG_MEMBERS_MAX} members", reason="full")
        present = personality.config.ports[number].lag
        if present not in {None, lag}:
            raise Refused(f"the port belongs to lag {present}", reason="in-lag")
        personality.config.change([number], lag=lag)


def _deleteport(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    lag = _lag_number(personality, match)
    for number in ports:
        if personality.config.ports[number].lag != lag:
            raise Refused(f"the port does not belong to lag {lag}", reason="not-in-lag")
        personality.config.change([number], lag=None)


def _lag_static(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    for number in ports:
        if not personality.ports[number - 1].is_lag:
            raise Refused("only a port channel can be static", reason="bad-value")
    personality.config.change(ports, lag_static=not match.negated)


def _max_static(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    limit = match.get("count", MAX_STATIC_DEFAULT)
    for number in ports:
        if len(personality.config.ports[number].static_macs) > limit:
            raise Refused("the port holds more static addresses than that", reason="full")
    personality.config.change(ports, max_static=limit)


def _lock_mac(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    vid, mac = match.get("vid"), match.get("mac")
    for number in ports:
        port_config = personality.config.ports[number]
        if not match.negated:
            personality.lock_mac(number, vid, mac)
        elif (vid, mac) not in port_config.static_macs:
            raise Refused(f"{mac.hex(':')} in VLAN {vid} is not a static address of the port", reason="no-entry")
        else:
            personality.config.change([number], static_macs=port_config.static_macs - {(vid, mac)})


def _filter_port(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    key = (match.get("vid"), match.get("mac"))
    if key not in personality.config.macfilters:
        raise Refused("that address has no filter in that VLAN: create it with macfilter", reason="no-entry")
    if match.has("adddest") and not key[1][0] & 1:
        raise Refused("destination ports are for multicast addresses only", reason="bad-value")
    old = personality.config.macfilters[key]
    side = "destinations" if match.has("adddest") else "sources"
    before: frozenset[int] = getattr(old, side)
    after = before - set(ports) if match.negated else before | set(ports)
    personality.config.macfilters[key] = replace(old, **{side: after})


def _macfilter(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    key = (match.get("vid"), match.get("mac"))
    personality.need_vlan(key[0])
    filters = personality.config.macfilters
    if match.negated:
        if key not in filters:
            raise Refused("that address has no filter in that VLAN", reason="no-entry")
        del filters[key]
        return
    if not any(key[1]) or key[1] == b"\xff" * 6 or key[1].startswith(b"\x01\x80\xc2\x00\x00"):
        raise Refused("that address is reserved", reason="bad-value")
    multicast = bool(key[1][0] & 1)
    kin = [mac for _, mac in filters if bool(mac[0] & 1) == multicast]
    if key not in filters and len(kin) >= (MULTICAST_FILTERS_MAX if multicast else UNICAST_FILTERS_MAX):
        raise Refused("the table of static MAC filters is full", reason="full")
    filters.setdefault(key, MacFilter())


def _lag_number(personality: FastpathPersonality, match: Match[Any]) -> int:
    port = personality.ports[match.get("lag").numbers[0] - 1]
    if not port.is_lag:
        raise Refused(f"{port.name} is not a port channel", reason="bad-value")
    return int(port.name.split()[1])


_IF = frozenset({"if"})
_CONFIG = frozenset({"config"})

COMMANDS: tuple[Command[Handler], ...] = (
    Command("interface <ports>", Enter("if", _about_ports), _CONFIG, "Enter into Interface Config mode."),
    Command("[no] shutdown", flag("shutdown"), _IF, "Enable/Disable a port."),
    Command("[no] shutdown all", on_all(flag("shutdown")), _CONFIG, "Enable/Disable all ports."),
    *with_no("description <text>", Configure(_description), _IF, "Add Description to the interface."),
    Command(
        "speed auto [10] [100] [1000] [2.5G] [5G] [10G] [full-duplex]",
        Configure(_speed),
        _IF,
        "Enable auto-negotiation and set the advertised speeds.",
    ),
    Command("speed (10|100|10G) full-duplex", Configure(_speed), _IF, "Set the speed and duplex mode for a port."),
    Command("[no] auto-negotiate", Configure(_auto_negotiate), _IF, "Enable/Disable automatic negotiation on a port."),
    Command("[no] flowcontrol", flag("flow_control"), _IF, "Enable/Disable 802.3x flow control."),
    *with_no(
        "mtu <byte>", value("mtu_byte", "byte", MTU_DEFAULT_BYTE), _IF, "Set the maximum frame size of the interface."
    ),
    Command("[no] green-mode eee", Configure(_eee), _IF, "Enable/Disable EEE mode."),
    Command("green-mode eee (tx-idle-time <us:idle_us>|tx-wake-time <us:wake_us>)", Configure(_tx_time), _IF),
    Command("no green-mode eee (tx-idle-time|tx-wake-time)", Configure(_tx_time), _IF),
    Command("[no] lldp (transmit|receive)", Configure(_lldp), _IF, "Enable/Disable LLDP."),
    Command("[no] green-mode energy-detect", Configure(_energy_detect), _IF, "Enable/Disable energy-detect mode."),
    Command("addport <lag>", Configure(_addport), _IF, "Add this port to a port-channel."),
    Command("deleteport <lag>", Configure(_deleteport), _IF, "Delete this port from a port-channel."),
    Command("[no] port-channel static", Configure(_lag_static), _IF, "Enable/Disable static mode of a port-channel."),
    Command("[no] spanning-tree port mode", flag("spanning_tree"), _IF, "Enable/Disable spanning tree on a port."),
    Command("[no] port-security", flag("locked"), _IF, "Enable/Disable Port MAC Locking."),
    *with_no("port-security max-static <count:statics>", Configure(_max_static), _IF),
    Command("[no] port-security mac-address <mac> <vid>", Configure(_lock_mac), _IF, "Lock an address to the port."),
    Command("[no] macfilter (addsrc|adddest) <mac> <vid>", Configure(_filter_port), _IF),
    Command("[no] macfilter <mac> <vid>", Configure(_macfilter), _CONFIG, "Configure a static MAC filter."),
)
