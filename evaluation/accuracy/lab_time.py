"""What lab time promises, measured on live labs.

    python -m evaluation.accuracy.lab_time hpl --binary X   HPL's run time on 12 hosts at several rates agrees
    python -m evaluation.accuracy.lab_time repeats          run times of repeated trials of Alltoall agree
    python -m evaluation.accuracy.lab_time ranks            66 ranks on 66 hosts at the rate that `auto` chooses
    python -m evaluation.accuracy.lab_time random-rates     sampling at 1 Hz while the rate changes each second

Each brings a lab up and takes it down. Prints one JSON object. Miwa's experiment is `evaluation.accuracy.miwa_live`,
and echoes are `evaluation.speed.probe_truth --rate 1/10`.
"""

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
import polars as pl
from eee_engine import read_lab_clock

from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import RunSamples
from eee_testbed.twin.lab import lifecycle as labs
from evaluation import quiet, recording
from evaluation.records import Figure
from evaluation.running_lab import eeectl, share
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.proportional import proportional_lab
from tests.support.waiting import ended_within

_SLOWEST: Final = 1 / 10
_REPEATED: Final[Mapping[str, float]] = {"iterations": 200, "least_s": 0.1}
"""Of each trial of `repeats`: iterations, or more for so much lab time."""

_WRONG: Final = frozenset(
    {
        EventKind.SOURCE_FAILED,
        EventKind.SOURCE_GAVE_UP,
        EventKind.SWITCH_RESTARTED,
        EventKind.COUNTERS_MISSING,
        EventKind.METER_FROZEN,
        EventKind.CLOCK_JUMP,
    }
)
"""Events that a change of the clock's rate must not cause."""


def _hosts(count: int) -> str:
    return ",".join(f"n{number:02}" for number in range(1, count + 1))


@contextmanager
def _lab(folder: str, rate: str) -> Iterator[None]:
    eeectl("lab", "up", folder, "--rate", rate)
    try:
        yield
    finally:
        eeectl("lab", "down", Path(folder).name)


def _bench(lab: str, program: str, hosts: str, runs: Path, **values: object) -> list[Mapping[str, Any]]:
    """The valid repetitions of a program, as `bench --json` prints them."""
    words = [f"--set={name}={value}" for name, value in values.items() if name != "repeat"]
    words += ["--repetitions", str(values.get("repeat", 1)), "--runs", str(runs), "--json"]
    return _valid(json.loads(eeectl("bench", program, "--lab", lab, "--hosts", hosts, *words)))


def _valid(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [repetition for repetition in report["repetitions"] if repetition["state"] == "valid"]


def _figure(repetition: Mapping[str, Any], name: str) -> float:
    return float(next(figure["value"] for figure in repetition["figures"] if figure["name"] == name))


def hpl(given: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """HPL's time on 12 hosts by rate, rates in turns; the largest relative difference of two rates' medians.

    The hosts' processors together, at the fastest rate, must fit into what the engine leaves of the machine.
    """
    number = reserve()
    folder = proportional_lab(scratch / f"hpl{number}", number, given.cpu_ratio)
    times_s: dict[str, list[float]] = {rate: [] for rate in given.rates}
    with _lab(str(folder), given.pace):
        binary = Path(share(folder.name, given.binary))
        for _ in range(given.repeat):
            for rate in given.rates:
                times_s[rate].append(_hpl_s(folder.name, rate, binary, given, scratch))
                print(f"{rate}: {times_s[rate]}", file=sys.stderr)
    middle = [median(times) for times in times_s.values()]
    spread = (max(middle) - min(middle)) / min(middle)
    return {"order": given.order, "cpu_ratio": given.cpu_ratio, "hpl_time_s": times_s, "spread": spread}


def _hpl_s(lab: str, rate: str, binary: Path, given: argparse.Namespace, scratch: Path) -> float:
    """HPL's time with the lab at a rate while its ranks run, and at `--pace` before and after."""
    argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", "bench", "hpl", "--lab", lab, "--hosts", _hosts(12)]
    argv += [f"--set=order={given.order}", f"--set=binary={binary}", "--timeout-s", "3600"]
    with subprocess.Popen([*argv, "--runs", str(scratch), "--json"], stdout=subprocess.PIPE, text=True) as running:
        turns = [(12, rate), (0, given.pace)]
        while not ended_within(running, 0.1):  # nothing tells that a process has begun
            if turns and _processes(binary.name) == turns[0][0]:
                labs.set_rate(lab, turns.pop(0)[1])
        assert running.stdout is not None
        (done,) = _valid(json.loads(running.stdout.read()))
    if turns:
        raise RuntimeError("HPL ran at another rate: its ranks were not seen, or not their end")
    return _figure(done, "time")


def _processes(name: str) -> int:
    """How many processes of a program are on this machine."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            found += (process / "comm").read_text().strip() == name[:15]
    return found


def repeats(given: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Run times of the same Alltoall, four ranks on four hosts of `miwa`, and how far they lie from their median."""
    shown: dict[str, Any] = {"rate": given.rate}
    with _lab("miwa", given.rate):
        for sleep_us in (0, 400, 1000):
            done = _bench("miwa", "alltoall", _hosts(4), scratch, sleep_us=sleep_us, **_REPEATED, repeat=given.repeat)
            times = [_figure(one, "time") for one in done]
            worst = max(abs(one / median(times) - 1) for one in times)
            shown[f"sleep {sleep_us} us"] = {"time_s": times, "worst_from_median": worst}
    return shown


def ranks(given: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """One rank on each of the 66 hosts of `koibuchi`: the slowest rate of each run, and how late frames were.

    `auto` learns its rate in the first run, some of whose trials the guards refuse; what counts is the last one.
    """
    trials = []
    with _lab("koibuchi", "auto"):
        before = _lateness("koibuchi")
        for _ in range(given.repeat):
            argv = [
                sys.executable,
                "-m",
                "eee_testbed.eeectl.cli",
                "bench",
                "alltoall",
                "--lab",
                "koibuchi",
                "--hosts",
                _hosts(66),
            ]
            argv += ["--set=sleep_us=500", f"--set=iterations={given.iterations}", "--runs", str(scratch), "--json"]
            with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as running:
                slowest = 1.0
                while not ended_within(running, 1.0):  # a sample of the rate each second
                    rate, _, _ = read_lab_clock(labs.clock_page("koibuchi"))
                    slowest = min(slowest, float(Fraction(rate)))
                assert running.stdout is not None
                done = json.loads(running.stdout.read())
            after = _lateness("koibuchi")
            counts = [late - early for early, late in zip(before["bucket_count"], after["bucket_count"], strict=True)]
            trials.append(
                {
                    "rate": slowest,
                    "time_s": [_figure(one, "time") for one in _valid(done)],
                    "why": [one["why"] for one in done["repetitions"]],
                    "frames": sum(counts),
                    "p50_at_most_us": _percentile_us(counts, after["bucket_upper_us"], 0.5),
                    "p99_at_most_us": _percentile_us(counts, after["bucket_upper_us"], 0.99),
                }
            )
            print(trials[-1], file=sys.stderr)
            before = after
    return {"trials": trials}


def _lateness(lab: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(eeectl("lab", "truth", lab, "--json"))["engine"]["lateness"]
    return found


def _percentile_us(counts: list[int], uppers_us: list[float], share: float) -> float:
    seen = 0
    for count, upper_us in zip(counts, [*uppers_us, math.inf], strict=True):
        seen += count
        if seen >= share * sum(counts):
            return upper_us
    return math.inf


def random_rates(given: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Sample `miwa` at 1 Hz for so much lab time while its clock's rate is drawn anew each second of the wall."""
    experiment = scratch / "hour.yaml"
    window_s = given.lab_minutes * 60
    experiment.write_text(
        "name: hour\nlab: miwa\nfactors:\n  eee: {links: [n01], levels: ['on']}\n"
        f"measure:\n  power: {{window_s: {window_s}, settle_s: 5, hosts: []}}\nblocks: 1\n",
        encoding="utf-8",
    )
    draw = np.random.default_rng(given.seed)
    rates: list[float] = []
    with _lab("miwa", "1"):
        argv = [
            sys.executable,
            "-m",
            "eee_testbed.eeectl.cli",
            "run",
            str(experiment),
            "--runs",
            str(scratch),
            "--json",
        ]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as running:
            while not ended_within(running, 1.0):  # a rate holds for a second
                rate = _SLOWEST * (given.fastest / _SLOWEST) ** draw.random()
                eeectl("lab", "clock", "miwa", f"{rate:.3f}")
                rates.append(rate)
            status = running.returncode
    samples = RunSamples(next(path for path in scratch.iterdir() if (path / "run.yaml").exists()))
    return {
        "exit_status": status,
        "rates": len(rates),
        "samples": {name: _table_facts(samples.table(name), keys) for name, keys in _KEYS.items()},
        "wrong_events": [event for event in samples.events if event["kind"] in _WRONG],
    }


_KEYS: Final[Mapping[str, tuple[str, ...]]] = {"ports": ("switch", "port"), "watts": ("strip", "outlet")}


def _table_facts(rows: pl.DataFrame, keys: tuple[str, ...]) -> dict[str, Any]:
    """Rows, those out of order, counters that fell, and the longest stretch of lab time without a sample."""
    counters = [name for name in rows.columns if name.endswith(("_byte", "_frame", "_joule"))]
    ordered = rows.sort("due_ns", maintain_order=True)
    steps = ordered.with_columns(pl.col("sent_ns").diff().over(keys).alias("step_ns"))
    fell = ordered.select(((pl.col(name).diff().over(keys)) < 0).sum() for name in counters)
    return {
        "rows": rows.height,
        "late_received": int((rows["received_ns"] < rows["sent_ns"]).sum()),
        "out_of_order": int((steps["step_ns"].drop_nulls() <= 0).sum()),
        "counters_that_fell": sum(map(int, fell.row(0))),
        "longest_step_s": float(steps["step_ns"].max() or 0) / 1e9,  # type: ignore[arg-type]
    }


def _out_of_order(tables: Mapping[str, Mapping[str, Any]]) -> Figure:
    count = sum(table["out_of_order"] for table in tables.values())
    return Figure(value=count, held=f"{int(not count)} of 1", n=sum(table["rows"] for table in tables.values()))


_MEASURES: Final[Mapping[str, Callable[[argparse.Namespace, Path], dict[str, Any]]]] = {
    "hpl": hpl,
    "repeats": repeats,
    "ranks": ranks,
    "random-rates": random_rates,
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=_MEASURES)
    parser.add_argument("--rate", default="auto:2us", help="of `repeats` (default %(default)s)")
    parser.add_argument("--rates", nargs="+", default=["1/10", "1/20", "1/50"], help="of `hpl`")
    parser.add_argument("--binary", type=Path, help="of HPL, built for this machine's Open MPI")
    parser.add_argument("--pace", default="1/4", help="before and after `hpl`'s ranks run (default %(default)s)")
    parser.add_argument("--order", type=int, default=5000, help="of HPL's matrix (default %(default)s)")
    parser.add_argument("--cpu-ratio", type=float, default=0.5, help="of `hpl`'s hosts (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="of `hpl` and `repeats` (default %(default)s)")
    parser.add_argument("--iterations", type=int, default=200, help="of `ranks` (default %(default)s)")
    parser.add_argument("--lab-minutes", type=int, default=60, help="of `random-rates` (default %(default)s)")
    parser.add_argument("--fastest", type=float, default=20.0, help="of `random-rates` (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    quiet.add_argument(parser)
    recording.add_argument(parser)
    given = parser.parse_args()
    if os.geteuid() != 0:
        print("lab_time: virtual labs need root: use sudo.", file=sys.stderr)
        return 2
    if given.what == "hpl" and not (given.binary and given.binary.is_file()):
        print("lab_time: hpl needs --binary, the path of an xhpl that you built: Debian has none.", file=sys.stderr)
        return 2
    records = recording.begin(given)
    with tempfile.TemporaryDirectory() as scratch:
        found = _MEASURES[given.what](given, Path(scratch))
    print(json.dumps(found, indent=1, default=str))
    records.append({"out of order": _out_of_order(found["samples"])} if "samples" in found else {})
    return 0


if __name__ == "__main__":
    sys.exit(main())
