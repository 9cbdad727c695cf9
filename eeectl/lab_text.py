"""Status of a lab as tables for people, and the width of what they read."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.model import Lab

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


def size_text(lab: Lab) -> str:
    """What a lab consists of, counted."""
    counts = {"switch": len(lab.switches), "host": len(lab.hosts), "cable": len(lab.links)}
    counts["power strip"] = len(lab.strips)
    plural = {"switch": "switches"}
    return ", ".join(
        f"{count} {what if count == 1 else plural.get(what, f'{what}s')}" for what, count in counts.items()
    )


def _table(*headings: str) -> Table:
    return Table(*headings, box=None, pad_edge=False, header_style="bold")


def lateness_text(lateness: Mapping[str, Any]) -> str:
    """How many frames were delivered, and how late."""
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
    print_table(out, table)
    table = _table("HOST", "STATE", "DATA", "MANAGEMENT", "LINK", "CPU S")
    for host in status["hosts"]:
        link = f"{host['speed_mbps']} Mb/s{', EEE' if host['eee_active'] else ''}" if host["link_up"] else "down"
        table.add_row(
            host["host"], host["state"], host["data_address"], host["management_address"], link, f"{host['cpu_s']:.1f}"
        )
    print_table(out, table)
    states = Counter(link["state"] for link in status["links"])
    out.print(f"{len(status['links'])} cables: " + ", ".join(f"{n} {state}" for state, n in sorted(states.items())))
    for strip in status["strips"]:
        out.print(f"{strip['strip']}: {strip['model']} ({strip['family']}) at {strip['address']}", markup=False)
    for fault in status["faults"]:
        out.print(f"fault {fault['number']}: {fault['sentence']}", markup=False)
    out.print(lateness_text(status["engine"]["lateness"]))
    for alarm in status["engine"]["alarms"][-5:]:
        out.print(f"alarm at {alarm['engine_ps'] / 1e12:.3f} s: {alarm['sentence']}", markup=False)
    table = _table("TO USE IT", "")
    for what, how in status["use"].items():
        table.add_row(what.replace("_", " "), how)
    out.print(table, soft_wrap=True, markup=False)
