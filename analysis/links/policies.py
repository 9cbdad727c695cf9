"""Policies to compute delays with, from a calibration's links."""

import numpy as np

from eee_testbed.analysis.calibration import Estimate, LinkPolicy
from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.path_delay import Policy


def policy_of(link: LinkPolicy) -> Policy:
    """The policy of one transmitter, at the estimates' values. Where no sleep was found, it never sleeps."""
    if link.kind == "off":
        return Policy(float("inf"), 0.0, 0.0)
    hybrid, coalescing = link.kind == "hybrid", link.kind == "coalescing"
    return Policy(
        hold_us=_value(link.hold_us),
        sleep_us=0.0 if link.kind == "fast" else _value(link.sleep_us),
        wake_us=_value(link.wake_us),
        fast_wake_us=_value(link.fast_wake_us) if hybrid else 0.0,
        deep_after_us=_value(link.deep_after_us) if hybrid else float("nan"),
        wait_us=_value(link.wait_us) if coalescing else 0.0,
        wait_byte=float("inf") if coalescing else 0.0,
    )


def card_of(link: LinkPolicy) -> Policy | None:
    """The policy of the second group of transmitters, where there are two: the hosts' cards."""
    if link.card_wake_us is None:
        return None
    return Policy(_value(link.card_hold_us), _value(link.card_sleep_us), _value(link.card_wake_us))


def shares_us(
    link: LinkPolicy, path_wake_us: Floats | float, port_us: Floats | float, card_us: Floats | float
) -> tuple[Floats, Floats]:
    """What a port's and a card's wake take of a frame's way between two hosts: together half the round trip's wakes.

    Echoes know the sum of a round trip's wakes far better than whose they are: one port that takes twice as long in one
    direction explains them as well as two that take equally long. Simplification: a program's frames go both ways
    alike.
    """
    one_way = (link.sleeper_count + 1) // 2 * np.asarray(port_us) + card_us
    scale = np.asarray(path_wake_us) / 2 / np.maximum(one_way, 1e-9)
    return scale * port_us, scale * card_us


def path_of(link: LinkPolicy) -> list[Policy]:
    """The policies of the transmitters that an echo passes on the path, in order.

    Simplification: ports of one direction each, of two kinds, are put in this order too.
    """
    port = policy_of(link)
    card = card_of(link)
    if card is None:
        return [port] * link.sleeper_count
    back = link.sleeper_count // 2
    return [card, *[port] * (link.sleeper_count - back), *[card] * (link.card_count - 1), *[port] * back]


def _value(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else estimate.value
