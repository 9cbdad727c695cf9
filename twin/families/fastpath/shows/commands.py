"""The `show` and `clear` lines of the command table."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from eee_engine import phy_profiles

from eee_testbed.twin.cli.grammar import Command
from eee_testbed.twin.families.fastpath.layout import dotted
from eee_testbed.twin.families.fastpath.ports import model_named
from eee_testbed.twin.families.fastpath.running_config import mac_text, render_interface
from eee_testbed.twin.families.fastpath.shows import green as show_green
from eee_testbed.twin.families.fastpath.shows import port as show_port
from eee_testbed.twin.families.fastpath.shows import system as show_system
from eee_testbed.twin.families.fastpath.shows import vlan as show_vlan
from eee_testbed.twin.families.fastpath.shows.green import GreenView
from eee_testbed.twin.families.fastpath.shows.port import PortView
from eee_testbed.twin.families.fastpath.shows.system import FdbRow
from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Handler, Reply, Session
    from eee_testbed.twin.families.fastpath.config import Config
    from eee_testbed.twin.families.fastpath.shows.statistics import Statistics
    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.personality import Port

CELSIUS = 46  # a lab at room temperature


@dataclass(frozen=True, slots=True)
class Show:
    """A show command."""

    lines: Callable[[Session, Match[Any]], list[str]]

    def __call__(self, session: Session, match: Match[Any]) -> Reply:
        """Execute it for a session."""
        lines = self.lines(session, match)
        chosen = match.get("filter")
        if chosen is not None:
            lines = chosen.apply(lines)
        return "".join(line + "\n" for line in lines) + "\n"


def _config(session: Session) -> Config:
    return cast("Config", session.device.personality.config)


def statistics(session: Session) -> Statistics:
    """Return the device's statistics; the command line puts them into every session."""
    return cast("Statistics", session.info["statistics"])


def _chosen(session: Session, match: Match[Any]) -> list[Port]:
    """Return the named ports, or all."""
    ports = match.get("ports") or match.get("port")
    if ports is None:
        return list(session.device.ports)
    return [session.device.port(n) for n in ports.numbers]


def _physical(ports: Sequence[Port]) -> list[Port]:
    return [p for p in ports if not p.is_lag]


# -- VLANs


def _vlan_one(session: Session, match: Match[Any]) -> list[str]:
    config, vid = _config(session), match.get("vid")
    if vid not in config.vlans:
        raise Refused(f"VLAN {vid} does not exist", reason="no-vlan")
    return show_vlan.vlan_members(config, session.device.ports, vid)


def _vlan_port(session: Session, match: Match[Any]) -> list[str]:
    return show_vlan.vlan_ports(_config(session), _chosen(session, match))


def _switchport(session: Session, match: Match[Any]) -> list[str]:
    return show_vlan.switchport(_config(session), _chosen(session, match))


# -- ports


def port_view(device: SwitchDevice, port: Port) -> PortView:
    """Collect what shows need of one port; a LAG is up if a member is."""
    config = cast("Config", device.personality.config)
    port_config = config.ports[port.number]
    return PortView(
        port,
        port_config,
        device.engine.port(port.engine_port),
        config.flow_control or port_config.flow_control,
        config.spanning_tree and port_config.spanning_tree,
    )


def _views(session: Session, match: Match[Any]) -> list[PortView]:
    return [port_view(session.device, p) for p in _chosen(session, match)]


def _port_all(session: Session, match: Match[Any]) -> list[str]:
    return show_port.port_all(_views(session, match))


def _port_status(session: Session, match: Match[Any]) -> list[str]:
    return show_port.port_status(_views(session, match))


def _interfaces_status(session: Session, match: Match[Any]) -> list[str]:
    return show_port.interface_names(_views(session, match))


def _port_description(session: Session, match: Match[Any]) -> list[str]:
    lines: list[str] = []
    for view in _views(session, match):
        mac = int.from_bytes(session.device.spec.base_mac) + 1
        lines += show_port.port_description(view, mac_text(mac.to_bytes(6)))
    return lines


def _interface(session: Session, match: Match[Any]) -> list[str]:
    counters, cleared_s = statistics(session).traffic(_chosen(session, match)[0].number)
    return ["", *show_port.interface_short(counters, cleared_s)]


def _interface_ethernet(session: Session, match: Match[Any]) -> list[str]:
    port = _chosen(session, match)[0]
    counters, cleared_s = statistics(session).traffic(port.number)
    return ["", *show_port.interface_long(_config(session).ports[port.number], counters, cleared_s)]


def _interface_counters(session: Session, _match: Match[Any]) -> list[str]:
    kept = statistics(session)
    return show_port.interface_counters((p.name, kept.traffic(p.number)[0]) for p in _physical(session.device.ports))


# -- green ethernet


def _green_view(session: Session, port: Port) -> GreenView:
    device = session.device
    state = device.engine.port(port.engine_port)
    counters, cleared_s = statistics(session).lpi(port.number)
    configured_us = device.effect.ports[port.number].lpi_wake_us
    wake_us = configured_us if configured_us is not None else phy_profiles()[port.phy]["wake_us"]
    return GreenView(
        port=port,
        config=_config(session).ports[port.number],
        oper_up=state["oper_up"],
        speed_mbps=state["speed_mbps"],
        rx_events=counters["rx_lpi_events"],
        rx_us=counters["rx_lpi_us"],
        tx_events=counters["tx_lpi_events"],
        tx_us=counters["tx_lpi_us"],
        wake_us=-int(-wake_us // 1),  # LLDP rounds up to whole microseconds
        partner_wake_us=-int(-wake_us // 1) if state["eee_active"] else None,
        cleared_s=cleared_s,
    )


def _green_mode(session: Session, match: Match[Any]) -> list[str]:
    if match.get("port") is None:
        return show_green.green_summary([_green_view(session, p) for p in _physical(session.device.ports)])
    return show_green.green_port(_green_view(session, _one_physical(session, match)))


def _lpi_history(session: Session, match: Match[Any]) -> list[str]:
    config = _config(session)
    stack_percent, rows = statistics(session).history(_one_physical(session, match).number)
    return show_green.lpi_history(config.history_interval_s, config.history_samples, stack_percent, rows)


def _one_physical(session: Session, match: Match[Any]) -> Port:
    port = _chosen(session, match)[0]
    if port.is_lag:
        raise Refused(f"{port.name} has no PHY of its own", reason="bad-value")
    return port


# -- addresses


def _addresses(session: Session, match: Match[Any]) -> list[str]:
    device = session.device
    rows = [FdbRow(1, device.spec.base_mac, None, static=True)]
    for entry in device.engine.fdb(device.switch):
        port = device.port_of_engine(entry["port"])
        if port is not None:
            rows.append(FdbRow(entry["vid"], entry["mac"], port, entry["static"]))
    one_port = match.get("port")
    if one_port is not None:
        rows = [r for r in rows if r.port is not None and r.port.number in one_port.numbers]
    if match.get("vid") is not None:
        rows = [r for r in rows if r.vid == match.get("vid")]
    if match.get("mac") is not None:
        rows = [r for r in rows if r.mac == match.get("mac")]
    return show_system.address_table(sorted(rows, key=lambda r: (r.vid, r.mac)))


def _locked(session: Session, match: Match[Any]) -> list[str]:
    return show_system.locked_addresses(_config(session), _chosen(session, match)[0].number)


def _filters(session: Session, _match: Match[Any]) -> list[str]:
    return show_system.static_filters(_config(session), session.device.ports)


# -- the system


def _running(session: Session, match: Match[Any]) -> list[str]:
    device = session.device
    chosen = match.get("ports")
    if chosen is not None:
        text = render_interface(_config(session), device.ports, chosen.numbers)
        return ["", "!Current Configuration:", "!", *text.splitlines()]
    header = show_system.config_header(model_named(device.spec.model), device.uptime_s)
    return ["", *header, *device.personality.render().splitlines()]


def _startup(session: Session, _match: Match[Any]) -> list[str]:
    return ["", *session.device.startup.splitlines()]


def _version(session: Session, _match: Match[Any]) -> list[str]:
    spec = session.device.spec
    now = time.strftime("%b %e %H:%M:%S %Y UTC(UTC+0:00)", time.gmtime())
    return show_system.version(model_named(spec.model), spec.base_mac, now)


def _hardware(session: Session, _match: Match[Any]) -> list[str]:
    spec = session.device.spec
    return show_system.hardware(model_named(spec.model), spec.base_mac)


def _sysinfo(session: Session, _match: Match[Any]) -> list[str]:
    device = session.device
    stored = _config(session).global_lines
    return show_system.sysinfo(model_named(device.spec.model), device.personality.hostname(), stored, device.uptime_s)


def _lldp(session: Session, _match: Match[Any]) -> list[str]:
    return show_system.neighbours(session.device.ports, session.device.neighbours)


def _port_channels(session: Session, _match: Match[Any]) -> list[str]:
    device = session.device
    return show_system.port_channels(
        _config(session), device.ports, lambda n: device.engine.port(device.engine_port[n])["oper_up"]
    )


def _spanning_tree(session: Session, _match: Match[Any]) -> list[str]:
    config = _config(session)
    return ["", dotted("Spanning Tree Adminmode", "Enabled" if config.spanning_tree else "Disabled")]


def _ageing(session: Session, _match: Match[Any]) -> list[str]:
    return ["", dotted("Address Aging Timeout", _config(session).ageing_s)]


# -- clear


def _clear_green(session: Session, match: Match[Any]) -> Reply:
    statistics(session).clear_lpi(p.number for p in _physical(_chosen(session, match)))
    return ""


def _clear_counters(session: Session, match: Match[Any]) -> Reply:
    statistics(session).clear_traffic(p.number for p in _chosen(session, match))
    return ""


def _clear_addresses(session: Session, match: Match[Any]) -> Reply:
    device = session.device
    port, vid = match.get("port"), match.get("vid")
    engine_port = None if port is None else device.engine_port[port.numbers[0]]
    device.engine.flush_fdb(device.switch, port=engine_port, vid=vid)
    return ""


_EXEC = frozenset({"exec"})
_SHOW = frozenset({"exec", "config", "if", "vlan", "line"})
_ALL = _SHOW | {"user"}


def _show(
    pattern: str, lines: Callable[[Session, Match[Any]], list[str]], help_: str, modes: frozenset[str] = _SHOW
) -> Command[Handler]:
    return Command(f"show {pattern} [<filter>]", Show(lines), modes, help_)


COMMANDS: tuple[Command[Handler], ...] = (
    _show("vlan", lambda s, _m: show_vlan.vlan_list(_config(s)), "Display VLAN information.", _ALL),
    _show("vlan brief", lambda s, _m: show_vlan.vlan_brief(_config(s)), "Display a list of all VLANs.", _ALL),
    _show("vlan <vid>", _vlan_one, "Display the members of a VLAN.", _ALL),
    _show("vlan port (<ports>|all)", _vlan_port, "Display VLAN port information.", _ALL),
    _show("(interfaces|interface) switchport [<port>]", _switchport, "Display switchport information."),
    _show("port (<ports>|all)", _port_all, "Display port mode and settings."),
    _show("port status (<ports>|all)", _port_status, "Display port status."),
    _show("port description <port>", _port_description, "Display port description."),
    _show("(interfaces|interface) status (<ports>|all)", _interfaces_status, "Display interface status."),
    _show("(interface|interfaces) <port>", _interface, "Display summary statistics for a port."),
    _show("(interface|interfaces) ethernet <port>", _interface_ethernet, "Display detailed statistics for a port."),
    _show("(interface|interfaces) counters", _interface_counters, "Display counters of all ports."),
    _show("green-mode [<port>]", _green_mode, "Display green mode configuration and status."),
    _show("green-mode eee-lpi-history interface <port>", _lpi_history, "Display EEE LPI history."),
    _show("(mac-addr-table|mac-address-table) [all]", _addresses, "Display forwarding database entries."),
    _show(
        "(mac-addr-table|mac-address-table) <mac> [<vid>]", _addresses, "Display an entry of the forwarding database."
    ),
    _show("(mac-addr-table|mac-address-table) interface <port>", _addresses, "Display the entries of an interface."),
    _show("(mac-addr-table|mac-address-table) vlan <vid>", _addresses, "Display the entries of a VLAN."),
    _show("mac-address-table static all", _filters, "Display static MAC filters."),
    _show("port-security static <port>", _locked, "Display statically locked addresses."),
    _show("running-config [all]", _running, "Display the running configuration."),
    _show("running-config interface <ports>", _running, "Display the configuration of an interface."),
    _show("startup-config", _startup, "Display the startup configuration."),
    _show("version", _version, "Display the switch version.", _ALL),
    _show("hardware", _hardware, "Display hardware and version information.", _ALL),
    _show("sysinfo", _sysinfo, "Display system information.", _ALL),
    _show("hosts", lambda s, _m: show_system.hosts(s.device.personality.hostname()), "Display the host name.", _ALL),
    _show("environment", lambda _s, _m: show_system.environment(CELSIUS), "Display temperature, fans and supplies."),
    _show("users", lambda s, _m: show_system.users(s.device.users().values()), "Display configured users."),
    _show("lldp remote-device all", _lldp, "Display LLDP remote data."),
    _show("port-channel brief", _port_channels, "Display port-channels."),
    _show("spanning-tree", _spanning_tree, "Display spanning tree settings."),
    _show("forwardingdb agetime", _ageing, "Display the address aging timeout."),
    Command("clear green-mode statistics (<ports>|all)", _clear_green, _EXEC, "Clear green mode statistics."),
    Command("clear counters (<ports>|all)", _clear_counters, _EXEC, "Clear the statistics of ports."),
    Command("clear counters", _clear_counters, _EXEC, "Clear the statistics of ports."),
    Command(
        "clear (mac-addr-table|mac-address-table) (all|interface <port>|vlan <vid>)",
        _clear_addresses,
        _EXEC,
        "Clear learned addresses.",
    ),
)
