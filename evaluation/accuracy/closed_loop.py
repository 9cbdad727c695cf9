"""Alltoall and sleep on a live lab beside its replay from the recorded calls and the links' policy alone.

    python -m evaluation.accuracy.closed_loop [--hosts 4] [--arrays 65536] [--sleeps 2500] [--iterations 40]

Brings up a lab that is like `miwa`, records each program with EEE on the hosts' links and without, in lab time, and
takes the lab down. Cards ask for LPI as ports do, because a replay has one policy for both directions of a link. The
calls recorded without EEE are replayed on the lab's own network (`simulation.replay.on_network`), with links that never
sleep and with the truth's policy.

A trace also has the program's start, which takes another time in each run. So the run time of the loop is compared:
live with EEE, and live without plus what EEE adds to an iteration of the replay. Prints JSON.

Not compared: shares of LPI and joules. The lab's switch counts no LPI, and its meter is slower than a short program;
the replay's share of low power is printed alone.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from eee_testbed.record.trials import Trial, read_trials
from eee_testbed.simulation.description import Links
from eee_testbed.simulation.replay.on_network import network_for, recorded_job
from eee_testbed.simulation.replay.prediction import with_policy
from eee_testbed.simulation.replay.program import write_program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.recorder import files_of
from eee_testbed.simulation.replay.readers.table import RECORDED, import_trace
from eee_testbed.simulation.replay.replayed import replay
from evaluation import recording
from evaluation.accuracy.alltoall_engine import MIWA as POLICY
from evaluation.accuracy.miwa_live import hosts_of, measured, options, require_root, write_experiment, write_lab
from evaluation.records import Figure

_MBPS: Final = 1000.0
_WARM_UP: Final = 10
"""Iterations before those that are timed."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A program live and replayed. Seconds of the loop live, and of all that was recorded without EEE."""

    array_byte: int
    sleep_us: int
    iterations: int
    live_off_s: float
    live_on_s: float
    replay_adds_us: float
    """By EEE, to an iteration."""

    recorded_s: float
    replayed_s: float
    replayed_low_power: float
    """Share of time of the links' channels."""

    @property
    def live_adds_us(self) -> float:
        """By EEE, to an iteration."""
        return 1e6 * (self.live_on_s - self.live_off_s) / self.iterations

    @property
    def run_time_error_percent(self) -> float:
        """Of the run time with EEE, by the replay."""
        return 100 * ((self.live_off_s + self.iterations * self.replay_adds_us / 1e6) / self.live_on_s - 1)

    @property
    def recorded_error_percent(self) -> float:
        """Of the whole recorded time, by the replay without EEE."""
        return 100 * (self.replayed_s / self.recorded_s - 1)


def prepare(folder: Path, hosts: int, arrays: Sequence[int], sleeps: Sequence[int], iterations: int) -> Path:
    """Write the lab, whose cards sleep too, and the experiment that records; the experiment's file."""
    lab, experiment = folder / f"loop{hosts}", folder / "loop.yaml"
    write_lab(lab, hosts)
    yaml = YAML(typ="safe")
    truth = lab / "twin" / "truth.yaml"
    told = yaml.load(truth.read_text(encoding="utf-8"))
    told["nodes"]["defaults"]["lpi"] = dict(told["switches"]["families"]["dell_powerconnect_55xx"]["lpi"])
    write_experiment(experiment, lab, hosts_of(hosts), arrays, sleeps)
    asked = yaml.load(experiment.read_text(encoding="utf-8"))
    asked["recordings"] = {"trace": True}
    asked["measure"]["program"]["parameters"] = {
        "iterations": iterations, "warm_up_iterations": _WARM_UP, "least_s": 0, "sleep_by": "spin"
    }  # fmt: skip
    for path, content in ((truth, told), (experiment, asked)):
        with path.open("w", encoding="utf-8") as stream:
            yaml.dump(content, stream)
    return experiment


def policy(cycle_us: float) -> Links:
    """The truth's, in cycles."""
    hold, sleep, wake = (round(POLICY[name] / cycle_us) for name in ("hold_us", "sleep_us", "wake_us"))
    return Links(mode="deep", hold=hold, sleep=sleep, wake=wake, wake_during_sleep=wake)


def loops_of(run: Path, lab: str, scratch: Path) -> list[Loop]:
    """Each program that has valid trials with EEE and without."""
    trials = [one for one in read_trials(run) if one.valid and one.what == "program"]
    by_levels = {(one.levels["array_byte"], one.levels["sleep_us"], one.levels["eee"]): one for one in trials}
    return [
        _loop(off, on, lab, scratch)
        for (array, sleep, eee), off in by_levels.items()
        if eee == "off" and (on := by_levels.get((array, sleep, "on"))) is not None
    ]


def _loop(off: Trial, on: Trial, lab: str, scratch: Path) -> Loop:
    file = scratch / f"{off.number}.replay"
    program = import_trace(files_of([off.folder]), RECORDED, Options("loop"))
    write_program(file, program)
    description = network_for(f"lab:{lab}", _MBPS, recorded_job(file, 1))
    cycle_ns = description.programs.cycle_ns if description.programs is not None else 1.0
    asleep = with_policy(description, policy(cycle_ns / 1e3), nodes_too=True)
    base, slept = replay(description, 1, sleeping=False), replay(asleep, 1, sleeping=True)
    iterations = int(off.parameters["iterations"])
    return Loop(
        int(off.levels["array_byte"]),
        int(off.levels["sleep_us"]),
        iterations,
        off.figures["time"].value,
        on.figures["time"].value,
        1e6 * (slept.run_time_s - base.run_time_s) / (iterations + _WARM_UP),
        (program.recorded_ns or 0) / 1e9,
        base.run_time_s,
        slept.node_shares.low_power,
    )


def plain(one: Loop) -> dict[str, Any]:
    """For JSON."""
    errors = ("live_adds_us", "run_time_error_percent", "recorded_error_percent")
    return asdict(one) | {name: getattr(one, name) for name in errors}


def main() -> int:
    """Record, replay, print."""
    parser = options(__doc__, [65_536], [2500], "auto")
    parser.add_argument("--iterations", type=int, default=40)
    recording.add_argument(parser)
    given = parser.parse_args()
    require_root()
    records = recording.begin(given)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        experiment = prepare(folder, given.hosts, given.arrays, given.sleeps, given.iterations)
        lab = folder / f"loop{given.hosts}"
        run = measured(lab, experiment, given.rate, given.runs or folder)
        found = loops_of(run, str(lab), folder)
    print(json.dumps([plain(one) for one in found], indent=1))
    if found:
        worst = max(found, key=lambda one: abs(one.run_time_error_percent))
        records.append({"run time": Figure(value=worst.run_time_error_percent, n=len(found))})
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
