"""`make demo`: bring a virtual lab up, study it as any other lab, and take it down.

The study is `eeectl study LAB --quick`: it plans, proves and applies routing, sends echoes after pauses, runs an MPI
program with EEE on and off, switches links off and on, measures a switch's power in stages, fits models and writes the
report. It knows the lab by its inventory alone. At the end the fitted values are compared with the twin's truth.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from eee_engine import phy_profiles
from rich.console import Console
from rich.table import Table
from ruamel.yaml import YAML

from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, PENDING, REFUSED
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.measuring.study.commands import run_eeectl

LAB: Final = "virtual"
ROOT: Final = Path("studies")
_EEECTL: Final = (sys.executable, "-m", "eee_testbed.eeectl.cli")


class _Stopped(Exception):
    """Ctrl-C was pressed, and the running command has stopped."""


def _eeectl(*arguments: str, accepted: tuple[int, ...] = (DONE,)) -> None:
    """Run eeectl at this terminal."""
    status = run_eeectl(*arguments)
    if status == INTERRUPTED:
        raise _Stopped
    if status not in accepted:
        raise LabError(f"`eeectl {' '.join(arguments)}` ended with exit status {status}; see above.")


def _truth() -> dict[str, Any]:
    done = subprocess.run([*_EEECTL, "lab", "truth", LAB, "--json"], check=False, capture_output=True, text=True)
    if done.returncode:
        raise LabError(f"`eeectl lab truth` failed: {done.stderr.strip()}")
    truth: dict[str, Any] = json.loads(done.stdout)
    return truth


def _wake_us(truth: dict[str, Any], device: str) -> float:
    """A transmitter's wake time at 1 Gb/s; the standard's value where the truth file has none."""
    wake_us = truth["timing"][device]["lpi"]["wake_us"]
    return float(phy_profiles()["1000BASE-T"]["wake_us"] if wake_us is None else wake_us)


def _rows(calibration: dict[str, Any], truth: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (quantity, fitted value with its interval, true value) of the path between two hosts at one switch."""
    switches_of = {
        name: {end.split(":")[0] for end in one["ends"]} - set(name.split("-"))
        for name, one in calibration.get("links", {}).items()
    }
    path = next((name for name, switches in switches_of.items() if len(switches) == 1), "")
    if not path:
        yield "EEE policy of a path over one switch", "not fitted", "hold"
        return
    policy, (switch,) = calibration["links"][path], switches_of[path]
    if policy["kind"] != "hold":
        yield f"{path}: policy", policy["kind"], "hold"
        return
    lpi = truth["timing"][switch]["lpi"]
    yield f"{path}: hold, us", _with_interval(policy["hold_us"]), f"{lpi['hold_us']:g}"
    yield f"{path}: Ts, us", _with_interval(policy["sleep_us"]), f"{lpi['sleep_us']:g}"
    wakes_us = 2 * _wake_us(truth, switch) + sum(_wake_us(truth, host) for host in path.split("-"))
    yield f"{path}: wakes of a round trip, us", _with_interval(policy["path_wake_us"]), f"{wakes_us:g}"


def _with_interval(estimate: dict[str, float]) -> str:
    return "{value:.4g} ({low:.4g} - {high:.4g})".format(**estimate)


def _compare_with_truth(console: Console, study: Path) -> None:
    calibration = YAML(typ="safe").load((study / "calibration.yaml").read_text(encoding="utf-8"))
    truth = _truth()
    table = Table(title="fitted values, and the twin's truth")
    for heading in ("", "fitted (95 % interval)", "truth"):
        table.add_column(heading, justify="left" if not heading else "right")
    for row in _rows(calibration, truth):
        table.add_row(*row)
    print_table(console, table)
    late = truth["engine"]["lateness"]
    console.print(
        f"{late['count']} frames were delivered late by {late['p50_us']:.1f} us (median), {late['p90_us']:.1f} us "
        f"(p90), {late['p99_us']:.1f} us (p99), {late['max_us']:.0f} us at most"
    )


def main() -> int:
    """Bring the lab up, study it, take it down whatever happens; return 0 if all went well."""
    console = Console()
    begun_s = time.monotonic()
    try:
        _eeectl("lab", "up", LAB, "--rate", "auto")
        try:
            before = set(ROOT.glob(f"*Z-{LAB}"))
            words = ("--quick", "--yes", "--agent-user", "root", "--root", str(ROOT))
            _eeectl("study", LAB, *words, accepted=(DONE, PENDING))
            study = max(set(ROOT.glob(f"*Z-{LAB}")) - before)  # the newest of all may be another: lab time runs ahead
            _compare_with_truth(console, study)
        finally:
            console.rule("lab down")
            _eeectl("lab", "down", LAB, "--yes")
    except LabError as error:
        console.print(f"demo: {error}", style="red", markup=False)
        return REFUSED
    except (_Stopped, KeyboardInterrupt):
        console.print("demo: stopped; the lab is down.", style="red")
        return INTERRUPTED
    minutes = (time.monotonic() - begun_s) / 60
    console.print(f"the report, after {minutes:.1f} minutes: {study.resolve() / 'report.html'}", soft_wrap=True)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
