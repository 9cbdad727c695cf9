"""Points of a study beside the same simulation and seed with links that never sleep."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.facts import facts_of
from eee_testbed.simulation.power_models import georgakoudis
from eee_testbed.simulation.replay.comparison import Machine, cluster_watt, network_watt, over_seeds
from eee_testbed.simulation.studies.expand import Case
from eee_testbed.simulation.studies.points import StudyPoint


@dataclass(frozen=True, slots=True)
class Pair:
    """A point, `awake` with links that never sleep (itself if its own never do), and the machine of both."""

    point: StudyPoint
    awake: StudyPoint
    machine: Machine

    @property
    def labels(self) -> Mapping[str, str]:
        """Of the point."""
        return self.point.labels

    @property
    def seed(self) -> int:
        """Of both."""
        return self.point.replayed.seed

    @property
    def run_time_s(self) -> float:
        """Of the longest first run of a job."""
        return self.point.replayed.run_time_s

    @property
    def slowdown_percent(self) -> float:
        """Of the run time."""
        return 100 * (self.run_time_s / self.awake.replayed.run_time_s - 1)

    @property
    def job_slowdowns_percent(self) -> list[float]:
        """Of each job's mean run, in the order of the jobs."""
        both = zip(self.point.job_s, self.awake.job_s, strict=True)
        return [100 * (own / other - 1) for own, other in both]

    @property
    def saving_percent(self) -> float:
        """Power saved by Georgakoudis et al. (2019), IV.B, over all links between switches."""
        return saving_percent(self.point.replayed.shares)

    @property
    def carried_saving_percent(self) -> float:
        """The same over links that carried traffic."""
        return saving_percent(self.point.replayed.carried_shares)

    @property
    def network_joule(self) -> float:
        """E_net of Andújar et al. (2023), Eq. 6."""
        return self.run_time_s * network_watt(self.point.replayed, self.machine)

    @property
    def cluster_joule(self) -> float:
        """E_cluster, Eq. 7."""
        return self.run_time_s * cluster_watt(self.point.replayed, self.machine)

    @property
    def network_share_percent(self) -> float:
        """Of the cluster's energy."""
        return 100 * self.network_joule / self.cluster_joule

    @property
    def network_change_percent(self) -> float:
        """Of E_net, against links that never sleep."""
        return 100 * (self.network_joule / _awake(self).network_joule - 1)

    @property
    def cluster_change_percent(self) -> float:
        """Of E_cluster, against links that never sleep."""
        return 100 * (self.cluster_joule / _awake(self).cluster_joule - 1)


def _awake(pair: Pair) -> Pair:
    return Pair(pair.awake, pair.awake, pair.machine)


def saving_percent(shares: StateShares) -> float:
    """Power saved by deep sleep and fast wake, of active."""
    return 100 * (1 - georgakoudis(shares).ratio.value)


def pairs_of(points: Sequence[StudyPoint], cases: Sequence[Case]) -> list[Pair]:
    """Points whose partner is there, too."""
    shared = {case.key: case.awake_key for case in cases}
    awake = {shared[case.key]: case for case in cases if not case.sleeps}
    machines = {key: _machine(case) for key, case in awake.items()}
    by_key = {point.key: point for point in points}
    found = []
    for point in points:
        case, seed = point.key
        partner = by_key.get((awake[shared[case]].key, seed))
        if partner is not None:
            found.append(Pair(point, partner, machines[shared[case]]))
    return found


def _machine(case: Case) -> Machine:
    facts = facts_of(case.description.network.form())
    return Machine(facts["routers"], facts["nodes"], facts["links"], case.description.energy)


def where(pairs: Iterable[Pair], **labels: str | Sequence[str]) -> list[Pair]:
    """Pairs with these values of axes."""
    wanted = {axis: (one,) if isinstance(one, str) else tuple(one) for axis, one in labels.items()}
    return [pair for pair in pairs if all(pair.labels.get(axis) in values for axis, values in wanted.items())]


def by(pairs: Iterable[Pair], *axes: str) -> dict[tuple[str, ...], list[Pair]]:
    """Pairs by their values of some axes, in the order of the study."""
    found: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        found.setdefault(tuple(pair.labels[axis] for axis in axes), []).append(pair)
    return found


def means(
    groups: Mapping[tuple[str, ...], Sequence[Pair]], figure: Callable[[Pair], float]
) -> dict[tuple[str, ...], Interval]:
    """A figure of each group, over its seeds."""
    return {key: over_seeds([figure(pair) for pair in pairs]) for key, pairs in groups.items()}
