"""``show green-mode …`` (CLI manual 202-11997, "Green Ethernet Commands", which has lost its blanks: indents are [M]).

Durations are printed in microseconds, as in the manual's sample output, in steps of 10 µs, as in its table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_testbed.twin.families.fastpath.layout import Column, dotted, span, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eee_testbed.twin.families.fastpath.config import PortConfig
    from eee_testbed.twin.switch.personality import Port

WIDTH_CHARACTERS = 44
DURATION_STEP_US = 10
SAVING_WATT = {100: 0.2, 1000: 0.4, 10_000: 2.0}
"""Saving that the firmware assumes for a port always in LPI, by speed [M]; meters would measure another."""
_PORT_WATT = {0: 0.1, 10: 0.3, 100: 0.4, 1000: 0.6, 2500: 1.5, 5000: 2.0, 10_000: 3.0}


@dataclass(frozen=True, slots=True)
class GreenView:
    """EEE of one port. Events and microseconds since the last clear; Tw in µs, None without a link partner."""

    port: Port
    config: PortConfig
    oper_up: bool
    speed_mbps: int
    rx_events: int
    rx_us: int
    tx_events: int
    tx_us: int
    wake_us: int
    partner_wake_us: int | None
    cleared_s: float

    @property
    def energy_detect_active(self) -> bool:
        """Whether energy-detect mode is on and the port has no link."""
        return self.config.energy_detect and not self.oper_up

    @property
    def saved_watt_hour(self) -> float:
        """The firmware's estimate from both directions' LPI time at the present speed."""
        watt = SAVING_WATT.get(self.speed_mbps, 0.0)
        return watt * (self.rx_us + self.tx_us) / 2 / 3.6e9


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One sample of a port: number, its age in seconds, LPI percentages since the last sample and since the reset."""

    number: int
    ago_s: float
    sample_percent: int
    reset_percent: int


_GREEN = (
    Column(("Interface", ""), 9),
    Column(("Energy-Detect", "Config"), 9),
    Column(("", "Opr"), 9),
    Column(("EEE", "Config"), 8),
)
_HISTORY = (
    Column(("", "", "Sample", "No."), 6),
    Column(("", "Time Since", "The Sample", "Was Recorded"), 20),
    Column(("Percentage of", "Time spent in", "LPI mode since", "last sample"), 14),
    Column(("Percentage of", "Time spent in", "LPI mode since", "last reset"), 14),
)


def green_summary(views: Sequence[GreenView]) -> list[str]:
    """``show green-mode``. Milliwatts and percentages are the firmware's estimate from states, not a measurement."""
    rows = [
        (
            v.port.name,
            "Enabled" if v.config.energy_detect else "Disabled",
            "Active" if v.energy_detect_active else "Inactive",
            "Enabled" if v.config.eee else "Disabled",
        )
        for v in views
    ]
    watt = saved = 0.0
    for v in views:
        up_watt = _PORT_WATT.get(v.speed_mbps if v.oper_up else 0, 0.6)
        share = (v.rx_us + v.tx_us) / 2e6 / v.cleared_s if v.cleared_s > 0 else 0.0
        watt += up_watt
        saved += min(up_watt, SAVING_WATT.get(v.speed_mbps, 0.0) * share) if v.oper_up else 0.0
    return [
        "",
        dotted("Current Power Consumption /Stack (mW)", round(1000 * (watt - saved))),
        dotted("Percentage Power Saving /Stack (%)", round(100 * saved / watt) if watt else 0),
        dotted("Cumulative Energy Saving /Stack (W * H)", round(sum(v.saved_watt_hour for v in views))),
        "",
        "Unit Green Ethernet Features Supported",
        "---- ---------------------------------",
        "1    Energy-Detect EEE LPI-History LLDP-Cap-Exchg Pwr-Usg-Est",
        "",
        *table(_GREEN, rows),
    ]


def green_port(view: GreenView) -> list[str]:
    """``show green-mode 1/0/1``.

    Tw fields hold the local and, with a partner up, the remote values; the twin's ports announce Tw by LLDP and
    resolve it without, so echoes equal their originals and the DLL is not ready.
    """
    if not view.config.energy_detect:
        reason = "Admin Mode Disabled"
    else:
        reason = "No Energy Detected" if view.energy_detect_active else "Link is up"
    local, remote = view.wake_us, view.partner_wake_us if view.partner_wake_us is not None else 0
    fields: list[tuple[str, object, int]] = [
        ("Energy Detect Admin Mode", "Enabled" if view.config.energy_detect else "Disabled", 0),
        ("Operational Status", "Active" if view.energy_detect_active else "Inactive", 3),
        ("Reason", reason, 3),
        ("EEE Admin Mode", "Enabled" if view.config.eee else "Disabled", 0),
        ("Transmit Idle Time", view.config.tx_idle_us or 0, 3),
        ("Transmit Wake Time", view.config.tx_wake_us or 0, 3),
        ("Rx Low Power Idle Event Count", view.rx_events, 3),
        ("Rx Low Power Idle Duration (uSec)", _stepped(view.rx_us), 3),
        ("Tx Low Power Idle Event Count", view.tx_events, 3),
        ("Tx Low Power Idle Duration (uSec)", _stepped(view.tx_us), 3),
        ("Tw_sys_tx (usec)", local, 3),
        ("Tw_sys_tx Echo(usec)", local, 3),
        ("Tw_sys_rx (usec)", local, 3),
        ("Tw_sys_rx Echo(usec)", local, 3),
        ("Fallback Tw_sys (usec)", local, 3),
        ("Remote Tw_sys_tx (usec)", remote, 3),
        ("Remote Tw_sys_tx Echo(usec)", remote, 3),
        ("Remote Tw_sys_rx (usec)", remote, 3),
        ("Remote Tw_sys_rx Echo(usec)", remote, 3),
        ("Remote fallback Tw_sys (usec)", remote, 3),
        ("Tx DLL enabled", "Yes" if view.config.eee else "No", 3),
        ("Tx DLL ready", "No", 3),
        ("Rx DLL enabled", "Yes" if view.config.eee else "No", 3),
        ("Rx DLL ready", "No", 3),
        ("Cumulative Energy Saving (W * H)", round(view.saved_watt_hour), 3),
        ("Time Since Counters Last Cleared", span(view.cleared_s), 3),
    ]
    return ["", *(dotted(label, value, width=WIDTH_CHARACTERS, indent=indent) for label, value, indent in fields)]


def lpi_history(interval_s: int, kept: int, stack_percent: int, rows: Iterable[HistoryRow]) -> list[str]:
    """``show green-mode eee-lpi-history interface``: newest sample first."""
    return [
        "",
        dotted("Sampling Interval (sec)", interval_s),
        dotted("Total No. of Samples to Keep", kept),
        dotted("Percentage LPI time per Stack", stack_percent),
        "",
        *table(_HISTORY, [(r.number, _ago(r.ago_s), r.sample_percent, r.reset_percent) for r in rows]),
    ]


def _stepped(us: int) -> int:
    return us - us % DURATION_STEP_US


def _ago(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 86400}d:{whole // 3600 % 24:02}:{whole // 60 % 60:02}:{whole % 60:02}"
