"""What ports do, from the last rows of their counters."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from controller.live.state.view import PortView
from record.columns import column_of, middle_ns
from record.sample_tables import Batch

RECENT_NS: Final = 300_000_000_000
"""What is told of "lately": five minutes."""

_OLD_NS: Final = 5_000_000_000
_OLD_SPANS: Final = 3
_KEPT: Final = 60  # loads for a small picture
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
    loads: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
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
        """Rows of `ports` or `lpi`; others are passed over."""
        time_ns = middle_ns(batch)
        if batch.table not in {"ports", "lpi"} or time_ns is None:
            return
        names = [name for name in batch.columns if name not in {"tick", "due_ns", "sent_ns", "received_ns"}]
        columns = {name: column_of(batch, name) for name in names}
        for row in range(batch.row_count):
            told = {name: column[row] for name, column in columns.items()}
            port = self._ports.setdefault(f"{told['switch']}:{told['port']}", _Port())
            (_take_counters if batch.table == "ports" else _take_lpi)(port, told, time_ns)

    def view(self, end: str, now_ns: int) -> PortView | None:
        """A port as it is now; None if nothing is known of it."""
        port = self._ports.get(end)
        if port is None:
            return None
        counted = _holds(port.time_ns, port.span_ns, now_ns)
        napped = port.up is not False and _holds(port.lpi_ns, port.lpi_span_ns, now_ns)
        return PortView(
            up=port.up,
            rate_mbps=port.rate_mbps,
            in_bps=port.in_bps if counted else None,
            out_bps=port.out_bps if counted else None,
            receive_lpi_share=port.receive_lpi_share if napped else None,
            transmit_lpi_share=port.transmit_lpi_share if napped else None,
            down_ns=tuple(ns for ns in port.downs_ns if now_ns - ns < RECENT_NS),
            lost_frame=sum(count for ns, count in port.losses if now_ns - ns < RECENT_NS),
        )

    def recent_share(self, end: str) -> tuple[float, ...]:
        """Load of the busier direction at the last beats."""
        port = self._ports.get(end)
        return tuple(port.loads) if port is not None else ()


def _take_counters(port: _Port, told: Mapping[str, Any], time_ns: int) -> None:
    reset, span_s = told["mark"] == "reset", (time_ns - port.time_ns) / 1e9
    if port.up and told["up"] is False and told["mark"] != "stale":
        port.downs_ns.append(time_ns)
    lost = sum(told.get(name) or 0 for name in _LOST)
    if reset or not port.time_ns or span_s <= 0:
        port.in_bps = port.out_bps = None
    else:
        port.in_bps = _per_s(port.in_byte, told["in_byte"], span_s / 8)
        port.out_bps = _per_s(port.out_byte, told["out_byte"], span_s / 8)
        if port.lost is not None and lost > port.lost:
            port.losses.append((time_ns, lost - port.lost))
    port.span_ns = time_ns - port.time_ns
    port.up, port.rate_mbps, port.time_ns = told["up"], told["rate_mbps"] or 0, time_ns
    port.in_byte, port.out_byte, port.lost = told["in_byte"], told["out_byte"], lost
    fastest = max(port.in_bps or 0.0, port.out_bps or 0.0)
    port.loads.append(min(1.0, fastest / (port.rate_mbps * 1e6)) if port.rate_mbps else 0.0)


def _take_lpi(port: _Port, told: Mapping[str, Any], time_ns: int) -> None:
    span_us = (time_ns - port.lpi_ns) / 1e3
    if told["mark"] == "reset" or not port.lpi_ns or span_us <= 0:
        port.transmit_lpi_share = port.receive_lpi_share = None
    else:
        port.transmit_lpi_share = _share(port.transmit_lpi_us, told["tx_lpi_us"], span_us)
        port.receive_lpi_share = _share(port.receive_lpi_us, told["rx_lpi_us"], span_us)
    port.lpi_span_ns, port.lpi_ns = time_ns - port.lpi_ns, time_ns
    port.transmit_lpi_us, port.receive_lpi_us = told["tx_lpi_us"], told["rx_lpi_us"]


def _holds(time_ns: int, span_ns: int, now_ns: int) -> bool:
    """Whether what was told at a time, of the span before, still says something about now."""
    return now_ns - time_ns < max(_OLD_NS, _OLD_SPANS * span_ns)


def _per_s(before: int | None, now: int | None, span_s: float) -> float | None:
    return None if before is None or now is None or now < before else (now - before) / span_s


def _share(before: int | None, now: int | None, span_us: float) -> float | None:
    grown = _per_s(before, now, span_us)
    return None if grown is None else min(1.0, grown)
