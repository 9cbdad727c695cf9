"""The transmitters that an echo passes on its way to a host and back, and what is known of each before any echo."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

GIGABIT_BYTE_US: Final = 0.008


@dataclass(frozen=True, slots=True)
class Transmitter:
    """One direction of one link. `end` is its name, as in "sw1:gi1/0/1"; `card`: it is a host's, not a switch's.

    `may_sleep` False: EEE is not in force on its link, or its counters stood still. True: its counters counted LPI.
    None: unknown. `byte_us`: time of a byte at the link's rate.
    """

    end: str
    card: bool
    may_sleep: bool | None = None
    byte_us: float = GIGABIT_BYTE_US


SleepPath = tuple[Transmitter, ...]
"""In the order in which an echo and its answer pass them."""


def path_between(
    out_ports: Sequence[Transmitter],
    back_ports: Sequence[Transmitter],
    cards: tuple[Transmitter, Transmitter],
) -> SleepPath:
    """The sender's card, the switches' ports to the other host, that host's card, the ports of the return path."""
    return (cards[0], *out_ports, cards[1], *back_ports)


def plain_path(*, cards: bool | None = None) -> SleepPath:
    """A path over one switch: two ports, one each way, and two cards; `cards` as `may_sleep`.

    >>> [one.end for one in plain_path()]
    ['card0', 'port0', 'card1', 'port1']
    """
    out, back = (Transmitter(f"port{number}", card=False) for number in range(2))
    ends = (Transmitter("card0", card=True, may_sleep=cards), Transmitter("card1", card=True, may_sleep=cards))
    return path_between([out], [back], ends)
