"""What `eeectl lab truth` prints: a summary; each device and port, and how late frames were, on request."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from eee_testbed.eeectl.lab_text import lateness_text

_BAR: Final = 40
_PLAIN = {"box": None, "padding": (0, 2, 0, 0), "pad_edge": False, "header_style": "bold"}


def print_truth(truth: Mapping[str, Any], width: int, *, histogram: bool, every: bool) -> None:
    """Print a lab's truth, `width` characters wide.

    `every`: each device and port, not what they have in common. `histogram`: also how many frames were how late.
    """
    out = Console(highlight=False, width=width)
    out.print(f"lab {truth['lab']}: true values after {truth['now_ps'] / 1e12:.0f} s", markup=False)
    out.print("\ntiming of EEE and of a boot, by devices that are alike", style="dim")
    out.print(_timing(truth["timing"]))
    out.print("\ntrue power", style="dim")
    out.print(_devices(truth["power"]["devices"]) if every else _power(truth["power"]["devices"]))
    out.print("\nports that are up", style="dim")
    out.print(_ports(truth["ports"]) if every else _port_summary(truth["ports"]), markup=False)
    out.print("\nframes", style="dim")
    lateness, frames = truth["engine"]["lateness"], truth["engine"]["frames"]
    out.print(", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in frames.items()))
    out.print(lateness_text(lateness))
    if histogram and lateness["count"]:
        out.print(_histogram(lateness))
    hidden = [
        option for shown, option in ((every, "--all: each device and port"), (histogram, "--histogram")) if not shown
    ]
    if hidden:
        out.print(f"({'; '.join(hidden)})", style="dim", markup=False)


def _table(*headings: str) -> Table:
    table = Table(**_PLAIN)  # type: ignore[arg-type]
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 else "right")
    return table


def _timing(timing: Mapping[str, Any]) -> Table:
    table = _table("DEVICES", "LATENCY us", "LPI", "HOLD us", "Ts us", "Tw us", "BOOT s")
    rows = [(name, _timing_row(device)) for name, device in timing.items()]
    for row, alike in groupby(rows, key=lambda pair: pair[1]):
        table.add_row(_span([name for name, _ in alike]), *row)
    return table


def _timing_row(timing: Mapping[str, Any]) -> tuple[str, ...]:
    lpi = timing["lpi"]
    sleep, wake = (f"{lpi[key]:g}" if lpi[key] is not None else "PHY's" for key in ("sleep_us", "wake_us"))
    latency = f"{timing['latency_us']:g}" if "latency_us" in timing else "-"
    if not timing.get("eee_capable", True):
        return latency, "no EEE", "-", "-", "-", f"{timing['boot_s']:g}"
    return latency, lpi["mode"], f"{lpi['hold_us']:g}", sleep, wake, f"{timing['boot_s']:g}"


def _span(names: Sequence[str]) -> str:
    """Names of neighbours in the inventory."""
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]} ({len(names)})"


def _power(devices: Mapping[str, Any]) -> Table:
    """Sums by kind of device."""
    table = _table("DEVICES", "AC W", "EACH W", "BASE W", "PORTS W", "WANDER W", "ENERGY J")
    for kind in dict.fromkeys(device["kind"] for device in devices.values()):
        ones = [device for device in devices.values() if device["kind"] == kind]
        ac = [device["ac_watt"] for device in ones]
        sums = [sum(device[key] for device in ones) for key in ("base_watt", "port_watt", "wander_watt")]
        table.add_row(
            f"{len(ones)} of kind {kind}",
            f"{sum(ac):.1f}",
            f"{min(ac):.1f} to {max(ac):.1f}",
            *(f"{watt:.1f}" for watt in sums),
            f"{sum(device['energy_joule'] for device in ones):.0f}",
        )
    return table


def _devices(devices: Mapping[str, Any]) -> Table:
    table = _table("DEVICE", "AC W", "BASE W", "PORTS W", "WANDER W", "ENERGY J", "OUTLETS")
    for name, power in devices.items():
        watts = (power["ac_watt"], power["base_watt"], power["port_watt"], power["wander_watt"])
        outlets = ", ".join(power["outlets"])
        table.add_row(name, *(f"{watt:.2f}" for watt in watts), f"{power['energy_joule']:.0f}", outlets)
    return table


def _up(ports: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    return ((name, port) for name, port in ports.items() if port["oper_up"])


def _port_summary(ports: Mapping[str, Any]) -> str:
    up = [port for _, port in _up(ports)]
    if not up:
        return f"none of {len(ports)}"
    with_eee = [port for port in up if port["eee_active"]]
    speeds = Counter(port["speed_mbps"] for port in up)
    by_speed = ", ".join(f"{count} at {speed} Mb/s" for speed, count in sorted(speeds.items()))
    lines = [f"{len(up)} of {len(ports)}: {by_speed}; EEE in force on {len(with_eee)}"]
    if with_eee:
        now = Counter(port["lpi_now"] for port in with_eee)
        states = ", ".join(f"{count} {state}" for state, count in now.most_common())
        asleep = [100 * share for port in with_eee if (share := _asleep(port["time_in_state"])) is not None]
        if asleep:
            states += (
                f"; asleep {min(asleep):.1f} to {max(asleep):.1f} % of their time up, median {median(asleep):.1f} %"
            )
        lines.append(f"with EEE, now: {states}")
    return "\n".join(lines)


def _asleep(spent: Mapping[str, int]) -> float | None:
    """Share of the time up in which a transmitter sent no data and no idle symbols; None without such time."""
    up_ps = spent["total_ps"] - spent["down_ps"]
    return (spent["quiet_ps"] + spent["refresh_ps"] + spent["fast_ps"]) / up_ps if up_ps else None


def _ports(ports: Mapping[str, Any]) -> Table:
    table = _table("PORT", "Mb/s", "EEE", "NOW", "ACTIVE %", "QUIET %", "SLEEP+WAKE %", "LPI EVENTS")
    for name, port in _up(ports):
        spent = port["time_in_state"]
        up_ps = spent["total_ps"] - spent["down_ps"]
        shares = (
            spent["active_ps"],
            spent["quiet_ps"] + spent["refresh_ps"] + spent["fast_ps"],
            spent["sleep_ps"] + spent["wake_ps"],
        )
        percents = (f"{100 * part / up_ps:.1f}" if up_ps else "-" for part in shares)
        eee = "yes" if port["eee_active"] else "no"
        table.add_row(name, str(port["speed_mbps"]), eee, port["lpi_now"], *percents, str(spent["lpi_events"]))
    return table


def _histogram(lateness: Mapping[str, Any]) -> Table:
    """Frames by how late they were, in doublings of the time; empty rows between others are shown."""
    counts: Counter[int] = Counter()
    uppers = [*lateness["bucket_upper_us"], 2 * lateness["bucket_upper_us"][-1]]
    for upper, count in zip(uppers, lateness["bucket_count"], strict=True):
        counts[math.ceil(math.log2(upper) - 1e-9)] += count
    present = [step for step, count in counts.items() if count]
    most = max(counts.values())
    table = _table("LATE BY UP TO us", "FRAMES", "")
    table.columns[2].justify = "left"
    for step in range(min(present), max(present) + 1):
        length = max(1, round(_BAR * counts[step] / most)) if counts[step] else 0
        table.add_row(f"{2.0**step:g}", str(counts[step]), "█" * length)
    return table
