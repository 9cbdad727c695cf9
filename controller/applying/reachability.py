"""What hosts saw of each other, judged: pairs that are cut, floods, loops. Pure; `agents/all_pairs.py` does the seeing.

Every ordered pair counts by itself: with trees as VLANs the path from A to B is not the path from B to A. Which of the
two is cut follows from what each of the hosts heard.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eee_testbed.lab.errors import Unreadable

Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SeenFlood(_Part):
    """Unicast frames of one pair that came to a third host."""

    sender: str
    receiver: str
    frames: Count


class Report(_Part):
    """One host's report, as the agent prints it."""

    host: str
    burst: Count
    lacks: tuple[str, ...]
    heard: Mapping[str, Count]
    answered: Mapping[str, Count]
    copies: Mapping[str, Count]
    floods: tuple[SeenFlood, ...]
    excess: Count
    hails: Count
    hailed: tuple[str, ...]
    strangers: Count


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """A way from one host to another."""

    sender: str
    receiver: str

    def __str__(self) -> str:
        return f"{self.sender} to {self.receiver}"


@dataclass(frozen=True, slots=True)
class Flood:
    """Frames between two hosts that other hosts saw as well; `frames` of the host that saw most."""

    pair: Pair
    seen_by: tuple[str, ...]
    frames: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong; all empty if nothing is.

    `cut`: no frame of the burst came; `lossy`: frames lost, and frames sent. `copied`: hosts whose frames came
    more than once, and to whom: a loop, or a network that duplicates. `silent`: hosts without a report, and why;
    their pairs are in no other list. `suspects`: hosts that cannot see frames for others, whose NICs counted more
    long frames than are accounted for, at least a burst: a flood, or programs that use the network.
    """

    cut: tuple[Pair, ...]
    lossy: Mapping[Pair, tuple[int, int]]
    floods: tuple[Flood, ...]
    suspects: Mapping[str, int]
    copied: Mapping[str, tuple[str, ...]]
    unhailed: tuple[Pair, ...]
    silent: Mapping[str, str]

    @property
    def serious(self) -> tuple[str, ...]:
        """The complaints that only a wrong network explains: a host may be silent, lossy or suspect by itself."""
        return replace(self, silent={}, lossy={}, suspects={}).complaints

    @property
    def complaints(self) -> tuple[str, ...]:
        """One sentence for each thing that is wrong, the worst first."""
        return (
            *(f"frames of {name} came more than once to {_list(to)}: a loop" for name, to in self.copied.items()),
            *(f"{name} did not report: {why}" for name, why in self.silent.items()),
            *(f"{pair}: cut" for pair in self.cut),
            *(f"{pair}: {lost} of {sent} frames lost" for pair, (lost, sent) in self.lossy.items()),
            *(f"broadcast from {pair}: lost" for pair in self.unhailed),
            *(f"{flood.pair}: {flood.frames} frames flooded to {_list(flood.seen_by)}" for flood in self.floods),
            *(f"{name} got {frames} frames too many: a flood, if it is idle" for name, frames in self.suspects.items()),
        )


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def read_report(host: str, answer: object) -> Report:
    """The report that an agent printed, as `json.loads` returns it; Unreadable if it is none of this host's."""
    try:
        report = Report.model_validate(answer)
    except ValidationError as error:
        raise Unreadable(host, "all_pairs.py", str(answer)) from error
    if report.host != host:
        raise Unreadable(host, "all_pairs.py", f"the report of {report.host}")
    return report


def judge(reports: Iterable[Report], silent: Mapping[str, str]) -> Verdict:
    """What the reports of all hosts but the silent ones add up to."""
    by_host = {report.host: report for report in reports}
    pairs = [Pair(a, b) for a in sorted(by_host) for b in sorted(by_host) if a != b]
    cut: list[Pair] = []
    lossy: dict[Pair, tuple[int, int]] = {}
    for pair in pairs:
        sent = by_host[pair.sender].burst
        came = by_host[pair.receiver].heard.get(pair.sender, 0)
        if sent and not came:
            cut.append(pair)
        elif came < sent:
            lossy[pair] = sent - came, sent
    lost = set(cut)
    copied: dict[str, list[str]] = {}
    seen: dict[Pair, dict[str, int]] = {}
    for name, report in sorted(by_host.items()):
        for sender in report.copies:
            copied.setdefault(sender, []).append(name)
        for flood in report.floods:
            seen.setdefault(Pair(flood.sender, flood.receiver), {})[name] = flood.frames
    return Verdict(
        cut=tuple(cut),
        lossy=lossy,
        floods=tuple(Flood(pair, tuple(by), max(by.values())) for pair, by in sorted(seen.items())),
        suspects={
            name: report.excess
            for name, report in sorted(by_host.items())
            if report.excess >= max(1, report.burst) and not report.floods
        },
        copied={name: tuple(to) for name, to in sorted(copied.items())},
        unhailed=tuple(
            pair
            for pair in pairs
            if by_host[pair.sender].hails and pair not in lost and pair.sender not in by_host[pair.receiver].hailed
        ),
        silent=dict(silent),
    )


def confirm(first: Verdict, second: Verdict) -> Verdict:
    """The verdict of two checks of the same kind: the second's, with the floods that both saw at the same hosts.

    A switch that forgets an address for a moment floods a burst or two: ageing, a link that has just come up. One that
    lacks the address floods them all.
    """
    before = {flood.pair: set(flood.seen_by) for flood in first.floods}
    floods = []
    for flood in second.floods:
        both = tuple(host for host in flood.seen_by if host in before.get(flood.pair, ()))
        if both:
            floods.append(replace(flood, seen_by=both))
    return replace(second, floods=tuple(floods))
