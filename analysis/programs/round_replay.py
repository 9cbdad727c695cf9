"""Run time under EEE by replaying a program's rounds: whether a link sleeps depends on the rounds before.

The closed form (`programs.run_time`) takes every gap as it was without EEE. But a link that waited in one round begins
the next gap later, and one that did not is idle for longer. Near the hold, waits therefore alternate and cause each
other: there are far more, or fewer, than the gaps without EEE predict. Here rounds are simulated one after the other:

* A node starts a round when it ended the last one, plus a scatter: how much its round-leading gaps vary about their
  median.
* A link's first frame comes from the first node that sends to it. If the link was idle for longer than its hold, this
  frame waits as the policy says (hold, Ts, Tw), and all frames behind it queue.
* Nodes send to the others in turn, so frames arrive in the order of their senders' distance, each after the link was
  busy with the one before. A node ends its round when the last frame has arrived, and not before it began.

The gaps that lead a round are the longest ones, one for each round; the waits of shorter gaps are added. The overhead
is how much longer the simulation takes with the policy than without. One factor is fitted, `serial`: how many such
waits in series a round has; a single exchange has 1.

Simplifications: all nodes take part in every round; messages are in the order of a linear Alltoall. Programs that
communicate with few neighbours wait for fewer links, which `serial` accounts for only on average.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Floats, Interval, NotEnoughData
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.programs.profile import Direction, Gaps, Profile

_REPLICAS: Final = 40
_ROUNDS: Final = 400
_BURN_IN: Final = 20
_LEAST_RUNS: Final = 4
_LEAST_NODES: Final = 2
_BOOTSTRAPS: Final = 1000


@dataclass(frozen=True, slots=True)
class _Leading:
    """Gaps of one direction of a node's link: draws of those that lead a round, shape (rounds, replicas), and the rest.

    `rest_us` and `rest_count`: middles of the bins of all other gaps, and how many of each a round has.
    """

    gaps_us: Floats
    rest_us: Floats
    rest_count: Floats

    @classmethod
    def of(cls, gaps: Gaps, rounds: float, replicas: int, random: np.random.Generator) -> "_Leading":
        """The longest gaps lead, one for each round."""
        low, high, count = (np.array(part, dtype=float) for part in (gaps.low_us, gaps.high_us, gaps.count))
        longer = np.cumsum(count[::-1])[::-1] - count  # how many gaps are in higher bins
        kept = np.clip(rounds - longer, 0.0, count)
        if not kept.sum():
            raise NotEnoughData("a link of the program has no recorded gaps: record them again while the program runs.")
        chosen = random.choice(len(kept), size=(_ROUNDS, replicas), p=kept / kept.sum())
        drawn = low[chosen] + (high - low)[chosen] * random.random((_ROUNDS, replicas))
        return cls(drawn, (low + high) / 2, (count - kept) / rounds)


@dataclass(frozen=True, slots=True)
class Replay:
    """The rounds of a program, to be simulated under any policies."""

    simulation: "_Simulation"
    awake_us: float
    leading: Mapping[Direction, Sequence[_Leading]]

    @classmethod
    def of(cls, profile: Profile, replicas: int = _REPLICAS) -> "Replay":
        """From a profile with bins in rising order and at least two nodes; the mean of `replicas` simulations is taken.

        NotEnoughData if the profile has no gaps, or does not say how often the program communicates.
        """
        rounds = profile.call_count / profile.ranks_per_host
        nodes = list(profile.gaps.values())
        if len(nodes) < _LEAST_NODES or not rounds:
            raise NotEnoughData(
                f"{profile.name} has gaps of {len(nodes)} nodes and {profile.call_count:g} communications: run it with "
                "the gap recorder, without EEE."
            )
        random = np.random.default_rng(0)
        receive = [_Leading.of(node.receive, rounds, replicas, random) for node in nodes]
        transmit = [_Leading.of(node.transmit, rounds, replicas, random) for node in nodes]
        gaps_us = np.stack([leading.gaps_us for leading in receive], axis=-1)
        recorded = _Simulation(
            scatter_us=gaps_us - np.median(gaps_us, axis=(0, 1)),
            receive_us=np.median(gaps_us, axis=(0, 1)),
            transmit_us=np.array([float(np.median(leading.gaps_us)) for leading in transmit]),
            busy_us=np.array([node.receive.busy_us for node in nodes]) / rounds / (len(nodes) - 1),
        )
        simulation = recorded.without_waits()
        return cls(simulation, float(simulation.round_us({})[0]), {"receive": receive, "transmit": transmit})

    def overhead_us(self, policies: Mapping[Direction, Policy]) -> Floats:
        """How long a round waits with `serial` 1, shape (draws,).

        Fields of a policy are numbers, or of shape (draws, 1); all draws use the same random scatter.
        """
        rest_us: Floats = np.zeros(1)
        for direction, policy in policies.items():
            waits = [
                policy.delay_us(leading.rest_us[None, :]) @ leading.rest_count for leading in self.leading[direction]
            ]
            rest_us = rest_us + np.mean(waits, axis=0)
        # The first of three axes is that of draws; replicas and nodes follow.
        deeper = {
            direction: policy.shaped(lambda values: values[..., None] if values.ndim else values)
            for direction, policy in policies.items()
        }
        simulated_us = self.simulation.round_us(deeper)
        overhead_us: Floats = np.maximum(simulated_us - self.awake_us, 0.0) + rest_us
        return overhead_us


@dataclass(frozen=True, slots=True)
class _Simulation:
    """Shapes: scatter (rounds, replicas, nodes), all others (nodes,). `busy_us`: one sender's time at a link."""

    scatter_us: Floats
    receive_us: Floats
    transmit_us: Floats
    busy_us: Floats

    def without_waits(self) -> "_Simulation":
        """With the gaps shifted so that a simulation without any policy has the recorded medians.

        The recorded gaps already include that the first of several frames is early and the last one late.
        """
        steps = list(self._steps({}))[_BURN_IN:]
        receive_us = self.receive_us - np.median(np.stack([step.receive_us for step in steps]), axis=(0, 1))
        transmit_us = self.transmit_us - np.median(np.stack([step.transmit_us for step in steps]), axis=(0, 1))
        return replace(self, receive_us=self.receive_us + receive_us, transmit_us=self.transmit_us + transmit_us)

    def round_us(self, policies: Mapping[Direction, Policy]) -> Floats:
        """How much longer a round takes than without scatter and waits, shape (draws,)."""
        marks = [step.start_us.mean(axis=(-2, -1)) for step in self._steps(policies)]
        return np.atleast_1d((marks[-1] - marks[_BURN_IN]) / (len(marks) - 1 - _BURN_IN))

    def _steps(self, policies: Mapping[Direction, Policy]) -> Iterator["_Step"]:
        """Round after round. Times are relative to a schedule without scatter and waits."""
        nodes = len(self.busy_us)
        turns = np.array([[(to - by) % nodes - 1 for by in range(nodes)] for to in range(nodes)])
        offset_us = np.where(turns < 0, np.inf, turns * self.busy_us[:, None])
        start = sent = ended = np.zeros(self.scatter_us.shape[1:])
        for scatter_us in self.scatter_us:
            start = start + scatter_us
            transmit_us = self.transmit_us + start - sent
            sent = start
            if "transmit" in policies:
                sent = start + policies["transmit"].delay_us(transmit_us)
            arrivals = np.sort(sent[..., None, :] + offset_us, axis=-1)
            receive_us = self.receive_us + arrivals[..., 0] - ended
            free = arrivals[..., 0] + self.busy_us
            if "receive" in policies:
                free = free + policies["receive"].delay_us(receive_us)
            for sender in range(1, nodes - 1):
                free = np.maximum(free, arrivals[..., sender]) + self.busy_us
            ended = free - (nodes - 1) * self.busy_us
            start = np.maximum(ended, start)
            yield _Step(start, receive_us, transmit_us)


@dataclass(frozen=True, slots=True)
class _Step:
    """When the nodes have ended a round, and the gaps before it; shape (replicas, nodes), after (draws,) if any."""

    start_us: Floats
    receive_us: Floats
    transmit_us: Floats


@dataclass(frozen=True, slots=True)
class RoundRun:
    """One configuration: run time without EEE, rounds, a round's wait by the replay; run time with EEE, if measured."""

    base_s: float
    rounds: float
    wait_us: float
    eee_s: float = float("nan")


def round_run(profile: Profile, policies: Mapping[Direction, Policy], eee_s: float = float("nan")) -> RoundRun:
    """From a program's profile and the policies of the directions that sleep."""
    rounds = profile.call_count / profile.ranks_per_host
    return RoundRun(profile.base_s.value, rounds, float(Replay.of(profile).overhead_us(policies)[0]), eee_s)


@dataclass(frozen=True, slots=True)
class RoundFit:
    """`serial` with its 95 % interval (bootstrap over configurations).

    `residual_us` is the standard deviation of a round's overhead about the model; `explained` is R2 of the overheads.
    """

    serial: Interval
    residual_us: float
    explained: float
    runs: int

    def time_s(self, run: RoundRun) -> float:
        """Run time under EEE."""
        return run.base_s + run.rounds * self.serial.value * run.wait_us * 1e-6


def fit_rounds(runs: Iterable[RoundRun]) -> RoundFit:
    """Least squares of the relative errors of run times.

    NotEnoughData with fewer than four configurations, or if the replay has none of them wait.
    """
    measured = [run for run in runs if np.isfinite(run.eee_s)]
    waiting = [run for run in measured if run.wait_us > 0]
    if len(measured) < _LEAST_RUNS or len(waiting) < 2:
        raise NotEnoughData(
            f"{len(measured)} configurations with and without EEE, of which {len(waiting)} wait for a link, are too "
            "few: measure some with gaps longer than the hold."
        )
    random = np.random.default_rng(0)
    numbers = random.integers(len(measured), size=(_BOOTSTRAPS, len(measured)))
    drawn = [_least([measured[number] for number in row]) for row in numbers]
    low, high = np.nanpercentile(drawn, (2.5, 97.5))
    serial = _least(measured)
    over_us = np.array([(run.eee_s - run.base_s) / run.rounds * 1e6 for run in measured])
    left_us = over_us - serial * np.array([run.wait_us for run in measured])
    spread = float(((over_us - over_us.mean()) ** 2).sum())
    return RoundFit(
        Interval.about(serial, low, high),
        float(np.sqrt((left_us**2).sum() / (len(measured) - 1))),
        1.0 - float((left_us**2).sum()) / spread if spread > 0 else 0.0,
        len(measured),
    )


def _least(runs: Sequence[RoundRun]) -> float:
    """The best `serial`; NaN if no run waits."""
    slowdowns = np.array([1.0 - run.base_s / run.eee_s for run in runs])
    shape = np.array([run.rounds * run.wait_us * 1e-6 / run.eee_s for run in runs])
    norm = float(shape @ shape)
    return max(float(shape @ slowdowns) / norm, 0.0) if norm > 0 else float("nan")
