"""Programs on a live lab beside their replay from the recorded calls and the links' policy alone.

    python -m evaluation.accuracy.closed_loop [PROGRAM ...] [--hosts 12] [--rate auto] [--runs FOLDER] [--share xhpl]

Brings up a lab that is like `miwa`, runs each program with EEE on the hosts' links and without, in lab time, and takes
the lab down. Every call of MPI is recorded. Cards ask for LPI as ports do, because a replay has one policy for both
directions of a link. Meanwhile the twin's own account of its ports is watched (`live_states`), because the lab's switch
counts no LPI and its meter is slower than a short program. The calls are replayed on the lab's own network
(`simulation.replay.on_network`), with links that never sleep and with the truth's policy.

* Run time: live with EEE, and live without plus what EEE adds to the replay of the calls recorded without.
* Shares of LPI and joules of the switch: of the run with EEE, from the end of the first collective call to the last
  call, and of the replay of its own calls, each by its own clock. Before that, hosts end MPI_Init one after another
  and connect to each other, which no replay has. HPL has no collective call: its beginning ends before the first call
  on a communicator of its own. Watts follow from the truth, as a calibration has them: base, ports, what remains in
  LPI.

Hosts in lab time acknowledge each segment, where hosts of today's kernels do each second one: in the replay, too.

What a message costs its sender and its receiver depends on the machine (Open MPI's numbers here have none): the same
time for both, with which the part that is timed (`loop_parts`) takes as long in the replay as live without EEE. Nothing
is fitted to the run with EEE.

MPI_Init returns at other times on other hosts. Ranks of the replay begin as much later. Prints JSON.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.analysis.calibration import Estimate, PortPower, SwitchPower
from eee_testbed.benchmarks.recorder.table import FOLDER
from eee_testbed.lab.errors import LabError
from eee_testbed.record.trials import Trial, read_trials
from eee_testbed.simulation.description import Description, Links
from eee_testbed.simulation.power_models import fitted
from eee_testbed.simulation.replay.carried import carried_of, packet_bits
from eee_testbed.simulation.replay.hosts import hosts_of
from eee_testbed.simulation.replay.jobs import Programs
from eee_testbed.simulation.replay.on_network import network_for, recorded_job
from eee_testbed.simulation.replay.prediction import with_policy
from eee_testbed.simulation.replay.program import Program, write_program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.recorder import files_of, rank_files
from eee_testbed.simulation.replay.readers.table import RECORDED, import_trace
from eee_testbed.simulation.replay.replayed import Replayed, replay
from eee_testbed.twin.truth.truth import SwitchPowerTruth
from eee_testbed.twin.truth.truth_file import load_truth
from evaluation import quiet, recording
from evaluation.accuracy.alltoall_engine import MIWA as POLICY
from evaluation.accuracy.live_states import joule_between, shares_between, totals_at
from evaluation.accuracy.loop_lab import FAMILY, Live, measured, prepare
from evaluation.accuracy.loop_parts import all_had_begun_ns, fitted_cost, timed, timed_s, until_all_had_begun, wanted_s
from evaluation.accuracy.loop_programs import PROGRAMS, RANKS
from evaluation.accuracy.miwa_live import require_root
from evaluation.records import Figure

_MBPS: Final = 1000
_ACK_PACKETS: Final = 1
"""A frame that hosts in lab time acknowledge (`engine/src/os/kernel_timers.rs`)."""


@dataclass(frozen=True, slots=True)
class Low:
    """Live and replayed, of the run with EEE: shares of the links' time in low power, and the switch's joules."""

    live_share: float
    replayed_share: float
    live_joule: float
    replayed_joule: float

    @property
    def share_off_points(self) -> float:
        """By how many points of the time the replay is off."""
        return 100 * (self.replayed_share - self.live_share)

    @property
    def joule_error_percent(self) -> float:
        """Of the live joules."""
        return 100 * (self.replayed_joule / self.live_joule - 1)


@dataclass(frozen=True, slots=True)
class Loop:
    """A program live and replayed. Seconds of the part that is timed live, and of all that was recorded."""

    program: str
    live_off_s: float
    live_on_s: float
    host_us: float
    """Cost of a send, and of a receive, fitted to the run without EEE."""

    replay_adds_s: float
    """By EEE, to the part that is timed."""

    recorded_off_s: float
    replayed_off_s: float
    recorded_on_s: float
    replayed_on_s: float
    """Of the calls recorded with EEE, with the truth's policy."""

    low: Low

    @property
    def live_adds_s(self) -> float:
        """By EEE, to the part that is timed."""
        return self.live_on_s - self.live_off_s

    @property
    def run_time_error_percent(self) -> float:
        """Of the run time with EEE, by the replay of the run without."""
        return 100 * ((self.live_off_s + self.replay_adds_s) / self.live_on_s - 1)

    @property
    def recorded_error_percent(self) -> tuple[float, float]:
        """Of the whole recorded time, by its own replay: without EEE, and with it."""
        return (
            100 * (self.replayed_off_s / self.recorded_off_s - 1),
            100 * (self.replayed_on_s / self.recorded_on_s - 1),
        )


def policy(cycle_us: float) -> Links:
    """The truth's, in cycles."""
    hold, sleep, wake = (round(POLICY[name] / cycle_us) for name in ("hold_us", "sleep_us", "wake_us"))
    return Links(mode="deep", hold=hold, sleep=sleep, wake=wake, wake_during_sleep=wake)


def switch_power(truth: SwitchPowerTruth) -> SwitchPower:
    """The truth's, as a calibration without any error has it. Traffic is left out, as in the live account."""
    up = truth.port.up_at_watt(_MBPS)
    stages = PortPower(
        enabled_watt=_exact(truth.port.unlinked_watt),
        link_watt=_exact(up - truth.port.unlinked_watt),
        lpi_fraction=_exact(truth.port.deep_fraction),
    )
    return SwitchPower(
        base_watt=_exact(truth.base_watt),
        port_by_mbps={_MBPS: stages},
        drift_watt=0,
        noise_watt=0,
        explained_fraction=1,
        window_count=0,
    )


def _exact(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trial's calls, with times in UTC of the lab: when the first rank began, and when all had begun.

    Ranks that began later compute until then.
    """

    program: Program
    begun_ns: int
    all_begun_ns: int
    took_ns: int


def recorded(trial: Trial) -> Recorded:
    """Of a trial's trace."""
    files = files_of([trial.folder])
    ranked = rank_files(files)
    begun = [one.head.begun_ns for one in ranked]
    program = import_trace(files, RECORDED, Options(trial.program))
    return Recorded(begun_apart(program, begun), min(begun), all_had_begun_ns(ranked), program.recorded_ns or 0)


def begun_apart(program: Program, begun_ns: Sequence[int]) -> Program:
    """With the first call of each rank as much later as the rank began, by clocks that agree."""
    late = pl.Series([at - min(begun_ns) for at in begun_ns], dtype=pl.UInt64)
    first = program.calls["rank"].is_first_distinct()
    calls = program.calls.with_columns(
        pl.when(first)
        .then(pl.col("compute_ns") + late.gather(program.calls["rank"]))
        .otherwise(pl.col("compute_ns"))
        .alias("compute_ns")
    )
    longest = max(late.to_list())
    took = None if program.recorded_ns is None else program.recorded_ns + longest
    return Program(program.name, program.ranks, calls, program.communicators, program.source, program.assumed, took)


def loop_of(name: str, off: Trial, on: Trial, live: Live, scratch: Path) -> Loop:
    """Replay a program's two trials beside what was seen of them."""
    figure = PROGRAMS[name].figure
    without, with_eee = recorded(off), recorded(on)
    live_off_s, live_on_s = off.figures[figure].value, on.figures[figure].value

    parts = timed(without.program)

    def replayed_s(host_ns: float, *, sleeping: bool) -> float:
        replays = (replayed_on(live.lab, part, scratch, host_ns, sleeping=sleeping)[1] for part in parts)
        return timed_s(one.run_time_s for one in replays)

    host_ns = fitted_cost(
        lambda cost_ns: replayed_s(cost_ns, sleeping=False), wanted_s(parts, live_off_s, without.took_ns)
    )
    replay_adds_s = replayed_s(host_ns, sleeping=True) - replayed_s(host_ns, sleeping=False)
    _, awake = replayed_on(live.lab, without.program, scratch, host_ns, sleeping=False)
    own, begin = (
        replayed_on(live.lab, program, scratch, host_ns, sleeping=True)
        for program in (with_eee.program, until_all_had_begun(with_eee.program))
    )
    return Loop(
        name,
        live_off_s,
        live_on_s,
        host_ns / 1e3,
        replay_adds_s,
        without.took_ns / 1e9,
        awake.run_time_s,
        with_eee.took_ns / 1e9,
        own[1].run_time_s,
        low_of(live, with_eee, own, begin),
    )


def replayed_on(
    lab: Path, program: Program, scratch: Path, host_ns: float = 0.0, *, sleeping: bool
) -> tuple[Description, Replayed]:
    """A program on the lab's network, with the truth's policy if links sleep, and a cost of each send and receive."""
    file = scratch / "loop.replay"
    write_program(file, program)
    description = with_costs(network_for(f"lab:{lab}", _MBPS, recorded_job(file, 1)), host_ns)
    asleep = with_policy(description, policy(_programs_of(description).cycle_ns / 1e3), nodes_too=True)
    return asleep, replay(asleep, 1, sleeping=sleeping)


def with_costs(description: Description, host_ns: float) -> Description:
    """A cost of each send and receive, and acknowledgements as of hosts in lab time; LabError without programs."""
    programs = _programs_of(description)
    changes = {"send_ns": host_ns, "receive_ns": host_ns, "ack_packets": _ACK_PACKETS}
    costs = hosts_of(programs.hosts).model_copy(update=changes)
    return description.model_copy(update={"programs": programs.model_copy(update={"hosts": costs})})


def _programs_of(description: Description) -> Programs:
    if description.programs is None:
        raise LabError(f"{description.name} has no programs.")
    return description.programs


def low_of(
    live: Live, with_eee: Recorded, own: tuple[Description, Replayed], begin: tuple[Description, Replayed]
) -> Low:
    """Shares and joules of what was recorded, but for its beginning, live and replayed."""
    begun_s, took_s = begin[1].run_time_s, own[1].run_time_s
    from_ns = with_eee.all_begun_ns - live.utc_ahead_ns
    to_ns = with_eee.begun_ns - live.utc_ahead_ns + with_eee.took_ns
    before, after = (totals_at(live.answers, at) for at in (from_ns, to_ns))
    truth = load_truth(live.lab / "twin" / "truth.yaml").switches.families[FAMILY].power
    ports = dict.fromkeys(live.switch_ends, truth.port)
    live_joule = truth.base_watt * (to_ns - from_ns) / 1e9 + joule_between(before, after, live.partner, ports)

    def joule(description: Description, replayed: Replayed) -> float:
        watt = fitted([carried_of(description, replayed)], switch_power(truth), _MBPS, packet_bits(description)).watt
        return (watt.value if watt is not None else 0.0) * replayed.run_time_s

    low_s = [replayed.node_shares.low_power * replayed.run_time_s for _, replayed in (own, begin)]
    return Low(
        shares_between(before, after, list(live.partner)).low_power,
        (low_s[0] - low_s[1]) / (took_s - begun_s),
        live_joule,
        joule(*own) - joule(*begin),
    )


def plain(one: Loop) -> dict[str, Any]:
    """For JSON."""
    errors = ("live_adds_s", "run_time_error_percent", "recorded_error_percent")
    low = asdict(one.low) | {name: getattr(one.low, name) for name in ("share_off_points", "joule_error_percent")}
    return asdict(one) | {"low": low} | {name: getattr(one, name) for name in errors}


def main() -> int:
    """Run, replay, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(PROGRAMS)}; default: alltoall")
    parser.add_argument("--hosts", type=int, default=12)
    parser.add_argument("--rate", default="auto", help="of lab time (default %(default)s)")
    parser.add_argument("--cpu-ratio", type=float, help="cores of a host; default: what the machine has")
    parser.add_argument("--share", type=Path, nargs="*", default=[], help="files that hosts then have, such as xhpl")
    parser.add_argument("--runs", type=Path, help="folder that the runs are kept in")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    given = parser.parse_args()
    names = given.programs or ["alltoall"]
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        parser.error(f"there is no program {', '.join(unknown)}: choose of {', '.join(PROGRAMS)}.")
    require_root()
    records = recording.begin(given)
    found = [one for name in names if (one := _closed(name, given)) is not None]
    print(json.dumps([plain(one) for one in found], indent=1))
    if found:
        records.append(figures_of(found))
    return 0 if len(found) == len(names) else 1


def _closed(name: str, given: argparse.Namespace) -> Loop | None:
    """A program's loop; None if it has no valid trials."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lab, experiment = prepare(folder, given.hosts, PROGRAMS[name], given.cpu_ratio)
        live = measured(lab, experiment, given.rate, given.runs or folder, [RANKS, *given.share])
        trials = [one for one in read_trials(live.run) if one.valid and (one.folder / FOLDER).is_dir()]
        valid = {one.levels["eee"]: one for one in trials}
        if not {"on", "off"} <= valid.keys():
            print(
                f"closed_loop: {name} has no valid and recorded trials with EEE and without: try a slower --rate.",
                file=sys.stderr,
            )
            return None
        return loop_of(name, valid["off"], valid["on"], live, folder)


def figures_of(found: Sequence[Loop]) -> dict[str, Figure]:
    """For records: the worst of all programs."""
    worst = {
        "run time": max((one.run_time_error_percent for one in found), key=abs),
        "low power": max((one.low.share_off_points for one in found), key=abs),
        "joules": max((one.low.joule_error_percent for one in found), key=abs),
    }
    return {name: Figure(value=value, n=len(found)) for name, value in worst.items()}


if __name__ == "__main__":
    sys.exit(main())
