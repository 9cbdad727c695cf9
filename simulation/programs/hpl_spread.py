"""HPL's "spread then roll": pieces go down a binary tree, then round a ring, until everybody has them all."""

from typing import NamedTuple


class Spread(NamedTuple):
    """A message of the tree: pieces `begin` to `end` to or from a partner, by its position."""

    sends: bool
    partner: int
    begin: int
    end: int


class Roll(NamedTuple):
    """A step of the ring: one piece to the partner, one from it."""

    partner: int
    sent: int
    received: int


def spread(position: int, number: int) -> list[Spread]:
    """The messages of one of `number` positions, in order; piece i is that of position i, and 0 begins with all."""
    messages = []
    power = 1 << max(0, (number - 1).bit_length() - 1)
    mask, begin, left = 2 * power - 1, power, position
    while power and number > 1:
        mask ^= power
        partner = position ^ power
        receives = bool(position & power)
        if not position & mask and (receives or partner < number):
            messages.append(Spread(not receives, partner, begin, min(begin + power, number)))
        above = left >= power
        left -= power if above else 0
        power >>= 1
        begin += power if above else -power
    return messages


def roll(position: int, number: int) -> list[Roll]:
    """The steps of a position: neighbours swap what they have not yet got, on alternate sides."""
    steps = []
    for step in range(number - 1):
        half = step // 2
        if (position + step) % 2:
            steps.append(Roll((position - 1) % number, (position + half) % number, (position - half - 1) % number))
        else:
            steps.append(Roll((position + 1) % number, (position - half) % number, (position + half + 1) % number))
    return steps
