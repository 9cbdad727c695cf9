"""Run time and energy of a recorded program on a network, for what-if questions, with a calibration's intervals.

Each question is replayed at the calibration's values, then at draws of hold, Ts and Tw from their intervals (those of
`analysis.predict.sampling`; all links have the same times). The k-th draw takes the seeds in turn, so that the spread
also has that of the seeds. An interval is Student's, about the value, with the deviation of all replays of a question.
Watts have the draws of the power model besides; joules and savings combine both as independent errors.

Power is that of the calibration's switch if its ports were measured at the network's rate, else that of Andujar's
model; nodes go with it (`simulation.replay.node_power`). Simplification: a policy is that of the calibration's first
link, also on cards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.predict.asked_mode import AskedMode, asked_mode
from eee_testbed.analysis.predict.best_hold import BestPolicy
from eee_testbed.analysis.predict.other_networks import PAPER_POWER
from eee_testbed.analysis.predict.prediction import Prediction
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.what_if import PHYS, WhatIf, parse_what_if
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Description, Links
from eee_testbed.simulation.link_times import link_times
from eee_testbed.simulation.pool import Pool, finished
from eee_testbed.simulation.power_models import Carried, ModelPower, andujar, fitted
from eee_testbed.simulation.replay.carried import carried_of, measured_mbps, packet_bits
from eee_testbed.simulation.replay.comparison import utilization
from eee_testbed.simulation.replay.node_power import by_load, by_use, running_nodes, unknown_of
from eee_testbed.simulation.replay.on_network import node_links_follow, rate_mbps, size_of
from eee_testbed.simulation.replay.replayed import Replayed, ReplayTask
from eee_testbed.simulation.replay.results import ReplayResults
from eee_testbed.simulation.replay.search import Asked, Search, best
from eee_testbed.simulation.spreads import DRAWS, around, product, spread, total
from eee_testbed.simulation.worker import Simulated

Done = Callable[[Asked, Simulated[Replayed]], None]
"""Called with each replay when it is on the disk."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A what-if: replays with links always on and as asked, in pairs of the same seed; the first is at the values."""

    what_if: WhatIf
    mode: AskedMode
    pairs: Sequence[tuple["_Key", "_Key"]]
    unbounded: frozenset[str]

    def warnings(self, calibration: Calibration) -> list[str]:
        warnings = list(self.mode.warnings)
        if self.unbounded:
            names = ", ".join(sorted(self.unbounded))
            warnings.append(f"the measurements set no bound to {names}: draws do not go beyond the value.")
        if self.what_if.saves and calibration.power.note:
            warnings.append(calibration.power.note)
        return warnings


_Key = tuple[Links, int]
"""A replay: policy of links, and seed."""


class NetworkReplays:
    """Answers questions about the programs of a description; replays are kept in a folder, which continues."""

    def __init__(self, description: Description, folder: Path, calibration: Calibration, draws: int = DRAWS) -> None:
        self._description = description
        self._folder = folder
        self._calibration = calibration
        self._draws = draws
        programs = description.programs
        if programs is None:
            raise LabError(f"{description.name} has no programs: write programs: with jobs.")
        self._programs = programs
        self._cycle_us = programs.cycle_ns / 1e3
        self._nodes_too = node_links_follow(description)
        self._asked: dict[_Key, Asked] = {}

    def links_of(self, mode: AskedMode, draw: int) -> Links:
        """The policy of links in a draw of a mode."""
        return link_times(mode, draw).links(self._cycle_us)

    def mode_of(self, asked: WhatIf, sampler: Sampler) -> AskedMode:
        """The mode that a question asks for; LabError for one that replays do not have."""
        if asked.off_links or asked.speed_mbps or asked.mode == "coalescing":
            raise LabError(f"'{asked.text}': replays have neither links off or slower nor coalescing: leave it out.")
        mode = asked_mode(asked, next(iter(self._calibration.links.values()), None), sampler)
        if np.any(np.asarray(mode.policy.wait_us) > 0):
            raise LabError(f"'{asked.text}': links that coalesce are not replayed: ask for deep,hold_us=...")
        return mode

    def answer(self, asked: Sequence[WhatIf], pool: Pool, done: Done) -> tuple[Prediction, ...]:
        """Replay what is missing, and answer every question."""
        questions = [self._question(what_if) for what_if in asked]
        every = dict.fromkeys(key for what_if in questions for pair in what_if.pairs for key in pair)
        for key in every:
            self._asked.setdefault(key, self._replay_of(*key))
        wanted = [self._asked[key] for key in every]
        for what_if, simulated in finished(
            pool, [(what_if, what_if.task) for what_if in wanted if what_if.find() is None]
        ):
            with what_if.results.alone():
                what_if.results.add(simulated.result)
            done(what_if, simulated)
        return tuple(self._answered(what_if) for what_if in questions)

    def best(self, phy: str, bound_percent: float, pool: Pool, done: Done) -> BestPolicy:
        """Try modes and holds at the values of their times, and answer for the best one within the bound."""
        timed = self._timed(phy)
        description = self._description.model_copy(update={"links": timed})
        search = Search(description, self._folder / "best", nodes_too=self._nodes_too)
        tried = search.run(pool, done)
        chosen = best(tried, bound_percent)
        within = sum(one.slowdown_percent <= bound_percent for one in tried)
        if chosen is None or chosen.energy_percent >= 0:
            return BestPolicy(bound_percent, len(tried), within, None)
        after = chosen.mode == "hybrid"
        text = f"{chosen.mode},hold_us={self._us(chosen.hold)}"
        text += f",deep_after_us={self._us(timed.deep_after)}" if after else ""
        (prediction,) = self.answer([parse_what_if(text + (f",phy={phy}" if phy else ""))], pool, done)
        return BestPolicy(bound_percent, len(tried), within, prediction)

    def _us(self, cycles: int) -> str:
        return f"{cycles * self._cycle_us:.6g}"

    def _timed(self, phy: str) -> Links:
        """Times of every mode that the calibration, or the standard of a PHY, has."""
        link = next(iter(self._calibration.links.values()), None)
        fast = PHYS[phy].fast_wake_us > 0 if phy else link is not None and link.fast_wake_us is not None
        after = None if link is None or phy else link.deep_after_us
        behind = f",phy={phy}" if phy else ""
        modes = [f"deep,hold_us=0{behind}", *([f"fast,hold_us=0{behind}"] if fast else [])]
        deep, *others = (self.links_of(self.mode_of(parse_what_if(text), Sampler(1)), 0) for text in modes)
        changes = {} if after is None else {"deep_after": round(after.value / self._cycle_us)}
        for one in others:
            changes["fast_wake"] = one.fast_wake
        return deep.model_copy(update=changes)

    def _question(self, asked: WhatIf) -> _Question:
        sampler = Sampler(1 + self._draws)
        mode = self.mode_of(asked, sampler)
        seeds = list(dict.fromkeys(self._description.seeds))
        pairs = {}
        for draw in range(1 + max(self._draws, len(seeds) - 1)):
            links, seed = self.links_of(mode, min(draw, self._draws)), seeds[draw % len(seeds)]
            pairs[links, seed] = (Links(), seed), (links, seed)
        return _Question(asked, mode, list(pairs.values()), frozenset(sampler.unbounded))

    def _replay_of(self, links: Links, seed: int) -> Asked:
        description = with_policy(self._description, links, nodes_too=self._nodes_too)
        times = links.model_dump()
        name = "-".join(str(times[key]) for key in _TIMES) if links != Links() else "always-on"
        return Asked(
            ReplayResults(self._folder / name, description), ReplayTask(description, seed, sleeping=links != Links())
        )

    def _answered(self, question: _Question) -> Prediction:
        found = [tuple(self._asked[key].find() for key in pair) for pair in question.pairs]
        pairs = [(awake, asleep) for awake, asleep in found if awake is not None and asleep is not None]
        sleeps = [asleep for _, asleep in pairs]
        time_s = spread([one.run_time_s for one in sleeps], least=0.0)
        slower = spread([asleep.time_ratio(awake) for awake, asleep in pairs], least=0.0)
        power, nodes_watt, warnings = self._power(sleeps)
        watt = power.watt
        all_watt = None if watt is None or nodes_watt is None else total(watt, nodes_watt)
        energy = product(power.ratio, slower)
        return Prediction(
            what_if=question.what_if,
            where=self._description.name,
            time_s=time_s,
            slowdown_percent=slower.above_percent,
            rest_percent=spread([100 * self._rest(one) for one in sleeps], least=0.0, most=100.0),
            network_watt=watt,
            network_joule=None if watt is None else product(watt, time_s),
            all_joule=None if all_watt is None else product(all_watt, time_s),
            saved_percent=energy.below_percent,
            warnings=(*question.warnings(self._calibration), *self._cards(question), *warnings),
        )

    def _cards(self, question: _Question) -> list[str]:
        awake = question.what_if.saves and self._nodes_too and self._description.card_links == Links()
        return ["links from nodes to switches stay awake, as the measured cards did."] if awake else []

    def _rest(self, replayed: Replayed) -> float:
        """Share of the links' time in low power: those to nodes count if they have the policy."""
        _, nodes, links = size_of(self._description)
        nodes = nodes if self._nodes_too else 0
        count = max(nodes + links, 1)
        return (nodes * replayed.node_shares.low_power + links * replayed.shares.low_power) / count

    def _power(self, replays: Sequence[Replayed]) -> tuple[ModelPower, Interval | None, list[str]]:
        """The network's, that of all nodes, and what is doubtful about them."""
        carried = [carried_of(self._description, replayed) for replayed in replays]
        switch = next(iter(self._calibration.power.switches.values()), None)
        nearest = None if switch is None else measured_mbps(self._description, switch)
        if switch is not None and nearest is not None:
            return fitted(carried, switch, nearest, packet_bits(self._description)), *self._nodes_by_load(carried)
        known = self._calibration.power.andujar
        every = [andujar(replayed, known or PAPER_POWER) for replayed in carried]
        source = "the paper's" if known is None else "the calibration's"
        mbps = round(rate_mbps(self._description))
        said = f"no switch's ports were measured at {mbps} Mb/s: watts are {source} by Andujar's model."
        ratio = around([replayed.ratio for replayed in every])
        watt = around([replayed.watt for replayed in every if replayed.watt is not None])
        nodes_watt = around(
            [by_use(carried[0].nodes, utilization(replayed), known or PAPER_POWER) for replayed in replays]
        )
        return ModelPower("Andujar", ratio, watt), nodes_watt, [said]

    @cached_property
    def _running(self) -> int:
        """Nodes that run a program: jobs' files are read for it, once for all questions."""
        _, nodes, _ = size_of(self._description)
        return running_nodes(self._programs, nodes)

    def _nodes_by_load(self, carried: Sequence[Carried]) -> tuple[Interval | None, list[str]]:
        known = self._calibration.power.nodes
        if not known:
            return None, ["no node's power was fitted: energy is that of the network alone."]
        watt = around([by_load(one.nodes, self._running, one.node_shares, known) for one in carried])
        return watt, unknown_of(known, carried[0].node_shares)


_TIMES: Final = ("mode", "hold", "sleep", "wake", "wake_during_sleep", "fast_wake", "deep_after")
"""Name the folder of a policy's replays."""


def with_policy(description: Description, links: Links, *, nodes_too: bool) -> Description:
    """With a policy of links between switches, and of links to nodes, too, if they have none of their own."""
    changes = {"links": links} | ({"node_links": links} if nodes_too else {})
    return description.model_copy(update=changes)
