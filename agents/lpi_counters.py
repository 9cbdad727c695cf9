"""Names that drivers give their counters of Low Power Idle, and what each counts.

Sources: the ethtool code of igc, bnxt_en, stmmac, lan78xx and lan743x; bnx2x from memory [M]. Units of durations
are not documented by any of them: a duration is passed on as it is; its unit follows only from a calibration
against a known idle time. Other drivers (igb, tg3, r8169, mvneta) have no such counters.
"""

from __future__ import annotations

from dataclasses import dataclass

EVENTS, ENDS, DURATION, ERRORS = "events", "ends", "duration", "wake_errors"


@dataclass(frozen=True)
class LpiCounter:
    """What a driver's counter counts: times that LPI began or ended, its duration in a unit of the driver's own."""

    direction: str
    """transmit, receive, or both."""

    counts: str


_TABLE: dict[str, dict[str, LpiCounter]] = {
    "igc": {
        "tx_lpi_counter": LpiCounter("transmit", EVENTS),
        "rx_lpi_counter": LpiCounter("receive", EVENTS),
    },
    "bnxt_en": {
        "tx_eee_lpi_events": LpiCounter("transmit", EVENTS),
        "tx_eee_lpi_duration": LpiCounter("transmit", DURATION),
        "rx_eee_lpi_events": LpiCounter("receive", EVENTS),
        "rx_eee_lpi_duration": LpiCounter("receive", DURATION),
    },
    "stmmac": {
        "irq_tx_path_in_lpi_mode_n": LpiCounter("transmit", EVENTS),
        "irq_tx_path_exit_lpi_mode_n": LpiCounter("transmit", ENDS),
        "irq_rx_path_in_lpi_mode_n": LpiCounter("receive", EVENTS),
        "irq_rx_path_exit_lpi_mode_n": LpiCounter("receive", ENDS),
        "phy_eee_wakeup_error_n": LpiCounter("both", ERRORS),
    },
    "lan78xx": {
        "EEE Tx LPI Transitions": LpiCounter("transmit", EVENTS),
        "EEE Tx LPI Time": LpiCounter("transmit", DURATION),
        "EEE Rx LPI Transitions": LpiCounter("receive", EVENTS),
        "EEE Rx LPI Time": LpiCounter("receive", DURATION),
    },
    "bnx2x": {"eee_tx_lpi": LpiCounter("transmit", EVENTS)},  # [M]
}
_SAME_AS = {"bnge": "bnxt_en", "lan743x": "lan78xx", "st_gmac": "stmmac", "dwmac": "stmmac"}


def lpi_counters(driver: str, names: list[str]) -> dict[int, tuple[str, LpiCounter]]:
    """Place among a driver's counters: (its name, what it counts), for those that count LPI.

    A driver that is not in the table may still count: names with "lpi" in them are passed on as of unknown meaning.
    """
    known = _TABLE.get(driver) or _TABLE.get(_SAME_AS.get(driver, ""), {})
    found = {}
    for place, name in enumerate(names):
        if name in known:
            found[place] = (name, known[name])
        elif "lpi" in name.lower():
            found[place] = (name, LpiCounter("unknown", "unknown"))
    return found
