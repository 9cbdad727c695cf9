"""Status and truth of a lab as tables for people."""

from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table

_PIPE_COLUMNS = 200
_PAGE_COLUMNS = 100


def console() -> Console:
    """A console as wide as the terminal; a pipe is wide enough for every table."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=_PIPE_COLUMNS)


def text_width() -> int:
    """Columns of the terminal; of a pipe, those that fit a page."""
    found = Console(highlight=False)
    return found.width if found.is_terminal else _PAGE_COLUMNS


def _table(*headings: str) -> Table:
    return Table(*headings, box=None, pad_edge=False, header_style="bold")


def _lateness(lateness: dict[str, Any]) -> str:
    if not lateness["count"]:
        return "no frame delivered yet"
    return (
        f"{lateness['count']} frames delivered; late by {lateness['p50_us']:.1f} us (median), "
        f"{lateness['p90_us']:.1f} us (p90), {lateness['p99_us']:.1f} us (p99), {lateness['max_us']:.1f} us at most"
    )


def print_status(status: dict[str, Any]) -> None:
    """Print a lab's status."""
    out = console()
    out.print(f"lab {status['lab']} is {status['state']}", markup=False)
    if status["state"] != "up":
        return
    table = _table("SWITCH", "MODEL", "STATE", "PORTS UP", "SESSIONS", "ADDRESS")
    for switch in status["switches"]:
        ports = f"{switch['ports_up']}/{switch['ports']}"
        table.add_row(
            switch["switch"], switch["model"], switch["state"], ports, str(switch["sessions"]), switch["address"]
        )
    out.print(table)
    table = _table("HOST", "STATE", "DATA", "MANAGEMENT", "LINK", "CPU S")
    for host in status["hosts"]:
        link = f"{host['speed_mbps']} Mb/s{', EEE' if host['eee_active'] else ''}" if host["link_up"] else "down"
        table.add_row(
            host["host"], host["state"], host["data_address"], host["management_address"], link, f"{host['cpu_s']:.1f}"
        )
    out.print(table)
    states = Counter(link["state"] for link in status["links"])
    out.print(f"{len(status['links'])} cables: " + ", ".join(f"{n} {state}" for state, n in sorted(states.items())))
    for strip in status["strips"]:
        out.print(f"{strip['strip']}: {strip['model']} ({strip['family']}) at {strip['address']}", markup=False)
    for fault in status["faults"]:
        out.print(f"fault {fault['number']}: {fault['sentence']}", markup=False)
    out.print(_lateness(status["engine"]["lateness"]))
    for alarm in status["engine"]["alarms"][-5:]:
        out.print(f"alarm at {alarm['engine_ps'] / 1e12:.3f} s: {alarm['sentence']}", markup=False)
    table = _table("TO USE IT", "")
    for what, how in status["use"].items():
        table.add_row(what.replace("_", " "), how)
    out.print(table, soft_wrap=True, markup=False)


def _percent(part_ps: int, whole_ps: int) -> str:
    return f"{100 * part_ps / whole_ps:.1f}" if whole_ps else "-"


def print_truth(truth: dict[str, Any]) -> None:
    """Print a lab's truth."""
    out = console()
    table = _table("DEVICE", "LATENCY US", "LPI", "HOLD US", "TS US", "TW US", "BOOT S")
    for name, timing in truth["timing"].items():
        lpi = timing["lpi"]
        eee = lpi["mode"] if timing.get("eee_capable", True) else "no EEE"
        sleep, wake = (lpi[key] if lpi[key] is not None else "PHY's" for key in ("sleep_us", "wake_us"))
        row = (timing.get("latency_us", "-"), eee, lpi["hold_us"], sleep, wake, timing["boot_s"])
        table.add_row(name, *map(str, row))
    out.print(table)
    table = _table("DEVICE", "AC WATT", "BASE", "PORTS", "WANDER", "JOULE", "OUTLETS")
    for name, power in truth["power"]["devices"].items():
        watts = (power["ac_watt"], power["base_watt"], power["port_watt"], power["wander_watt"])
        outlets = ", ".join(power["outlets"])
        table.add_row(name, *(f"{watt:.2f}" for watt in watts), f"{power['energy_joule']:.0f}", outlets)
    out.print(table)
    table = _table("PORT", "LINK", "EEE", "NOW", "ACTIVE %", "QUIET %", "SLEEP+WAKE %", "LPI EVENTS")
    for name, port in truth["ports"].items():
        if not port["oper_up"]:
            continue
        spent = port["time_in_state"]
        up_ps = spent["total_ps"] - spent["down_ps"]
        table.add_row(
            name,
            f"{port['speed_mbps']} Mb/s",
            "yes" if port["eee_active"] else "no",
            port["lpi_now"],
            _percent(spent["active_ps"], up_ps),
            _percent(spent["quiet_ps"] + spent["refresh_ps"] + spent["fast_ps"], up_ps),
            _percent(spent["sleep_ps"] + spent["wake_ps"], up_ps),
            str(spent["lpi_events"]),
        )
    out.print(table)
    lateness = truth["engine"]["lateness"]
    out.print(_lateness(lateness))
    if lateness["count"]:
        uppers = [f"<= {upper:g}" for upper in lateness["bucket_upper_us"]] + ["more"]
        most = max(lateness["bucket_count"])
        table = _table("LATE BY, US", "FRAMES", "")
        for upper, count in zip(uppers, lateness["bucket_count"], strict=True):
            if count:
                table.add_row(upper, str(count), "#" * max(1, round(40 * count / most)))
        out.print(table)
    frames = truth["engine"]["frames"]
    out.print("frames: " + ", ".join(f"{key} {value}" for key, value in frames.items()))
