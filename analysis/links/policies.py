"""Policies to compute delays with, from a calibration's links."""

from analysis.calibration import Estimate, LinkPolicy
from analysis.links.path_delay import Policy


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


def path_of(link: LinkPolicy) -> list[Policy]:
    """The policies of the transmitters that an echo passes on the path, in order.

    Simplification: ports of one direction each, of two kinds, are put in this order too.
    """
    port = policy_of(link)
    card = card_of(link)
    if card is None:
        return [port] * link.sleeper_count
    one_way = [card, *[port] * (link.sleeper_count // 2)]
    return [*one_way, *one_way[2 - link.card_count :]]


def _value(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else estimate.value
