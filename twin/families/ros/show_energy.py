"""`show eee` and `show green-ethernet` of ROS.

The words of `show eee` follow the administration and command-line guides of the sibling Cisco 350 series, one line of
which ("EEE Administrate status is enabled on ports:") is known from a recording; the rest, and `show green-ethernet`,
are [M]. The timers are this switch's own Tw (60 us on a 5548: Miwa 2013, section 5.1), else the
standard's; the partner's are assumed to be the same, which a capture of the LLDP EEE TLV could disprove.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from eee_testbed.twin.families.ros.columns import ranges
from eee_testbed.twin.families.ros.show_interfaces import chosen_ports, config_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Session
    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.personality import Port

_WAKE_US = {100: 30, 1000: 17, 10_000: 8}  # Tw_sys_tx rounded up to whole microseconds (802.3 Table 78-2)
_SPEEDS = (("10M", 10), ("100M", 100), ("1G", 1000), ("10G", 10_000))


def _names(device: SwitchDevice, is_shown: Callable[[Port], bool]) -> str:
    return ranges([p.name for p in device.ports if not p.is_lag and is_shown(p)]) or "none"


def _lldp_works(device: SwitchDevice, port: Port) -> bool:
    setting = config_of(device).ports[port.number]
    if not (setting.eee_lldp and setting.lldp_transmit and setting.lldp_receive and config_of(device).lldp):
        return False
    return any(seen.eee for seen in device.neighbours(port.number))


def eee(session: Session, match: Match[Any]) -> str:
    """`show eee [PORT]`."""
    ports = match.get("port")
    if ports is not None:
        return _eee_port(session.device, session.device.port(ports[0]))
    device = session.device
    config = config_of(device)
    return (
        f"EEE globally {'enabled' if config.eee else 'disabled'}\n"
        f"EEE Administrate status is enabled on ports: {_names(device, lambda p: config.ports[p.number].eee)}\n"
        "EEE Operational status is enabled on ports: "
        f"{_names(device, lambda p: device.engine.port(p.engine_port)['eee_active'])}\n"
        f"EEE LLDP Administrate status is enabled on ports: "
        f"{_names(device, lambda p: config.ports[p.number].eee_lldp)}\n"
        f"EEE LLDP Operational status is enabled on ports: {_names(device, lambda p: _lldp_works(device, p))}\n"
    )


def _eee_port(device: SwitchDevice, port: Port) -> str:
    now = device.engine.port(port.engine_port)
    setting = config_of(device).ports[port.number]
    lldp = _lldp_works(device, port)
    text = f"Port Status: {'UP' if now['oper_up'] else 'Down'}\nEEE capabilities:\n"
    for label, mbps in _SPEEDS:
        can = 100 <= mbps <= port.speed_mbps and (port.speed_mbps < 10_000 or mbps >= 1000)
        text += f" Speed {label}: EEE {'supported' if can and now['eee_supported'] else 'not supported'}\n"
    if now["oper_up"]:
        text += f"Current port speed: {now['speed_mbps']}Mbps\n"
        text += f"EEE Remote status: {'enabled' if now['eee_active'] else 'disabled'}\n"
    text += f"EEE Administrate status: {_on(setting.eee)}\n"
    text += f"EEE Operational status: {_on(now['eee_active'])}\n"
    text += f"EEE LLDP Administrate status: {_on(setting.eee_lldp)}\n"
    text += f"EEE LLDP Operational status: {_on(lldp)}\n"
    if now["eee_active"]:
        own_us = device.spec.lpi_wake_us
        wake_us = _WAKE_US.get(now["speed_mbps"], 0) if own_us is None else math.ceil(own_us)
        text += (
            f"Resolved Tx Timer: {wake_us}usec\nLocal Tx Timer: {wake_us} usec\n"
            f"Resolved Rx Timer: {wake_us}usec\nLocal Rx Timer: {wake_us} usec\n"
        )
    return text


def _on(enabled: object) -> str:
    return "enabled" if enabled else "disabled"


def green_ethernet(session: Session, match: Match[Any]) -> str:
    """`show green-ethernet [PORT]` [M]; it shows the twin's true power, a real switch an estimate."""
    device = session.device
    config = config_of(device)
    text = (
        f"Energy-Detect mode: {_on(config.energy_detect).capitalize()}\n"
        f"Short-Reach mode: {_on(config.short_reach).capitalize()}\n"
    )
    if device.power_watt is not None:
        text += f"Power Consumption: {device.power_watt():.2f}W\n"
    text += (
        "Short-Reach cable length threshold: 50m\n\n"
        "Port      Energy-Detect           Short-Reach            VCT Cable\n"
        "        Admin  Oper  Reason      Admin  Force Oper Reason  Length\n"
        "------- -----  ----  ------      -----  ----- ---- ------  ------\n"
    )
    for port in (p for p in chosen_ports(session, match) if not p.is_lag):
        setting = config.ports[port.number]
        up = device.engine.port(port.engine_port)["oper_up"]
        detect = setting.energy_detect and config.energy_detect
        detect_on, detect_why = ("on", "") if detect and not up else ("off", "LU" if up else "NP")
        reach_on = "on" if setting.short_reach and config.short_reach and up else "off"
        reach_why = "" if reach_on == "on" else "LD" if not up else "NP"
        text += (
            f"{port.name:<7} {'on' if setting.energy_detect else 'off':^5}  {detect_on:^4}  {detect_why:^6}      "
            f"{'on' if setting.short_reach else 'off':^5}  {'off':^5} {reach_on:^4} {reach_why:^6}  < 50\n"
        )
    return text
