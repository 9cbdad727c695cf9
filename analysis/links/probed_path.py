"""The path of a probe: its transmitters by the inventory, and which of them may sleep by what the switches showed.

A switch's `show eee` before each probe is in the trial's `eee.json`: for each port whether EEE is on and in force. A
link on which it is not in force at either end cannot sleep. LPI counters of a port count its own low power and that of
its link's other end; a count that stood still during the probes shows a transmitter that never slept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from eee_testbed.analysis.links.link_symptoms import EndView
from eee_testbed.analysis.links.sleep_path import GIGABIT_BYTE_US, SleepPath, Transmitter, path_between, plain_path
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.lab.model import End, Lab, Link
from eee_testbed.lab.topology import Topology
from eee_testbed.lab.untrusted_files import lose, read_object
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import Trial

EEE_FILE: Final = "eee.json"
"""In a probe's trial: {"PORT": {"enabled": true, "active": true, ...}} by the ends' names, as read before the probe."""

_LEAST_LPI_EVENTS: Final = 3

Shown = Mapping[str, Mapping[str, Any]]
"""What the switches showed of EEE, by the name of the port."""


@dataclass(frozen=True, slots=True)
class ProbedPath:
    """A path, links on which EEE is in force or not, and sentences about what is unknown.

    `uncounted`: hosts of which no counter shows whether their card sleeps.
    """

    transmitters: SleepPath
    in_force: tuple[str, ...] = ()
    not_in_force: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()

    @property
    def sleeps_nowhere(self) -> bool:
        """Whether no link of it can sleep."""
        return all(transmitter.may_sleep is False for transmitter in self.transmitters)

    def ends_of(self, members: Iterable[int]) -> tuple[str, ...]:
        """Names of transmitters."""
        return tuple(dict.fromkeys(self.transmitters[place].end for place in members))


def shown_in(trial: Trial) -> Shown:
    """What the switches showed before a trial; empty if that was not recorded."""
    try:
        content = read_object(trial.path(EEE_FILE), "probe again")
    except FileNotFoundError:
        return {}
    except UnreadableFile as error:
        lose(trial.folder / EEE_FILE, error.line, f"it is left out: it {error.sentence}")
        return {}
    usable = {name: status for name, status in content.items() if isinstance(status, dict) and _is_status(status)}
    if len(usable) < len(content):
        lose(trial.folder / EEE_FILE, 0, "ports whose EEE is not said as yes, no or unknown are left out")
    return usable


def _is_status(shown: Mapping[str, Any]) -> bool:
    """Whether a port's entry says what readers rely on, in their types."""
    states = all(shown.get(name) in (None, True, False) for name in ("enabled", "active"))
    return states and isinstance(shown.get("hold_us"), int | None)


def probed_path(
    lab: Lab | None,
    pair: tuple[str, str],
    shown: Shown,
    samples: RunSamples | None = None,
    trials: Sequence[Trial] = (),
    *,
    streamed: bool = False,
) -> ProbedPath:
    """The path between two hosts; without an inventory that of two hosts at one switch, of which nothing is known.

    `streamed`: another host kept the switches' ports to both awake.
    """
    links = () if lab is None else path_links(lab, pair)
    if lab is None or not links:
        plain = plain_path()
        if streamed:
            plain = tuple(
                replace(transmitter, may_sleep=transmitter.may_sleep if transmitter.card else False)
                for transmitter in plain
            )
        return ProbedPath(plain, unknown=("The path is unknown: two hosts at one switch are assumed.",))
    there = _sending(links, pair[0])
    back = _sending(links[::-1], pair[1])
    silent: list[str] = []
    probed = []
    for link, end in (*zip(links, there, strict=True), *zip(links[::-1], back, strict=True)):
        byte_us = _byte_us(lab, link, samples, trials)
        active = _in_force(shown, link)
        may = active if active is False else _counted(link, end, samples, trials)
        card = end.device in pair
        if streamed and not card and not {link.a.device, link.b.device}.isdisjoint(pair):
            may = False
        if card and may is None:
            silent.append(end.device)
        probed.append(Transmitter(str(end), card=card, may_sleep=may, byte_us=byte_us))
    first, second = probed[: len(links)], probed[len(links) :]
    states = {link.name: _in_force(shown, link) for link in links}
    unknown = [
        f"No switch showed whether EEE is in force on {name}." for name, state in states.items() if state is None
    ]
    return ProbedPath(
        path_between(first[1:], second[1:], (first[0], second[0])),
        tuple(name for name, state in states.items() if state),
        tuple(name for name, state in states.items() if state is False),
        tuple(unknown),
        tuple(silent),
    )


def path_links(lab: Lab, pair: tuple[str, str]) -> tuple[Link, ...]:
    """The cables of the shortest path, from the first host to the second; empty if there is none."""
    topology = Topology.of(lab)
    if any(host not in topology.homes for host in pair):
        return ()
    start, goal = (topology.homes[host] for host in pair)
    ways = topology.ways(start.device, topology.trunks)
    between: list[Link] = []
    here = goal.device
    while here != start.device:
        if here not in ways:
            return ()
        here, link = ways[here]
        between.insert(0, topology.cables[link.number][0])
    host_links = [next(link for link in lab.links if str(home) in (str(link.a), str(link.b))) for home in (start, goal)]
    return (host_links[0], *between, host_links[1])


def _sending(links: Sequence[Link], host: str) -> list[End]:
    """The ends that send on the way from a host."""
    sending = []
    here = host
    for link in links:
        sending.append(link.a if link.a.device == here else link.b)
        here = link.other(here).device
    return sending


def _in_force(shown: Shown, link: Link) -> bool | None:
    """Whether EEE is in force on a link: not if an end says so, or if it is off there."""
    states = [shown[str(end)] for end in (link.a, link.b) if str(end) in shown]
    if any(status.get("active") is False or status.get("enabled") is False for status in states):
        return False
    return True if any(status.get("active") for status in states) else None


def _byte_us(lab: Lab, link: Link, samples: RunSamples | None, trials: Sequence[Trial]) -> float:
    """Time of a byte at the speed that the link's ports had during the trials, else at its slowest host's."""
    rates: list[int] = []
    if samples is not None:
        ports = samples.table("ports")
        for end in (link.a, link.b):
            rows = ports.filter((pl.col("switch") == end.device) & (pl.col("port") == end.port) & pl.col("up"))
            for trial in trials:
                inside = rows.filter((pl.col("received_ns") > trial.begun_ns) & (pl.col("sent_ns") < trial.ended_ns))
                rates += [rate for rate in inside["rate_mbps"].to_list() if rate]
    if not rates:
        rates = [host.rate_mbps for host in lab.hosts if host.name in (link.a.device, link.b.device)]
    return 8 / min(rates) if rates else GIGABIT_BYTE_US


def _counted(link: Link, end: End, samples: RunSamples | None, trials: Sequence[Trial]) -> bool | None:
    """Whether counters of either end of a link counted low power of the transmitter at `end`; None without any."""
    if samples is None:
        return None
    counted = [
        _count(samples, seen, "tx_lpi_event" if seen == end else "rx_lpi_event", trials) for seen in (link.a, link.b)
    ]
    counts = [count for count in counted if count is not None]
    return max(counts) >= _LEAST_LPI_EVENTS if counts else None


def _count(samples: RunSamples, port: End, column: str, trials: Sequence[Trial]) -> int | None:
    """Entries into low power that a port counted during trials; None without a counter."""
    rows = samples.increments("lpi", column)
    rows = rows.filter((pl.col("switch") == port.device) & (pl.col("port") == port.port))
    if rows.is_empty():
        return None
    inside = [
        rows.filter((pl.col("to_ns") > trial.begun_ns) & (pl.col("from_ns") < trial.ended_ns))[column].sum()
        for trial in trials
    ]
    return int(sum(inside))


def end_view(port: End, shown: Shown, samples: RunSamples, trials: Sequence[Trial]) -> EndView | None:
    """What a switch's port shows of its link: EEE's state, and LPI counts during trials; None if neither."""
    state = shown.get(str(port))
    sent, received = (_count(samples, port, column, trials) for column in ("tx_lpi_event", "rx_lpi_event"))
    if state is None and sent is None and received is None:
        return None
    on = state is None or bool(state.get("enabled"))
    return EndView(
        str(port), on=on, active=(state or {}).get("active"), sent_lpi_count=sent, received_lpi_count=received
    )
