"""Andújar et al. (2023): what they state of sixteen networks and three sets of programs, and how points are held to it.

Lines are those of the paper's text. No value of its figures is printed there, so that statements are about order and
sign. Means are over seeds; a choice that is not told apart from the best one (95 % interval of the ratio, seed by seed)
counts as best.
"""

from collections.abc import Callable, Sequence
from typing import Final

from eee_testbed.analysis.report.findings.finding import listed
from eee_testbed.simulation.replay.comparison import over_seeds, utilization
from eee_testbed.simulation.studies.arithmetic import (
    break_even_slowdown,
    cpu_use_of_share,
    least_makespan_s,
    most_network_saving,
    network_share,
)
from eee_testbed.simulation.studies.pairs import Pair, by, where
from eee_testbed.simulation.studies.statement import (
    Judge,
    Statement,
    StudyData,
    Verdict,
    missing_points,
    settled,
    shown,
    span,
)

SMALL: Final = ("3D", "2D", "k4-n3", "k8-n2", "D72", "D80")
LARGE: Final = ("4D", "3D-256", "4D-320", "3D-320", "k4-n4", "k16-n2", "k18-n2", "D272", "D312", "D342")
_DRAGONFLIES: Final = frozenset({"D72", "D80", "D272", "D312", "D342"})
_SETS: Final = ("low", "mid", "high")
_SUFFIX: Final = {"always-on": "", "pdt-10": "-P", "pdt-100": "-PH"}
_RATES: Final = {"10 GB/s": 10e9, "10 Gb/s": 1.25e9}
_ROUNDING: Final = 1e-9
"""Percent of the run time: a point that neither saves nor slows down, but for rounding, is at its break-even."""
_OTHERWISE: Final = (
    "programs here are generated, with few iterations and assumed compute times, and tori are not adaptive: which "
    "network wins depends on how long programs compute"
)

Figure = Callable[[Pair], float]
_FIGURES: Final[dict[str, Figure]] = {
    "E_net": lambda one: one.network_joule,
    "E_cluster": lambda one: one.cluster_joule,
    "run time": lambda one: one.run_time_s,
}


def name_of(pair: Pair) -> str:
    """As in the paper's figures: D80-P sleeps after 10 us, D80-PH after 100 us."""
    return pair.labels["network"] + _SUFFIX.get(pair.labels["links"], f"-{pair.labels['links']}")


def _ratios(pairs: Sequence[Pair], others: Sequence[Pair], figure: Figure) -> list[float]:
    """In percent above the others', seed by seed."""
    theirs = {one.seed: figure(one) for one in others}
    return [100 * (figure(one) / theirs[one.seed] - 1) for one in pairs if one.seed in theirs]


def _winners(what: str, wanted: Sequence[str], networks: Sequence[str], sets: Sequence[str] = _SETS) -> Judge:
    """Whether one of the wanted choices is best, or not told apart from the best, in each of the sets."""
    figure = _FIGURES[what]

    def judge(data: StudyData) -> Verdict:
        words, holds = [], True
        for one in sets:
            groups = by(where(data.pairs, set=one, network=networks), "network", "links")
            found = {name_of(own[0]): own for own in groups.values()}
            means = {name: over_seeds([figure(pair) for pair in own]).value for name, own in found.items()}
            if not set(wanted) & means.keys() or len(means) < 2:
                return missing_points(f"set {one} on these networks")
            best = min(means, key=lambda name: means[name])
            mine = min((name for name in wanted if name in means), key=lambda name: means[name])
            above = over_seeds(_ratios(found[mine], found[best], figure))
            holds &= best == mine or above.low <= 0
            words.append(f"{one}: {best}" + ("" if best == mine else f" ({mine} {shown(above, '%')} above)"))
        return settled(holds=holds, ours="; ".join(words), otherwise=_OTHERWISE)

    return judge


def _network_energy_falls(data: StudyData) -> Verdict:
    found = {key: over_seeds([one.network_change_percent for one in own]) for key, own in _sleeping(data).items()}
    if not found:
        return missing_points("links that sleep")
    slow = [over_seeds([one.slowdown_percent for one in own]).value for own in _sleeping(data).values()]
    rises = sorted(key for key, one in found.items() if one.value >= 0)
    ours = f"E_net {span([one.value for one in found.values()], '%')}; run time {span(slow, '%')}"
    return settled(holds=not rises, ours=ours, otherwise=f"run time grows by more than power falls in {_cases(rises)}")


def _cases(keys: Sequence[Sequence[str]]) -> str:
    """How many, and the first of them: the page's points have all.

    >>> _cases([("3D", "low", "pdt-10")])
    '1: 3D/low/pdt-10'
    """
    return f"{len(keys)}: {listed(['/'.join(key) for key in keys])}"


def _sleeping(data: StudyData) -> dict[tuple[str, ...], list[Pair]]:
    return by(data.asleep, "network", "set", "links")


def _cluster_energy_falls(data: StudyData) -> Verdict:
    groups = _sleeping(data)
    if not groups:
        return missing_points("links that sleep")
    changes = {key: over_seeds([one.cluster_change_percent for one in own]) for key, own in groups.items()}
    rises = [key for key, one in changes.items() if one.value >= 0]
    unexpected = [key for key in rises if not (key[0] in _DRAGONFLIES and key[2] == "pdt-10")]
    falls = {network for network, _, links in groups if network in _DRAGONFLIES and links == "pdt-10"} - {
        key[0] for key in rises
    }
    words = _cases(rises) if rises else "nowhere"
    ours = f"E_cluster {span([one.value for one in changes.values()], '%')}; it rises in {words}"
    holds = not unexpected and not falls
    reasons = [f"it also rises in {_cases(unexpected)}"] if unexpected else []
    reasons += [f"it falls in {', '.join(sorted(falls))} with 10 us, too"] if falls else []
    return settled(holds=holds, ours=ours, otherwise=f"{'; '.join(reasons)}: {_OTHERWISE}")


def _share(data: StudyData) -> Verdict:
    groups = by(where(data.awake, network=LARGE), "network", "set")
    if not groups:
        return missing_points("about 256 nodes")
    shares = {key: over_seeds([one.network_share_percent for one in own]).value for key, own in groups.items()}
    uses = [over_seeds([utilization(one.point.replayed) for one in own]).value for own in groups.values()]
    need = (cpu_use_of_share(0.22, 2304, 256), cpu_use_of_share(0.07, 858, 312))
    ours = f"{span(list(shares.values()), '%')}, with U_cpu of {min(uses):.2f} to {max(uses):.2f}"
    otherwise = (
        f"22 % needs nodes that compute {100 * need[0]:.0f} % of the time on a 4-D torus, and 7 % at most "
        f"{100 * need[1]:.0f} % on D312: programs here compute for another share of it"
    )
    return settled(holds=min(shares.values()) >= 6.5 and max(shares.values()) <= 22.5, ours=ours, otherwise=otherwise)


def _faster_asleep(data: StudyData) -> Verdict:
    groups = by(where(data.asleep, network=LARGE, set="low"), "network", "links")
    if not groups:
        return missing_points("set low on about 256 nodes")
    slow = {name_of(own[0]): over_seeds([one.slowdown_percent for one in own]) for own in groups.values()}
    faster = [f"{name} {shown(one, '%', 2)}" for name, one in slow.items() if one.high < 0]
    ours = ", ".join(faster) or f"none: run times change by {span([one.value for one in slow.values()], '%', 2)}"
    otherwise = (
        "the paper explains it by adaptive routing, which prefers links that are awake; tori here are not adaptive"
    )
    return settled(holds=bool(faster), ours=ours, otherwise=otherwise)


def _larger_is_faster(data: StudyData) -> Verdict:
    words, holds = [], True
    for one in ("mid", "high"):
        base = where(data.pairs, set=one, network="4D", links="pdt-10")
        for network, links in (("D342", "pdt-100"), ("4D-320", "pdt-10")):
            own = where(data.pairs, set=one, network=network, links=links)
            times, energies = (_ratios(own, base, _FIGURES[what]) for what in ("run time", "E_cluster"))
            if not times:
                return missing_points("sets mid and high on 4D, 4D-320 and D342")
            faster, more = -over_seeds(times).value, over_seeds(energies).value
            saved = 100 * more / (100 + more)
            holds &= 4.5 <= faster <= 6.5 and 9.5 <= saved <= 15.5
            words.append(f"{one}: {name_of(own[0])} {faster:.1f} % faster, 4D-P {saved:.1f} % less energy")
    otherwise = "one iteration of the longest program is most of a run here, so that more nodes do not end it earlier"
    return settled(holds=holds, ours="; ".join(words), otherwise=otherwise)


def _torus_best_tree_worst(data: StudyData) -> Verdict:
    words, holds = [], True
    for networks, torus in ((SMALL, "3D"), (LARGE, "4D")):
        for one in ("mid", "high"):
            groups = by(where(data.asleep, set=one, network=networks), "network")
            means = {key[0]: over_seeds([pair.cluster_joule for pair in own]).value for key, own in groups.items()}
            if torus not in means or not any(name.startswith("k") for name in means):
                return missing_points("sets mid and high with links that sleep")
            best, worst = (choose(means, key=lambda name: means[name]) for choose in (min, max))
            holds &= best == torus and worst.startswith("k")
            words.append(f"{one}, {torus}: best {best}, worst {worst}")
    return settled(holds=holds, ours="; ".join(words), otherwise=_OTHERWISE)


def _ceiling(data: StudyData) -> Verdict:
    if not data.asleep:
        return missing_points("links that sleep")
    found = [_network_saving(one) for one in data.asleep]
    most = 100 * most_network_saving()
    return settled(
        holds=max(found) <= most, ours=f"W_net falls by {span(found, '%')}", otherwise="points contradict Eq. 1 and 2"
    )


def _network_saving(pair: Pair) -> float:
    """Of W_net, in percent: E_net without the longer run time."""
    return 100 - (100 + pair.network_change_percent) / (1 + pair.slowdown_percent / 100)


def _break_even(data: StudyData) -> Verdict:
    """Compute time is the same with links asleep, so that nodes count as idle for what is added."""
    kept, above = 0, 0
    for one in data.asleep:
        machine = one.machine
        share = network_share(2 * machine.links + machine.nodes, machine.nodes, 0.0)
        beyond = one.slowdown_percent - 100 * break_even_slowdown(share, _network_saving(one) / 100)
        kept += abs(beyond) < _ROUNDING or (beyond < 0) == (one.cluster_change_percent < 0)
        above += beyond >= _ROUNDING
    if not data.asleep:
        return missing_points("links that sleep")
    ours = f"{kept} of {len(data.asleep)} points keep it; {above} are slowed down by more than their break-even"
    return settled(holds=kept == len(data.asleep), ours=ours, otherwise="compute time differs between both points")


def _makespan(data: StudyData) -> Verdict:
    if not data.awake:
        return missing_points("links that never sleep")
    words = []
    for name, rate in _RATES.items():
        found = []
        for one in where(data.awake, network=SMALL):
            injected = one.point.replayed.sent_byte - one.point.replayed.local_byte
            found.append(one.run_time_s / least_makespan_s(injected, one.machine.nodes, rate))
        words.append(f"{name}: {span(found, 'times the bound')}" if found else f"{name}: -")
    because = (
        "no run time is printed: the ratio of their figures to 1.01, 1.64 and 2.38 s (10 GB/s) or 8.1, 13.1 and 19.0 s "
        "(10 Gb/s) would decide"
    )
    return Verdict("cannot be compared", "; ".join(words), because)


STATEMENTS: Final[Sequence[Statement]] = (
    Statement("1", "Sleeping links lower E_net in every configuration; run time rises a little.", "343, 347",
              "change of E_net against links always on, every network, set and policy", _network_energy_falls),
    Statement("2", "E_cluster falls in every configuration, except in dragonflies with 10 us.", "345",
              "sign of its change; in dragonflies with 10 us it rises in a set at least", _cluster_energy_falls),
    Statement("3a", "64 nodes: D80-P has the least E_net.", "353", "least mean in each set",
              _winners("E_net", ("D80-P",), SMALL)),
    Statement("3b", "64 nodes: 3D-P has the least E_cluster in all sets.", "353", "least mean in each set",
              _winners("E_cluster", ("3D-P",), SMALL)),
    Statement("3c", "64 nodes: 3D-P is fastest in Mid and High.", "353", "shortest mean run time",
              _winners("run time", ("3D-P", "3D"), SMALL, ("mid", "high"))),
    Statement("3d", "64 nodes: a dragonfly is fastest in Low.", "357", "shortest mean run time",
              _winners("run time", ("D72", "D72-P", "D72-PH", "D80", "D80-P", "D80-PH"), SMALL, ("low",))),
    Statement("4", "256 nodes: the network has 7 to 22 % of E_cluster with links always on.", "363",
              "E_net / E_cluster, every network and set; half a percent for rounding", _share),
    Statement("5", "256 nodes, Low: some run times fall slightly with sleeping links.", "365",
              "a slowdown whose interval is below 0", _faster_asleep),
    Statement("6", "256 nodes: 4D-P has the least E_cluster; in Low k16-n2 and D272 are similar.", "370-372",
              "least mean in each set", _winners("E_cluster", ("4D-P",), LARGE)),
    Statement("7", "256 nodes, Mid and High: D342 and 4D-320 are 5 to 6 % faster than 4D-P, which uses 10 to 15 % less "
              "energy.", "374", "ratios seed by seed; half a percent for rounding", _larger_is_faster),
    Statement("8a", "256 nodes, Low: fastest are k18-P and D342-P.", "376", "shortest mean run time",
              _winners("run time", ("k18-n2-P", "D342-P", "D342-PH"), LARGE, ("low",))),
    Statement("8b", "256 nodes, Low: least energy have D272-P and 4D-P.", "376", "least mean E_cluster",
              _winners("E_cluster", ("D272-P", "D272-PH", "4D-P"), LARGE, ("low",))),
    Statement("9", "The torus of most dimensions has the least E_cluster; fat trees are worst at Mid and High.", "407",
              "least and largest mean E_cluster with sleeping links", _torus_best_tree_worst),
    Statement("A1", "(Arithmetic) LPI takes at most 73.4 % of W_net.", "180-209", "Eq. 1 and 2, every point", _ceiling),
    Statement("A2", "(Arithmetic) E_cluster falls if, and only if, the slowdown is below f / (1 - f).", "154-201",
              "f: share of the network with idle nodes, times the saving; every point", _break_even),
    Statement("A3", "(Arithmetic) No run is shorter than injected bytes / (nodes x rate).", "223, 299-302",
              "ratio of the run time to the bound, 64 nodes, both readings of the rate", _makespan),
)  # fmt: skip
"""In the order of the paper; A1 to A3 follow from its numbers."""
