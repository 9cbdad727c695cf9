"""One replay: the programs of a description with a seed, with its links' policies or with links that never sleep."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any, Final

from eee_testbed.simulation.description import Description, Links
from eee_testbed.simulation.energy import StateShares, shares_of
from eee_testbed.simulation.facts import facts_of
from eee_testbed.simulation.point import BrokenSimulation
from eee_testbed.simulation.replay.jobs import Programs
from eee_testbed.simulation.replay.machine import begin_replay

if TYPE_CHECKING:
    from eee_engine import ProgramReplay

_TURNS: Final = 200_000
"""Moments between looks at the clock: some tens of milliseconds."""

_SAY_EVERY_S: Final = 10.0
_SHOWN: Final = 5
"""Ranks that are named when nothing goes on."""

_NS_PER_S: Final = 1e9
LINK_FIGURES: Final = (
    "from_router",
    "port",
    "transmit_cycles",
    "idle_cycles",
    "sleep_cycles",
    "quiet_cycles",
    "refresh_cycles",
    "fast_cycles",
    "wake_cycles",
    "off_cycles",
    "turning_on_cycles",
    "wakes",
    "sleeps",
)
"""Of a channel, as the engine has them."""

_AWAKE: Final = Links()

Say = Callable[[str], None]


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class JobRun:
    """A run of a job that ended: seconds of simulated time."""

    job: int
    run: int
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay gave. Shares are of the time of channels; `run_time_s` is that of the longest first run."""

    seed: int
    sleeping: bool
    """Whether links slept or were turned off as described; else they were always on."""

    run_time_s: float
    """When the last job had ended once."""

    calls: int
    messages: int
    sent_byte: int
    local_byte: int
    """Of those, between ranks of a node."""

    hops: int
    """Links between routers that packets took."""

    compute_share: float
    """Mean over ranks, of their time up to their end."""

    wait_share: float
    cpu_use: float
    """Mean over all nodes and the cores of each, over the run time (U_cpu of Andújar et al. 2023, Eq. 4)."""

    packets: int
    """That messages were cut into, with those on their way at the end."""

    packet_cycles: int
    """Their latencies added up: from a packet's turn at its node's channel to its tail's arrival, or to the end."""

    control_packets: int
    """Of TCEP."""

    path_wakes: int
    """Wakes of links that the chain of messages waited for on which the last rank's end hung."""

    path_compute_s: float
    path_messages: int
    unexpected_share: float
    """Of messages that came before their receive was posted: these hide wakes."""

    most_unexpected: int
    most_posted: int
    unmatched_receives: int
    unmatched_messages: int
    channels: int
    """Between routers."""

    carried_channels: int
    """Of those, the ones that carried anything."""

    shares: StateShares
    carried_shares: StateShares
    node_shares: StateShares
    """Of channels to and from nodes."""

    process_s: float
    """Processor time of the replay."""

    runs: Sequence[JobRun] = field(default=())
    ranks: dict[str, list[int | None]] = field(default_factory=dict)
    """A column a figure, in ticks, a row a rank."""

    links: dict[str, list[int]] = field(default_factory=dict)
    """A column a figure (`LINK_FIGURES`), in cycles, a row a channel between routers that carried anything."""

    def time_ratio(self, other: "Replayed") -> float:
        """Its run time by another's; 1 if the other, as a program without time and network, takes none."""
        return self.run_time_s / other.run_time_s if other.run_time_s else 1.0


@dataclass(frozen=True, slots=True)
class ReplayTask:
    """A replay that is to be simulated, by whichever process."""

    description: Description
    seed: int
    sleeping: bool

    def __str__(self) -> str:
        return f"seed {self.seed}, links {'as described' if self.sleeping else 'always on'}"

    def simulate(self) -> Replayed:
        """The result; progress is said on standard error. BrokenSimulation as `replay`."""

        def say(line: str) -> None:
            _to_stderr(f"{self}: {line}")

        return replay(self.description, self.seed, sleeping=self.sleeping, say=say)


def replay(description: Description, seed: int, *, sleeping: bool, say: Say = _to_stderr) -> Replayed:
    """Replay a description's programs until every job has ended once.

    `say` gets a line now and then: simulated time, messages, share done, an estimate of the end; and, with links always
    on, the first receives and messages that nobody met. BrokenSimulation if the parts do not fit together, or if ranks
    wait for what never comes.
    """
    programs = description.programs
    if programs is None:
        raise BrokenSimulation(f"{description.name} has no programs: write programs: with jobs.")
    links = description.policies if sleeping else (_AWAKE,) * 3
    began = process_time()
    simulation = begin_replay(description, programs, links, seed, gates=sleeping)
    _run(description, programs, simulation, say)
    for line in simulation.left_over() if not sleeping else ():
        say(f"without a partner: {line}")
    return _result(description, programs, simulation, (seed, sleeping), process_time() - began)


def _run(description: Description, programs: Programs, simulation: "ProgramReplay", say: Say) -> None:
    began_s = last_s = monotonic()
    while (state := simulation.advance(_TURNS)) == "running":
        now_s = monotonic()
        if now_s - last_s >= _SAY_EVERY_S:
            last_s = now_s
            say(_progress(simulation, programs, now_s - began_s))
    if state == "stuck":
        raise BrokenSimulation(f"{description.name}: {_stuck(simulation)}")


def _progress(simulation: "ProgramReplay", programs: Programs, spent_s: float) -> str:
    found = simulation.progress()
    share = found["calls"] / max(found["calls_in_all"], 1)
    left = f", about {spent_s * (1 - share) / share:.0f} s left" if share > 0 else ""
    simulated_ms = found["now_ticks"] * programs.cycle_ns / 1e6
    return f"{simulated_ms:.3f} ms simulated, {found['messages']} messages, {100 * share:.1f} % of the calls{left}"


def _stuck(simulation: "ProgramReplay") -> str:
    """Who waits for what, in a sentence."""
    waiting = simulation.waiting(_SHOWN + 1)
    said = "; ".join(
        f"job {one['job']} rank {one['rank']}, call {one['call']}: {one['what']}" for one in waiting[:_SHOWN]
    )
    more = "; and more" if len(waiting) > _SHOWN else ""
    return f"ranks wait for what never comes ({said}{more}): the program cannot end like this; look at these calls."


def _result(
    description: Description, programs: Programs, simulation: "ProgramReplay", which: tuple[int, bool], process_s: float
) -> Replayed:
    ranks: dict[str, Any] = simulation.ranks()
    channels = simulation.channels()
    carried = [one for one in channels if one["transmit_cycles"]]
    progress = simulation.progress()
    jobs = range(progress["jobs"])
    tick_s = programs.cycle_ns / _NS_PER_S
    runs = [
        JobRun(job, number, begin * tick_s, end * tick_s)
        for job in jobs
        for number, (begin, end) in enumerate(simulation.runs(job))
    ]
    ticks = max(progress["now_ticks"], 1)
    last = max(range(len(ranks["rank"])), key=lambda index: ranks["finished_ticks"][index] or 0)
    seen = sum(ranks["expected_messages"]) + sum(ranks["unexpected_messages"])
    nodes = facts_of(description.network.form())["nodes"]
    seed, sleeping = which
    receives, messages = simulation.unmatched()
    packets = simulation.packets()
    return Replayed(
        seed=seed,
        sleeping=sleeping,
        run_time_s=max(run.end_s for run in runs if run.run == 0),
        calls=progress["calls"],
        messages=progress["messages"],
        sent_byte=sum(ranks["bytes"]),
        local_byte=sum(ranks["local_bytes"]),
        hops=simulation.packet_hops(),
        compute_share=_mean_share(ranks["compute_ticks"], ranks["finished_ticks"]),
        wait_share=_mean_share(ranks["wait_ticks"], ranks["finished_ticks"]),
        cpu_use=sum(ranks["compute_ticks"]) / (ticks * nodes * programs.cores),
        packets=packets["packets"],
        packet_cycles=packets["latency_cycles"],
        control_packets=packets["control_packets"],
        path_wakes=ranks["path_wakes"][last],
        path_compute_s=ranks["path_compute_ticks"][last] * tick_s,
        path_messages=ranks["path_messages"][last],
        unexpected_share=sum(ranks["unexpected_messages"]) / seen if seen else 0.0,
        most_unexpected=max(ranks["most_unexpected"]),
        most_posted=max(ranks["most_posted"]),
        unmatched_receives=receives,
        unmatched_messages=messages,
        channels=len(channels),
        carried_channels=len(carried),
        shares=shares_of(channels),
        carried_shares=shares_of(carried),
        node_shares=shares_of(simulation.node_channels()),
        process_s=process_s,
        runs=runs,
        ranks=ranks,
        links={name: [one[name] for one in carried] for name in LINK_FIGURES},
    )


def _mean_share(part: Sequence[int], whole: Sequence[int | None]) -> float:
    """Mean over ranks that have ended."""
    shares = [own / end for own, end in zip(part, whole, strict=True) if end]
    return sum(shares) / len(shares) if shares else 0.0
