"""A toy lab of two switches and two hosts, and the samples of its sources and the events of its experiment."""

from typing import Any

from eee_testbed.lab.model import End, Host, Lab, Link, Outlet, Port, Strip, Switch
from eee_testbed.record.sample_tables import PORTS, Batch

SECOND = 1_000_000_000
T0 = 1_750_000_000 * SECOND
_COUNTERS = [name for name in PORTS.names if name.endswith(("_byte", "_frame"))]


def _switch(name: str) -> Switch:
    ports = tuple(Port(name, f"p{n}", n, 1000) for n in (1, 2, 3))
    return Switch(name, "netgear_m4300", "toy", "127.0.0.1", 22, 161, "", "", "", ports)


def _host(name: str) -> Host:
    return Host(name, "lab", "127.0.0.1", 22, "198.18.0.1", b"\2\0\0\0\0\1", "eth0", 1000, 1500)


def _link(number: int, a: str, b: str) -> Link:
    ends = [End(*text.split(":")) for text in (a, b)]
    return Link(number, ends[0], ends[1], 1000, "copper", switchable=True)


LAB = Lab(
    "toy",
    "",
    "198.18.0.0/24",
    "198.18.1.0/24",
    (_switch("sw1"), _switch("sw2")),
    (_host("n01"), _host("n02")),
    (
        _link(1, "sw1:p1", "n01:eth0"),
        _link(2, "sw2:p1", "n02:eth0"),
        _link(3, "sw1:p2", "sw2:p2"),
        _link(4, "sw1:p3", "sw2:p3"),
    ),
    (Strip("pdu1", "gude", "toy", "127.0.0.1", 161, "", 3),),
    (Outlet("pdu1", 1, "sw1"), Outlet("pdu1", 2, "n01")),
)


def times(second: float) -> dict[str, Any]:
    at_ns = T0 + round(second * SECOND)
    return {"tick": int(second), "due_ns": at_ns, "sent_ns": at_ns, "received_ns": at_ns + 1_000}


def ports(
    switch: str, second: float, out_byte: list[int], up: list[bool] | None = None, *, mark: str = "", lost: int = 0
) -> Batch:
    """Ports p1, p2, p3; they receive nothing."""
    counts: dict[str, Any] = {name: [0, 0, 0] for name in _COUNTERS}
    counts |= {"out_byte": out_byte, "out_discard_frame": [lost, 0, 0]}
    own = {"port": ["p1", "p2", "p3"], "up": up or [True, True, False], "rate_mbps": [1000, 1000, 0]}
    return Batch("ports", 3, {"switch": switch, **times(second), **own, **counts, "mark": [mark] * 3})


def watts(second: float, sw1: float, n01: float, mark: str = "") -> Batch:
    own = {"outlet": [0, 1, 2], "feeds": ["", "sw1", "n01"], "on": [None, True, True], "mark": ["", mark, ""]}
    shown = {"power_watt": [sw1 + n01, sw1, n01], "energy_joule": [None] * 3}
    steps = {"power_step_watt": 0.1, "energy_step_joule": None, "unchanged_s": 0.0}
    return Batch("watts", 3, {"strip": "pdu1", **times(second), **own, **shown, **steps})


def lpi(second: float, tx_us: int, rx_us: int) -> Batch:
    counts = {"tx_lpi_event": [5], "tx_lpi_us": [tx_us], "rx_lpi_event": [6], "rx_lpi_us": [rx_us]}
    return Batch("lpi", 1, {"switch": "sw1", **times(second), "port": ["p2"], **counts, "mark": [""]})


def poll(source: str, kind: str, second: float, outcome: str = "ok", mark: str = "", why: str = "") -> Batch:
    known = {**times(second), **({"sent_ns": None, "received_ns": None} if outcome == "missed" else {})}
    result = {"source": source, "kind": kind, "outcome": outcome, "mark": mark, "uptime_ms": None, "why": why}
    return Batch("polls", 1, {**result, **known})


def event(second: float, kind: str, **facts: Any) -> dict[str, Any]:
    return {"time_ns": T0 + round(second * SECOND), "kind": kind, **facts}


def begun(second: float, trial: int, slot: int | None = None, **levels: Any) -> dict[str, Any]:
    own = {"trial": trial, "slot": trial if slot is None else slot, "block": 1, "repetition": 0}
    return event(second, "trial_begun", **own, levels=levels, what="program", program="alltoall")


def ended(second: float, trial: int, state: str = "valid", why: str = "", took_s: float = 4.0) -> dict[str, Any]:
    end_ns = T0 + round(second * SECOND)
    figures = [{"name": "time", "value": 1.25, "unit": "s"}, {"name": "messages", "value": 40.0, "unit": "1"}]
    own = {"trial": trial, "state": state, "why": why, "figures": figures if state == "valid" else []}
    return event(second, "trial_ended", **own, begun_ns=end_ns - round(took_s * SECOND), ended_ns=end_ns)


def loop_epoch(second: float, epoch: int, **facts: Any) -> dict[str, Any]:
    """An epoch of a closed loop in which one of the two trunks is off."""
    links = {"shadow": [], "off": ["sw1:p3--sw2:p3"], "waking": [], "down": []}
    own = {"epoch": epoch, "active": 1, "links": links, "busiest_share": 0.25, "slowdown": 0.031, "backs_off": False}
    return event(second, "loop_epoch", **{**own, "undecided": "", **facts})


def loop_decided(second: float, after: str, why: str) -> dict[str, Any]:
    """What the loop does with that trunk."""
    return event(second, "loop_decided", epoch=1, link="sw1:p3--sw2:p3", before="active", after=after, why=why)


FACTS = {
    "name": "alltoall-eee",
    "state": "running",
    "begun": "2025-06-15T15:06:40.000000",
    "experiment": {"name": "x"},
    "slot_count": 6,
}
