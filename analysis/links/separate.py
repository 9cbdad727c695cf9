"""Which of two groups of wakes is the switches': echoes on whose path only switches' ports may sleep say it. Pure.

Echoes over one switch find a port and a card asleep in each direction, and know the two groups of times, but not whose
they are: an unordered pair. Echoes over a trunk, with EEE on there and off at both hosts, wait for ports alone. Their
wake is that of the group with the same wake. Simplification: the ports of one switch are taken to wake alike.
"""

from collections.abc import Collection, Mapping
from typing import Final

from analysis.calibration import Estimate, LinkPolicy

EXCHANGED: Final = "Which of these times are whose cannot be told from echoes: the two groups may be exchanged."
_TIMES: Final = ("hold_us", "sleep_us", "wake_us")


def separated(links: Mapping[str, LinkPolicy], hosts: Collection[str]) -> dict[str, LinkPolicy]:
    """All policies, with ports first where another policy, of ports alone at one of their switches, says which."""
    alone = [link for link in links.values() if link.wake_us is not None and not _devices(link) & set(hosts)]
    return {name: _ordered(link, alone, hosts) if is_pair(link) else link for name, link in links.items()}


def is_pair(link: LinkPolicy) -> bool:
    """Whether its two groups may be exchanged."""
    return not link.which and link.wake_us is not None and link.card_wake_us is not None


def _devices(link: LinkPolicy) -> set[str]:
    return {end.split(":")[0] for end in link.ends}


def _ordered(link: LinkPolicy, alone: Collection[LinkPolicy], hosts: Collection[str]) -> LinkPolicy:
    switches = _devices(link) - set(hosts)
    for other in alone:
        if link.card_wake_us is None or link.wake_us is None or other.wake_us is None:
            continue
        if _devices(other) & switches:
            first, second = (_overlap(one, other.wake_us) for one in (link.wake_us, link.card_wake_us))
            if first != second:
                return _settled(link if first else _exchanged(link))
    return link


def _overlap(one: Estimate, other: Estimate) -> bool:
    return one.low <= other.high and other.low <= one.high


def _exchanged(link: LinkPolicy) -> LinkPolicy:
    times = {name: getattr(link, f"card_{name}") for name in _TIMES}
    cards = {f"card_{name}": getattr(link, name) for name in _TIMES}
    counts = {"sleeper_count": link.card_count, "card_count": link.sleeper_count}
    return link.model_copy(update={**times, **cards, **counts})


def _settled(link: LinkPolicy) -> LinkPolicy:
    unknown = tuple(sentence for sentence in link.unknown if sentence != EXCHANGED)
    return link.model_copy(update={"which": True, "unknown": unknown})
