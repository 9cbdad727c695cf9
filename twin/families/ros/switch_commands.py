"""Switch-wide configuration commands of ROS, and the VLAN database.

Patterns after the 55xx and sibling command-line guides; [M] marks what is from memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from eee_testbed.twin.cli.grammar import Command, with_no
from eee_testbed.twin.families.ros.config import DEFAULT_VLAN, LocalUser, forget_vlan, need_vlans
from eee_testbed.twin.families.ros.table import (
    CONFIG,
    EVERYWHERE,
    LINE,
    VLAN_DATABASE,
    VLAN_INTERFACE,
    ConfigHandler,
    Enter,
    Leave,
    Where,
    switch,
)
from eee_testbed.twin.switch.personality import Refused, password_digest

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Match

QUOTE = '"'


def plain(text: str) -> str:
    """Return text that a configuration can hold and read back; refuse quotes and control characters."""
    if QUOTE in text or not text.isprintable():
        raise Refused(f"the text {text!r} has a character that a configuration cannot hold", reason="bad-value")
    return text


def _hostname(where: Where, match: Match[Any]) -> None:
    name = match.get("name", "")
    if not re.fullmatch(r"[A-Za-z0-9._-]*", name):
        raise Refused(f"{name!r} is not a host name", reason="bad-value")
    where.config.hostname = name


def _location(where: Where, match: Match[Any]) -> None:
    where.config.location = plain(match.get("rest", ""))


def _contact(where: Where, match: Match[Any]) -> None:
    where.config.contact = plain(match.get("rest", ""))


def _snmp_server(where: Where, match: Match[Any]) -> None:
    line = match.get("raw")
    kept = where.config.snmp_server
    if match.negated:
        where.config.snmp_server = [k for k in kept if k != line and not k.startswith(line + " ")]
    elif line not in kept:
        kept.append(line)


def _username(where: Where, match: Match[Any]) -> None:
    name = plain(match.get("name"))
    if match.negated:
        where.config.users.pop(name, None)
        return
    where.config.users[name] = LocalUser(_digest(match), match.get("level", 1))


def _digest(match: Match[Any]) -> str:
    secret: str = match.get("password")
    if not match.has("encrypted"):
        return password_digest(secret)
    if not re.fullmatch(r"[0-9a-f]{40}", secret):
        raise Refused("an encrypted password has 40 hexadecimal digits", reason="bad-value")
    return secret


def _enable_password(where: Where, match: Match[Any]) -> None:
    where.config.enable_digest = None if match.negated else _digest(match)


def _line(_where: Where, match: Match[Any]) -> Enter:
    return Enter("line", {"line": match.keywords[-1]})


def _exec_timeout(where: Where, match: Match[Any]) -> None:
    seconds = 600 if match.negated else match.get("minutes") * 60 + match.get("seconds", 0)
    if where.about["line"] == "ssh":
        where.config.exec_timeout_s = seconds


def _pubkey_auth(where: Where, match: Match[Any]) -> None:
    where.config.ssh_pubkey_auth = not match.negated
    where.config.pubkey_auto_login = match.has("auto-login")


def _stp_mode(where: Where, match: Match[Any]) -> None:
    where.config.stp_mode = "rstp" if match.negated else match.keywords[-1]  # type: ignore[assignment]


def _stp_priority(where: Where, match: Match[Any]) -> None:
    priority = match.get("stp-priority", 32768)
    if priority % 4096:
        raise Refused("a bridge priority is a multiple of 4096", reason="bad-value")
    where.config.stp_priority = priority


def _ageing(where: Where, match: Match[Any]) -> None:
    where.config.ageing_s = match.get("ageing", 300)


STATICS_MAX = 1024  # [M]
KINDS = ("permanent", "delete-on-reset", "delete-on-timeout", "secure")


def _static_mac(where: Where, match: Match[Any]) -> None:
    vid, mac = match.get("vid"), match.get("mac")
    need_vlans(where.config, [vid])
    if match.negated:
        if mac is None:
            where.config.statics = {k: v for k, v in where.config.statics.items() if k[0] != vid}
        else:
            where.config.statics.pop((vid, mac), None)
        return
    if mac[0] & 1:
        raise Refused("a multicast address cannot be bound to one port", reason="bad-value")
    if (vid, mac) not in where.config.statics and len(where.config.statics) >= STATICS_MAX:
        raise Refused(f"the switch holds at most {STATICS_MAX} static addresses", reason="full")
    kind = match.keywords[-1] if match.keywords[-1] in KINDS else "permanent"
    where.config.statics[vid, mac] = (match.get("port")[0], kind)


def _vlan(where: Where, match: Match[Any]) -> str | None:
    vids = match.get("vlans")
    if not match.negated:
        for vid in vids:
            where.config.vlans.setdefault(vid, "")
        if match.get("vlan-name") is not None:
            for vid in vids:
                where.config.vlans[vid] = plain(match.get("vlan-name"))
        return None
    if DEFAULT_VLAN in vids:
        raise Refused("VLAN 1 is the default VLAN and stays", reason="default-vlan")
    need_vlans(where.config, vids)
    for vid in vids:
        forget_vlan(where.config, vid)
    return None


def _vlan_interface(where: Where, match: Match[Any]) -> Enter:
    vids = match.get("vlans") or (match.get("vid"),)
    need_vlans(where.config, vids)
    return Enter("ifvlan", {"vlans": tuple(vids), "range": match.has("range")})


def _vlan_name(where: Where, match: Match[Any]) -> None:
    if match.negated:
        for vid in where.about["vlans"]:
            where.config.vlans[vid] = ""
        return
    if len(where.about["vlans"]) > 1:
        raise Refused("a name belongs to one VLAN: choose a single one", reason="bad-value")
    where.config.vlans[where.about["vlans"][0]] = plain(match.get("vlan-name"))


def _ip_address(where: Where, match: Match[Any]) -> None:
    address = f"{match.get('address')} {match.get('mask')}"
    where.config.management_address = "" if match.negated else address


def _interface(_where: Where, match: Match[Any]) -> Enter:
    many = match.has("range")
    return Enter("if", {"ports": match.get("ports" if many else "port"), "range": many})


COMMANDS: tuple[Command[ConfigHandler], ...] = (
    Command("vlan database", lambda _w, _m: Enter("vlandb", {}), CONFIG, "VLAN database"),
    Command("interface <port>", _interface, CONFIG, "Configure an interface"),
    Command("interface range <ports>", _interface, CONFIG, "Configure several interfaces"),
    Command("interface vlan <vid>", _vlan_interface, CONFIG, "Configure a VLAN"),
    Command("interface range vlan <vlans>", _vlan_interface, CONFIG, "Configure several VLANs"),
    *with_no("hostname <name>", _hostname, CONFIG, "System name"),
    *with_no("snmp-server location <rest>", _location, CONFIG, "System location"),
    *with_no("snmp-server contact <rest>", _contact, CONFIG, "System contact"),
    Command("[no] snmp-server <raw>", _snmp_server, CONFIG, "SNMP engine"),
    Command(
        "username <name> password [encrypted] <password:text> [(privilege|level) <level>]",
        _username,
        CONFIG,
        "Local user",
    ),
    Command("no username <name>", _username, CONFIG, "Local user"),
    Command("enable password [level 15] [encrypted] <password:text>", _enable_password, CONFIG, "Enable password"),
    Command("no enable password [level 15]", _enable_password, CONFIG, "Enable password"),
    Command("line (console|ssh|telnet)", _line, CONFIG, "Terminal line"),
    *with_no("exec-timeout <minutes> [<seconds>]", _exec_timeout, LINE, "Idle time-out"),
    Command("[no] ip ssh server", switch("ssh_server"), CONFIG, "SSH server"),
    Command("[no] ip ssh password-auth", switch("ssh_password_auth"), CONFIG, "SSH's own password method"),
    *with_no("ip ssh pubkey-auth [auto-login]", _pubkey_auth, CONFIG, "SSH public keys"),
    Command("[no] spanning-tree", switch("spanning_tree"), CONFIG, "Spanning tree"),
    *with_no("spanning-tree mode (stp|rstp|mst)", _stp_mode, CONFIG, "Spanning tree protocol"),
    *with_no("spanning-tree priority <stp-priority>", _stp_priority, CONFIG, "Bridge priority"),
    Command("[no] eee enable", switch("eee"), CONFIG, "Energy-Efficient Ethernet"),
    Command("[no] green-ethernet energy-detect", switch("energy_detect"), CONFIG, "Energy-detect mode"),
    Command("[no] green-ethernet short-reach", switch("short_reach"), CONFIG, "Short-reach mode"),
    Command("[no] lldp run", switch("lldp"), CONFIG, "LLDP"),
    Command("[no] port jumbo-frame", switch("jumbo"), CONFIG, "Jumbo frames, after a reload"),
    *with_no("mac address-table aging-time <ageing>", _ageing, CONFIG, "Ageing time"),
    Command(
        f"mac address-table static <mac> vlan <vid> interface <port> [{'|'.join(KINDS)}]",
        _static_mac,
        CONFIG,
        "Static MAC address",
    ),
    Command("no mac address-table static [<mac>] vlan <vid>", _static_mac, CONFIG, "Static MAC address"),
    Command("vlan <vlans> [name <vlan-name>]", _vlan, VLAN_DATABASE, "Create VLANs"),
    Command("no vlan <vlans>", _vlan, VLAN_DATABASE, "Remove VLANs"),
    *with_no("name <vlan-name>", _vlan_name, VLAN_INTERFACE, "VLAN name"),
    Command("ip address <address:ip> <mask:ip>", _ip_address, VLAN_INTERFACE, "Management address"),
    Command("no ip address [<address:ip>]", _ip_address, VLAN_INTERFACE, "Management address"),
    Command("exit", lambda _w, _m: Leave.UP, EVERYWHERE, "Leave this mode"),
    Command("end", lambda _w, _m: Leave.END, EVERYWHERE, "Back to privileged exec"),
)
