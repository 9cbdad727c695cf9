"""A calibration as text, with names for people. `NAMES` has one for every key of a calibration's file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel

from analysis.calibration import Calibration, Estimate, PowerPart
from analysis.report.table import number

INTERVAL: Final = "95 % intervals in brackets: values outside them are ruled out by the measurements; ∞: no bound."

NAMES: Final[Mapping[str, tuple[str, str]]] = {
    # a link's EEE policy
    "ends": ("ends of the path", ""),
    "kind": ("policy", ""),
    "sleeper_count": ("transmitters that sleep on the path", ""),
    "card_count": ("transmitters of the second group", ""),
    "which": ("known which of them sleep", ""),
    "path_wake_us": ("sum of all wakes of a round trip", "us"),
    "largest_gap_us": ("longest pause that was tried", "us"),
    "stream_every_us": ("time between frames of a stream that kept ports awake", "us"),
    "base_us": ("round trip awake", "us"),
    "noise_us": ("scatter of the round trips", "us"),
    "hold_us": ("idle time before sleep (hold)", "us"),
    "sleep_us": ("falling asleep (Ts)", "us"),
    "wake_us": ("wake of one transmitter (Tw)", "us"),
    "fast_wake_us": ("wake from fast wake", "us"),
    "deep_after_us": ("fast wake before deep sleep", "us"),
    "wait_us": ("wait for more frames (coalescing)", "us"),
    "card_hold_us": ("second group: hold", "us"),
    "card_sleep_us": ("second group: falling asleep (Ts)", "us"),
    "card_wake_us": ("second group: wake (Tw)", "us"),
    "echo_count": ("echoes used", ""),
    "lost_count": ("echoes lost", ""),
    "explained_fraction": ("share of the spread that is explained", "%"),
    "evidence": ("lead over the next best policy", "(above 10: very strong)"),
    # power
    "family": ("family", ""),
    "base_watt": ("switch without its ports", "W"),
    "port_by_mbps": ("port at", "Mb/s"),
    "port_by_kind": ("port with", ""),
    "cable_watt": ("cable plugged in, port shut", "W"),
    "enabled_watt": ("more with the port enabled, no link", "W"),
    "link_watt": ("more with link, without EEE", "W"),
    "lpi_fraction": ("share of these two left in LPI", "%"),
    "residual_watt": ("left after the port is shut again", "W"),
    "carrying_watt": ("more once it carries traffic", "W"),
    "bit_picojoule": ("a bit that the switch forwards", "pJ"),
    "packet_nanojoule": ("a packet that the switch forwards", "nJ"),
    "drift_watt": ("drift that was removed, std. deviation", "W"),
    "noise_watt": ("scatter of the readings, std. deviation", "W"),
    "window_count": ("windows of readings used", ""),
    "idle_watt": ("idle", "W"),
    "loaded_watt": ("all cores busy", "W"),
    "lpi_saved_watt": ("saves in low-power idle", "W"),
    "card_mbps": ("speed of the card's link", "Mb/s"),
    "card_saved_watt": ("its card saves in low-power idle", "W"),
    "port_watt": ("a port (Omega_port)", "W"),
    "ports_fraction": ("ports' share of a switch (omega_ports)", "%"),
    "sleeping_port_fraction": ("share left of a sleeping port (omega_Sport)", "%"),
    "node_watt": ("a busy node (Omega_nodes)", "W"),
    "idle_node_fraction": ("share left of an idle node (omega_Snodes)", "%"),
    # run time under EEE
    "program": ("program", ""),
    "node_count": ("nodes", ""),
    "rank_count": ("ranks", ""),
    "configuration_count": ("configurations used", ""),
    "link": ("with the policy of", ""),
    "miwa": ("Miwa's model", ""),
    "wakes": ("gaps and wakes", ""),
    "rounds": ("replayed rounds", ""),
    "threshold_us": ("longest gap without cost (t)", "us"),
    "plateau_us": ("cost of a longer gap (c)", "us"),
    "alpha_per_us": ("steepness (alpha)", "1/us"),
    "origin_us": ("where the curve begins (t0)", "us"),
    "residual_us": ("scatter about the model", "us"),
    "error": ("error of run times", ""),
    "mean_percent": ("mean", "%"),
    "worst_percent": ("worst", "%"),
    "held_out": ("on configurations that were not fitted", ""),
    "serial_count": ("waits one after the other in a round", ""),
    "abreast_count": ("links that wake side by side", ""),
    "hidden_us": ("wait that costs a round nothing", "us"),
}
"""Name and unit of a value by the last word of its path of keys. A fraction is shown in percent."""

_GAP: Final = "  "
_SENTENCES: Final = frozenset({"symptoms", "unknown", "warnings"})
"""Keys whose sentences are printed below a part."""


def calibration_text(found: Calibration) -> str:
    """Every part of a calibration with its values and the sentences about them."""
    lines = [INTERVAL]
    for name, link in found.links.items():
        lines += _part(f"EEE policy of {name}", link, (*link.unknown, *link.symptoms))
    lines += _power(found.power)
    for name, program in found.run_time.items():
        lines += _part(f"run time of {name} under EEE", program, ())
    return "\n".join(lines)


def _power(power: PowerPart) -> list[str]:
    lines = []
    for name, switch in power.switches.items():
        lines += _part(f"power of switch {name}", switch, (*switch.unknown, *switch.warnings))
        for words, energy, unit in zip(("a bit", "a packet"), switch.per_interface, ("pJ", "nJ"), strict=True):
            if energy is not None:
                lines.append(f"  {words} per interface, as NetPowerBench counts: {_value(energy, unit)}")
    for name, node in power.nodes.items():
        lines += _part(f"power of node {name}", node, (*node.unknown, *node.warnings))
    if power.andujar is not None:
        lines += _part("power in Andujar's model", power.andujar, ())
    return [*lines, *([power.note] if power.note else [])]


def _part(title: str, part: BaseModel, sentences: Sequence[str]) -> list[str]:
    rows = list(_rows(part, _GAP))
    size = max(len(name) for name, _ in rows)
    lines = (f"{name:<{size}}{_GAP}{value}".rstrip() for name, value in rows)
    return ["", title, *lines, *(f"{_GAP}{sentence}" for sentence in sentences)]


def _rows(part: BaseModel, indent: str) -> Iterator[tuple[str, str]]:
    """Name and text of every value of a part; a part of its own is a heading and its values below that."""
    for key in type(part).model_fields:
        value = getattr(part, key)
        if key == "card_count" and getattr(part, "card_wake_us", None) is None:
            continue  # there is one group only
        if key not in _SENTENCES and value not in (None, "", ()):
            yield from _row(key, value, indent)


def _row(key: str, value: object, indent: str) -> Iterator[tuple[str, str]]:
    name, unit = NAMES[key]
    if isinstance(value, Estimate) or not isinstance(value, BaseModel | Mapping):
        yield f"{indent}{name}", _value(value, unit, 100.0 if key.endswith("_fraction") else 1.0)
    elif isinstance(value, BaseModel):
        yield f"{indent}{name}:", ""
        yield from _rows(value, indent + _GAP)
    else:
        for inner, one in value.items():
            yield f"{indent}{' '.join(word for word in (name, str(inner), unit) if word)}:", ""
            if isinstance(one, BaseModel):
                yield from _rows(one, indent + _GAP)
            else:  # by kind of cable, then by speed
                yield from _row("port_by_mbps", one, indent + _GAP)


def _value(value: object, unit: str, factor: float = 1.0) -> str:
    if isinstance(value, Estimate):
        middle, low, high = (number(factor * end) for end in (value.value, value.low, value.high))
        return " ".join(word for word in (middle, unit, f"({low} to {high})") if word)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{number(factor * value)} {unit}".rstrip()
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value} {unit}".rstrip()
