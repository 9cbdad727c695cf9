"""Rates, states and losses of ports, from the last rows of their counters."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eee_testbed.measuring.live.state.view import PortView
from eee_testbed.record.columns import midpoint_ns, rows_of
from eee_testbed.record.counters import increase
from eee_testbed.record.sample_tables import Batch

RECENT_NS: Final = 300_000_000_000
"""Losses and link-downs of the last five minutes are shown."""

_OLD_NS: Final = 5_000_000_000
_OLD_SPANS: Final = 3
_KEPT_LOADS: Final = 60  # loads, for the small chart of a link
_LOST: Final = ("in_discard_frame", "in_error_frame", "out_discard_frame", "out_error_frame")


@dataclass(slots=True)
class _Port:
    up: bool | None = None
    rate_mbps: int = 0
    time_ns: int = 0
    span_ns: int = 0
    in_byte: int | None = None
    out_byte: int | None = None
    in_bps: float | None = None
    out_bps: float | None = None
    lost: int | None = None
    losses: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=100))
    downs_ns: deque[int] = field(default_factory=lambda: deque(maxlen=100))
    loads: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT_LOADS))
    lpi_ns: int = 0
    lpi_span_ns: int = 0
    transmit_lpi_us: int | None = None
    receive_lpi_us: int | None = None
    transmit_lpi_share: float | None = None
    receive_lpi_share: float | None = None


class PortHistory:
    """Ports by end ("sw1:gi1/0/1")."""

    def __init__(self) -> None:
        self._ports: dict[str, _Port] = {}

    def take(self, batch: Batch) -> None:
        """Rows of `ports` or `lpi`; others are ignored."""
        time_ns = midpoint_ns(batch)
        if batch.table not in {"ports", "lpi"} or time_ns is None:
            return
        for row in rows_of(batch, list(batch.columns)):
            port = self._ports.setdefault(f"{row['switch']}:{row['port']}", _Port())
            (_take_counters if batch.table == "ports" else _take_lpi)(port, row, time_ns)

    def view(self, end: str, now_ns: int) -> PortView | None:
        """A port as it is now; None if it has no rows."""
        port = self._ports.get(end)
        if port is None:
            return None
        counters_hold = _holds(port.time_ns, port.span_ns, now_ns)
        lpi_holds = port.up is not False and _holds(port.lpi_ns, port.lpi_span_ns, now_ns)
        return PortView(
            up=port.up,
            rate_mbps=port.rate_mbps,
            in_bps=port.in_bps if counters_hold else None,
            out_bps=port.out_bps if counters_hold else None,
            receive_lpi_share=port.receive_lpi_share if lpi_holds else None,
            transmit_lpi_share=port.transmit_lpi_share if lpi_holds else None,
            down_ns=tuple(ns for ns in port.downs_ns if now_ns - ns < RECENT_NS),
            lost_frame=sum(count for ns, count in port.losses if now_ns - ns < RECENT_NS),
        )

    def recent_share(self, end: str) -> tuple[float, ...]:
        """Load of the busier direction at the last samples."""
        port = self._ports.get(end)
        return tuple(port.loads) if port is not None else ()


def _take_counters(port: _Port, row: Mapping[str, Any], time_ns: int) -> None:
    reset, span_s = row["mark"] == "reset", (time_ns - port.time_ns) / 1e9
    if port.up and row["up"] is False and row["mark"] != "stale":
        port.downs_ns.append(time_ns)
    lost = sum(row.get(name) or 0 for name in _LOST)
    if reset or not port.time_ns or span_s <= 0:
        port.in_bps = port.out_bps = None
    else:
        port.in_bps = _rate(port.in_byte, row["in_byte"], span_s / 8)
        port.out_bps = _rate(port.out_byte, row["out_byte"], span_s / 8)
        if more := increase(port.lost, lost):
            port.losses.append((time_ns, more))
    port.span_ns = time_ns - port.time_ns
    port.up, port.rate_mbps, port.time_ns = row["up"], row["rate_mbps"] or 0, time_ns
    port.in_byte, port.out_byte, port.lost = row["in_byte"], row["out_byte"], lost
    fastest = max(port.in_bps or 0.0, port.out_bps or 0.0)
    port.loads.append(min(1.0, fastest / (port.rate_mbps * 1e6)) if port.rate_mbps else 0.0)


def _take_lpi(port: _Port, row: Mapping[str, Any], time_ns: int) -> None:
    span_us = (time_ns - port.lpi_ns) / 1e3
    if row["mark"] == "reset" or not port.lpi_ns or span_us <= 0:
        port.transmit_lpi_share = port.receive_lpi_share = None
    else:
        port.transmit_lpi_share = _share(port.transmit_lpi_us, row["tx_lpi_us"], span_us)
        port.receive_lpi_share = _share(port.receive_lpi_us, row["rx_lpi_us"], span_us)
    port.lpi_span_ns, port.lpi_ns = time_ns - port.lpi_ns, time_ns
    port.transmit_lpi_us, port.receive_lpi_us = row["tx_lpi_us"], row["rx_lpi_us"]


def _holds(time_ns: int, span_ns: int, now_ns: int) -> bool:
    """Whether a difference at `time_ns` over `span_ns` before it is recent enough to be shown."""
    return now_ns - time_ns < max(_OLD_NS, _OLD_SPANS * span_ns)


def _rate(before: int | None, now: int | None, span: float) -> float | None:
    counted = increase(before, now)
    return None if counted is None else counted / span


def _share(before: int | None, now: int | None, span_us: float) -> float | None:
    share = _rate(before, now, span_us)
    return None if share is None else min(1.0, share)
