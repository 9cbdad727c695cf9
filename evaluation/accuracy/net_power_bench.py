"""Our fit on routers that others measured: `python -m evaluation.accuracy.net_power_bench FOLDER`.

FOLDER has a folder for each router, as `devices` of ETH's NetPowerBench has: `power_data.yml` with readings by stage
(base; idle: transceivers plugged in, ports shut; switch: ports enabled; trx: links up; snake-test: traffic), means of
30 s each, and `power_model.yml` with the parameters that its authors derived. All stages of a transceiver are fitted
together, at all of its speeds; it prints ours with 95 % intervals beside the published ones, and what was refused.

What the files do not say is assumed. During all stages of a type as many modules were plugged in as in its idle stage,
unless more ports are named. A snake sends each bit in at one port and out at another, so that a switch forwards half of
what its interfaces carry. `--months 2024-04` keeps stages of some months (base always): routers drift by watts
between them.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from eee_testbed.analysis.interval import Interval, NotEnoughData
from eee_testbed.analysis.power.fit_power import switch_power
from eee_testbed.analysis.power.plausible import CabledPorts
from eee_testbed.analysis.power.stage_window import PortCounts, StageWindow
from eee_testbed.analysis.power.switch_power import SwitchPowerFit, fit_switch_power
from evaluation import recording
from evaluation.records import Figure

_HEADER_BYTE = 58  # of the load generator's packets, beside the size that the files name
_NOISE_WATT, _SCATTER_WATT, _STEP_WATT = 0.05, 0.3, 0.01
_PUBLISHED = {"P_TRX_IN": "cable", "P_PORT": "enabled", "P_TRX_UP": "link", "P_OFFSET": "carrying"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One mean: of which stage, type of port and speed, with how many ports; rate of each interface in bit/s."""

    stage: str
    kind: str
    speed: str
    ports: int
    packet_byte: int
    rate_bps: float
    watt: float
    at: datetime


def readings(data: Mapping[str, Any]) -> Iterator[Reading]:
    """All readings of a router's file."""
    yield from _each("base", "", "", 0, 0, 0.0, data["base"])
    for port, transceivers in data.items():
        for name, stages in transceivers.items() if port not in ("base", "device") else ():
            yield from _of_kind(f"{port} {name}", stages)


def _of_kind(kind: str, stages: Mapping[str, Any]) -> Iterator[Reading]:
    for count, found in stages.get("idle", {}).items():
        yield from _each("idle", kind, "", count, 0, 0.0, found)
    for stage in ("switch", "trx"):
        for speed, counts in stages.get(stage, {}).items():
            for count, found in counts.items():
                yield from _each(stage, kind, speed, count, 0, 0.0, found)
    for speed, counts in stages.get("snake-test", {}).items():
        for count, sizes in counts.items():
            for size, rates in sizes.items():
                for gbps, found in rates.items():
                    yield from _each("snake", kind, speed, count, int(size), 1e9 * float(gbps), found)


def _each(stage: str, kind: str, speed: str, ports: int, size: int, rate: float, found: Any) -> Iterator[Reading]:
    for watt, stamp in zip(found["power"], found["ts"], strict=True) if found else ():
        at = datetime.strptime(str(stamp), "%Y-%m-%d_%H:%M:%S").replace(tzinfo=UTC)
        yield Reading(stage, kind, speed, int(ports), size, rate, float(watt), at)


def windows(found: Sequence[Reading]) -> list[StageWindow]:
    """Readings as windows of a fit, in order of time."""
    plugged: dict[str, int] = {}
    for one in found:
        if one.stage == "idle":
            plugged[one.kind] = max(plugged.get(one.kind, 0), one.ports)
    return [_window(one, plugged) for one in sorted(found, key=lambda one: one.at)]


def _window(one: Reading, plugged: Mapping[str, int]) -> StageWindow:
    mbps = mbps_of(one.speed)
    cabled = one.ports if one.stage == "idle" else max(plugged.get(one.kind, 0), one.ports)
    counts = PortCounts(
        cabled=cabled,
        enabled_by_mbps={} if one.stage == "idle" else {mbps: one.ports},
        up_by_mbps={mbps: one.ports} if one.stage in ("trx", "snake") else {},
        carrying_by_mbps={mbps: one.ports} if one.rate_bps else {},
    )
    forwarded_bps = one.rate_bps * one.ports / 2
    forwarded_pps = forwarded_bps / (8 * (one.packet_byte + _HEADER_BYTE)) if one.packet_byte else 0.0
    shown = one.watt - _SCATTER_WATT, one.watt + _SCATTER_WATT
    ports = {one.kind: counts} if one.kind else {}
    at_s = one.at.timestamp()
    return StageWindow(at_s, one.watt, _NOISE_WATT, _SCATTER_WATT, shown, ports, forwarded_bps, forwarded_pps)


def mbps_of(speed: str) -> int:
    """Of "100G" or "10M"; 0 for none."""
    return int(speed[:-1]) * {"M": 1, "G": 1_000}[speed[-1]] if speed else 0


def compare(fit: SwitchPowerFit, kind: str, published: Mapping[int, Any]) -> Iterator[dict[str, Any]]:
    """Rows of ours beside the published parameters of a type of port."""
    yield _row("P_BASE", "", fit.base_watt, published)
    found = switch_power(fit, "")
    for mbps, port in fit.ports.get(kind, {}).items():
        for name, field in _PUBLISHED.items():
            yield _row(name, f"{mbps} Mb/s", getattr(port, field), published.get(mbps, {}))
    for name, energy, scale in zip(("E_BIT", "E_PKT"), found.per_interface, (1e-12, 1e-9), strict=True):
        own = None if energy is None else Interval(*(scale * end for end in (energy.value, energy.low, energy.high)))
        yield _row(name, "", own, next(iter(published.values()), {}))


def _row(name: str, speed: str, own: Interval | None, published: Mapping[Any, Any]) -> dict[str, Any]:
    their = published.get(name)
    if name == "P_BASE":
        their = next((one.get(name) for one in published.values()), None)
    known = None if their is None or math.isnan(their) else float(their)
    holds = None if own is None or known is None else own.holds(known)
    ours = None if own is None else [own.value, own.low, own.high]
    return {"parameter": name, "speed": speed, "ours": ours, "published": known, "holds": holds}


def static_figure(routers: Sequence[Mapping[str, Any]]) -> Figure | None:
    """How many of the published static parameters our intervals hold; None if none was fitted."""
    rows = [row for router in routers for row in router.get("parameters", ())]
    held = [row["holds"] for row in rows if row["parameter"].startswith("P_") and row["holds"] is not None]
    return Figure(value=sum(held), held=f"{sum(held)} of {len(held)}", n=len(held)) if held else None


def published_of(model: Mapping[str, Any], kind: str) -> Mapping[int, Any]:
    """Parameters by speed, from the part of the model that a type of port has, whatever it calls the cage."""
    port, _, name = kind.partition(" ")
    for cage, transceivers in model.items():
        if cage != "metadata" and (cage.startswith(port) or port.startswith(cage)) and name in transceivers:
            return {mbps_of(speed): one for speed, one in transceivers[name].items() if "P_BASE" in one}
    return {}


def main(words: Sequence[str] | None = None) -> None:
    """Fit every router of the folder and print its parameters beside the published ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--months", nargs="*", default=[], help="such as 2024-04; default: all")
    parser.add_argument("--no-traffic", action="store_true", help="leave the snake tests out")
    recording.add_argument(parser)
    given = parser.parse_args(words)
    records = recording.begin(given)
    yaml, result = YAML(typ="safe"), []
    for path in sorted(given.folder.glob("*/power_data.yml")):
        every = [one for one in readings(yaml.load(path)) if not (given.no_traffic and one.stage == "snake")]
        model_file = path.with_name("power_model.yml")
        model = yaml.load(model_file) if model_file.exists() else {}
        for kind in sorted({one.kind for one in every if one.kind}):
            own = [one for one in every if one.kind in ("", kind)]
            own = [one for one in own if not one.kind or not given.months or one.at.strftime("%Y-%m") in given.months]
            print(f"{path.parent.name} {kind}: {len(own)} readings", file=sys.stderr)
            row: dict[str, Any] = {"router": path.parent.name, "ports": kind, "readings": len(own)}
            count = max(one.ports for one in own)
            fastest = max(mbps_of(one.speed) for one in own)
            try:
                fit = fit_switch_power(windows(own), _STEP_WATT, cabled=CabledPorts(count, 1e6 * count * fastest))
            except NotEnoughData as error:
                result.append({**row, "refused": str(error)})
                continue
            rows = list(compare(fit, kind, published_of(model, kind)))
            result.append({**row, "r2": fit.explained, "parameters": rows, "warnings": fit.warnings})
    print(json.dumps(result, indent=1))
    records.append({"static power": static_figure(result)})


if __name__ == "__main__":
    main()
