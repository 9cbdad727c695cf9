"""Which of two groups of wakes is the switches': echoes that only ports, or only cards, can delay say it. Pure.

Echoes over one switch find a port and a card asleep in each direction. Where both have one hold, the wait for the first
hides where the second falls asleep, and no echo says whose wake is whose, or that there are two. Echoes over a trunk,
with EEE on there and off at both hosts, wait for ports alone. Echoes between two hosts to which a third one streams
meanwhile wait for cards alone, as the stream keeps the ports to them awake. Fits of other paths then take these times
as the ports' or the cards', as far as their own echoes do not contradict. Simplification: the ports of one switch are
taken to be alike.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from eee_testbed.analysis.calibration import LinkPolicy
from eee_testbed.analysis.links.policy_likelihood import Known, Times
from eee_testbed.analysis.links.sleep_path import SleepPath

EXCHANGED: Final = (
    "Echoes do not show which times are the ports' and which the cards': the two groups may be exchanged."
)

_FRAMES_A_HOLD: Final = 2.0
"""Of a stream, at least: one that comes late lets no port sleep then."""


@dataclass(frozen=True, slots=True)
class Alone:
    """Times that paths showed on which nothing else may sleep.

    `ports`: by switch. `cards`: by host, None for a card that does not sleep.
    """

    ports: Mapping[str, Times] = field(default_factory=dict)
    cards: Mapping[str, Times | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self.ports or self.cards)

    def on(self, path: SleepPath) -> tuple[SleepPath, Known | None]:
        """A path without the sleep of cards that do not, and the times of the others; None: nothing is known."""
        devices = [(_device(transmitter.end), transmitter.card) for transmitter in path]
        awake = {name for name, card in devices if card and name in self.cards and self.cards[name] is None}
        kept = tuple(
            replace(transmitter, may_sleep=False)
            if transmitter.may_sleep is None and _device(transmitter.end) in awake
            else transmitter
            for transmitter in path
        )
        ports = next((self.ports[name] for name, card in devices if not card and name in self.ports), None)
        cards = [self.cards.get(name) for name, card in devices if card]
        fixed = Known(ports, cards[0] if cards and None not in cards else None)
        return kept, None if fixed == Known() else fixed


def alone(links: Mapping[str, LinkPolicy], hosts: Collection[str]) -> Alone:
    """What paths show on which only ports sleep, or only cards may."""
    ports: dict[str, Times] = {}
    cards: dict[str, Times | None] = {}
    for link in links.values():
        devices = {_device(end) for end in link.ends}
        if not devices.isdisjoint(hosts) and not devices.issubset(hosts):
            continue
        if link.kind == "off":
            cards |= dict.fromkeys(devices & set(hosts))
        elif (times := _times(link)) is not None:
            if devices.issubset(hosts):
                cards |= dict.fromkeys(devices, times)
            else:
                ports |= dict.fromkeys(devices, times)
    return Alone(ports, cards)


def slow_streams(links: Mapping[str, LinkPolicy]) -> dict[str, str]:
    """By name, why a path says nothing although a host streamed to both: ports may have slept between its frames."""
    holds = [hold for link in links.values() for hold in (link.hold_us, link.card_hold_us) if hold is not None]
    shortest_us = min((hold.low for hold in holds), default=float("inf"))
    return {
        name: f"its stream had a frame every {link.stream_every_us:g} us, and ports may sleep after {shortest_us:.0f} "
        "us: probe it again with a stream at least twice as fast as that."
        for name, link in links.items()
        if link.stream_every_us is not None and link.stream_every_us * _FRAMES_A_HOLD > shortest_us
    }


def is_open(link: LinkPolicy) -> bool:
    """Whether it is not known which of its path's transmitters have these times."""
    return not link.which and link.wake_us is not None


def _times(link: LinkPolicy) -> Times | None:
    """Those of a path with one group, whose members are known."""
    estimates = (link.hold_us, link.sleep_us, link.wake_us)
    hold_us, sleep_us, wake_us = (None if estimate is None else estimate.interval for estimate in estimates)
    plain = link.kind == "hold" and link.which and link.card_wake_us is None
    if not plain or hold_us is None or sleep_us is None or wake_us is None:
        return None
    return Times(hold_us, sleep_us, wake_us)


def _device(end: str) -> str:
    return end.split(":", maxsplit=1)[0]
