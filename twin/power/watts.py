"""The power model: the energy of ports, processors and supplies between two moments. Pure functions.

Energy is integrated over time in state, so no state change is missed between two samples. Its form follows
Andujar 2023 (Eq. 1-5: switch logic fixed, ports by the fraction of time they are awake, nodes by CPU use), extended
by speed, by the draw of a shut port, by wakes and traffic (the terms of the ETH NetPowerBench model) and by a supply.

Simplifications, and the measurement that could show each:

* Each direction's LPI saves its own share of a port's power. A 1000BASE-T PHY goes quiet only when both directions are
  in LPI; strictly one-way traffic would show it.
* LPI time is spread over speeds as up time is, in an interval in which the link changed its speed.
* Down time in an interval counts by the administrative state at the interval's end, which can be wrong for one sample
  after a shutdown.
* The supply converts an interval's mean load; its curve is nearly straight over one interval's swing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_testbed.twin.truth.truth import NodePowerTruth, PortPowerTruth, SupplyTruth, SwitchPowerTruth

if TYPE_CHECKING:
    from eee_engine import TimeInState

_S_PER_PS = 1e-12


@dataclass(frozen=True, slots=True)
class PortLedger:
    """Counts of a port up to one moment.

    `receive` is the transmit ledger of the cable's other end (None: no cable; then its own is used). Counts may restart
    at zero.
    """

    transmit: "TimeInState"
    receive: "TimeInState | None"
    admin_up: bool
    sent_byte: int = 0
    sent_count: int = 0


def _direction_joule(before: "TimeInState", after: "TimeInState", share_watt: float, truth: PortPowerTruth) -> float:
    """Energy of one direction of a link while up, when `share_watt` is its power outside LPI."""
    awake_ps = after["active_ps"] - before["active_ps"]
    weighted_ps = (
        (after["sleep_ps"] - before["sleep_ps"]) * truth.sleep_fraction
        + (after["quiet_ps"] - before["quiet_ps"]) * truth.deep_fraction
        + (after["refresh_ps"] - before["refresh_ps"]) * truth.refresh_fraction
        + (after["wake_ps"] - before["wake_ps"]) * truth.wake_fraction
        + (after["fast_ps"] - before["fast_ps"]) * truth.fast_fraction
    )
    return share_watt * (awake_ps + weighted_ps) * _S_PER_PS


def _mean_up_watt(before: Mapping[int, int], after: Mapping[int, int], truth: PortPowerTruth) -> float:
    """Mean awake power over the link-up time between two states of `up_by_mbps`; 0 when it was never up."""
    total_ps, weighted = 0, 0.0
    for speed_mbps, up_ps in after.items():
        grown_ps = up_ps - before.get(speed_mbps, 0)
        if grown_ps > 0:
            total_ps += grown_ps
            weighted += grown_ps * truth.up_at_watt(speed_mbps)
    return weighted / total_ps if total_ps else 0.0


def _grown(before: int, after: int) -> int:
    """Growth of a counter that may have restarted at zero."""
    return after - before if after >= before else after


def port_joule(before: PortLedger, after: PortLedger, truth: PortPowerTruth) -> float:
    """Energy of one powered port between two ledgers, on the supply's output side."""
    down_ps = after.transmit["down_ps"] - before.transmit["down_ps"]
    joule = down_ps * _S_PER_PS * (truth.unlinked_watt if after.admin_up else truth.shutdown_watt)
    if after.transmit["total_ps"] - before.transmit["total_ps"] <= down_ps:
        return joule
    up_watt = _mean_up_watt(before.transmit["up_by_mbps"], after.transmit["up_by_mbps"], truth)
    share = truth.transmit_fraction
    joule += _direction_joule(before.transmit, after.transmit, up_watt * share, truth)
    far_before, far_after = before.receive or before.transmit, after.receive or after.transmit
    joule += _direction_joule(far_before, far_after, up_watt * (1.0 - share), truth)
    joule += (after.transmit["wakes"] - before.transmit["wakes"]) * truth.wake_joule
    joule += _grown(before.sent_byte, after.sent_byte) * 8 * truth.bit_joule
    return joule + _grown(before.sent_count, after.sent_count) * truth.frame_joule


def switch_base_joule(truth: SwitchPowerTruth, duration_s: float, *, booting: bool) -> float:
    """Energy of a switch without its ports."""
    return (truth.base_watt + (truth.boot_watt if booting else 0.0)) * duration_s


def node_base_joule(truth: NodePowerTruth, duration_s: float, cpu_s: float) -> float:
    """Energy of a node without its data NIC that used `cpu_s` seconds of CPU time in `duration_s`."""
    if duration_s <= 0.0:
        return 0.0
    busy = min(1.0, max(0.0, cpu_s / (duration_s * truth.full_cpu_count)))
    return (truth.idle_watt + (truth.full_watt - truth.idle_watt) * busy) * duration_s


def efficiency(supply: SupplyTruth, load: float) -> float:
    """Efficiency at a load in capacities, linear between the curve's points and flat outside."""
    low_load, low = supply.efficiency[0]
    if load <= low_load:
        return low
    for high_load, high in supply.efficiency[1:]:
        if load <= high_load:
            return low + (high - low) * (load - low_load) / (high_load - low_load)
        low_load, low = high_load, high
    return low


def ac_watt(dc_watt: float, supply: SupplyTruth) -> float:
    """What an outlet delivers for a load on the supply's output side."""
    return dc_watt / efficiency(supply, dc_watt / supply.capacity_watt)
