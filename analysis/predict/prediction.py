"""Run time and energy of a program in a lab, with intervals, for what-if questions (`predict.what_if`).

Parameters are drawn from their intervals (`predict.sampling`), with the same draws for every question, so that answers
differ only by the questions. Warnings say where an answer goes beyond measurements.

A longer hold does not always cost less time. A frame that arrives while a link falls asleep also waits for the rest of
Ts; if most gaps are somewhat longer than the hold, a longer hold can make them end in Ts: at 1 Gb/s, with a Ts of
182 us, this costs ten times a wake. With Ts = 0, as in fast wake, a longer hold never costs more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.interval import Floats, Interval, of_samples
from eee_testbed.analysis.predict.asked_mode import asked_mode
from eee_testbed.analysis.predict.power import Asked, Power, Rest, power_of, rest_of
from eee_testbed.analysis.predict.run_time import GapTable, Replays, RunTime, program_time, run_time
from eee_testbed.analysis.predict.sampling import DRAWS, Sampler
from eee_testbed.analysis.predict.site import Load, Site, load_of
from eee_testbed.analysis.predict.what_if import WhatIf
from eee_testbed.analysis.programs.profile import Profile
from eee_testbed.analysis.programs.sleeping_links import link_of, sleeping_directions

_OFF = WhatIf("off", "off")


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer. Energies are None if no power was fitted; `saved_percent` is the network's, against EEE off.

    `rest_percent` is the share of time of the nodes' links in low power, both kinds together.
    """

    what_if: WhatIf
    where: str
    time_s: Interval
    slowdown_percent: Interval
    rest_percent: Interval
    network_watt: Interval | None = None
    network_joule: Interval | None = None
    all_joule: Interval | None = None
    saved_percent: Interval | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Draws of an answer; the first of each is at the parameters' values.

    `open_time`, `open_power`: parameters with unbounded intervals that it depends on.
    """

    time: RunTime
    rest: Rest
    power: Power | None
    warnings: tuple[str, ...]
    open_time: frozenset[str] = frozenset()
    open_power: frozenset[str] = frozenset()


@dataclass
class Predictor:
    """Answers questions about one program in one lab; without a lab, only about its run time."""

    profile: Profile
    calibration: Calibration
    site: Site | None = None
    draws: int = DRAWS

    def predict(self, what_if: WhatIf) -> Prediction:
        """Answer a question; LabError if the lab lacks a link that it names."""
        base = self.base
        answer = base if what_if == _OFF else self.answer(what_if)
        where = self.site.name if self.site is not None else self.profile.lab
        return summary(what_if, where, answer, base)

    @cached_property
    def base(self) -> Answer:
        """Draws with EEE off and all links up."""
        return self.answer(_OFF)

    @cached_property
    def gaps(self) -> GapTable:
        """All gaps of the program's links."""
        return GapTable.of(self.profile)

    @cached_property
    def replays(self) -> Replays | None:
        """The program's rounds, replayed."""
        return Replays.of(self.profile)

    def answer(self, what_if: WhatIf) -> Answer:
        """Draws for a question."""
        fitted = program_time(self.calibration, self.profile)
        link = link_of(self.calibration, self.profile, fitted)
        sampler = Sampler(self.draws)
        mode = asked_mode(what_if, link, sampler)
        gaps = self.gaps
        directions = sleeping_directions(link, self.profile)
        replays = self.replays if fitted is not None and fitted.rounds is not None else None
        time = run_time(self.profile, gaps, what_if, mode, fitted, directions, sampler, replays)
        warnings = [*self._lab_warnings(), *mode.warnings, *time.warnings]
        if what_if.saves and link is not None and gaps.longest_us > link.largest_gap_us > 0:
            warnings.append(f"some gaps are longer than any that was probed ({link.largest_gap_us:.4g} us).")
        load = Load(0.0, 1.0)
        if self.site is not None:
            time, load = self._loaded(what_if, time, warnings)
        elif what_if.off_links or what_if.speed_mbps:
            warnings.append("without the lab's inventory, links off or slower are ignored: give --lab.")
        rest = rest_of(gaps, mode, time.time_s, directions) if what_if.saves else _no_rest(self.draws)
        watts = Sampler(self.draws)
        power = None
        if self.site is not None:
            off = frozenset(link.number for link in self.site.links_named(what_if.off_links))
            asked = Asked(self.profile, what_if, off, mode, rest, load, time.time_s)
            power = power_of(self.site, self.calibration, asked, watts)
            warnings += power.warnings
            if power.network_watt is not None and self.calibration.power.note:
                warnings.append(self.calibration.power.note)
        opened = sorted(sampler.unbounded | watts.unbounded)
        if opened:
            warnings.append(
                f"the measurements set no bound to {', '.join(opened)}: intervals that depend on it have none either."
            )
        return Answer(time, rest, power, tuple(warnings), frozenset(sampler.unbounded), frozenset(watts.unbounded))

    def _lab_warnings(self) -> Sequence[str]:
        profile, calibration = self.profile, self.calibration
        if profile.lab and profile.lab != calibration.lab:
            return (f"the program ran on lab {profile.lab}, the calibration is of lab {calibration.lab}.",)
        return ()

    def _loaded(self, what_if: WhatIf, time: RunTime, warnings: list[str]) -> tuple[RunTime, Load]:
        """Run time with links off or slower: longer by at most the extra time of the busiest link."""
        site = self.site
        if site is None:
            return time, Load(0.0, 1.0)
        pairs, assumed = _bytes_by_pair(self.profile)
        now = load_of(site, pairs)
        if not what_if.off_links and what_if.speed_mbps is None:
            return time, now
        later = load_of(site, pairs, site.links_named(what_if.off_links), what_if.speed_mbps)
        if later.cut:
            warnings.append("with these links off, some of the program's nodes cannot reach each other: it cannot run.")
            never = np.full(self.draws, np.inf)
            return RunTime(time.base_s, never, time.warnings), now
        if assumed:
            warnings.append(
                "the traffic matrix was not recorded: all pairs of nodes are assumed to exchange equally much."
            )
        warnings.append(
            "links off or slower were not measured with this program: its time is between that of its busiest link "
            "and the time with all links, plus the extra time of that link."
        )
        longer_s = max(later.busiest_s - now.busiest_s, 0.0)
        part = Sampler(self.draws).uniform("overlap", 0.0, 1.0)
        part[0] = 1.0
        least_s = np.maximum(time.time_s, later.busiest_s)
        most_s = np.maximum(time.time_s + longer_s, least_s)
        return RunTime(time.base_s, least_s + (most_s - least_s) * part, time.warnings), later


def _no_rest(draws: int) -> Rest:
    return Rest(np.zeros(draws), np.zeros(draws))


def _bytes_by_pair(profile: Profile) -> tuple[dict[tuple[str, str], float], bool]:
    """Bytes from node to node, and whether they are assumed to be even, as no matrix was recorded."""
    pairs: dict[tuple[str, str], float] = {}
    hosts, each = profile.hosts, profile.ranks_per_host
    if profile.traffic is not None and len(profile.traffic.bytes) == len(hosts) * each:
        for source, row in enumerate(profile.traffic.bytes):
            for target, size_byte in enumerate(row):
                key = hosts[source // each], hosts[target // each]
                pairs[key] = pairs.get(key, 0.0) + size_byte
        return pairs, False
    sent_byte = profile.call_count * profile.message_byte / max(len(hosts) - 1, 1)
    return {(a, b): sent_byte for a in hosts for b in hosts if a != b}, True


def summary(what_if: WhatIf, where: str, answer: Answer, base: Answer) -> Prediction:
    """Intervals of an answer's draws."""
    power, before = answer.power, base.power
    open_time, open_power = bool(answer.open_time), bool(answer.open_power | answer.open_time)
    watt = None if power is None else power.network_watt
    joule = None if watt is None else watt * answer.time.time_s
    every = None
    if power is not None and joule is not None and power.nodes_watt is not None:
        every = joule + power.nodes_watt * answer.time.time_s
    saved = None
    if joule is not None and before is not None and before.network_watt is not None:
        with np.errstate(invalid="ignore"):
            saved = 100 * (1 - joule / (before.network_watt * base.time.time_s))
    return Prediction(
        what_if,
        where,
        interval_of(answer.time.time_s, opened=open_time),
        interval_of(answer.time.slowdown_percent, opened=open_time),
        interval_of(100 * answer.rest.share, opened=open_time),
        None if watt is None else interval_of(watt, opened=bool(answer.open_power)),
        None if joule is None else interval_of(joule, opened=open_power),
        None if every is None else interval_of(every, opened=open_power),
        None if saved is None else interval_of(saved, opened=open_power, least=float("-inf")),
        tuple(dict.fromkeys(answer.warnings)),
    )


def interval_of(samples: Floats, *, opened: bool, least: float = 0.0) -> Interval:
    """The first draw with the 95 % interval of all; unbounded if a parameter is."""
    value = float(samples[0])
    if not np.isfinite(samples).all():
        return Interval(value, min(least, value), float("inf")) if np.isfinite(value) else Interval(*[float("inf")] * 3)
    if opened:
        return Interval(value, min(least, value), float("inf"))
    interval = of_samples(samples)
    return Interval.about(value, interval.low, interval.high)
