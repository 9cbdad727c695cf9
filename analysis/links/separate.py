"""Which of two groups of wakes is the switches': echoes on whose path only switches' ports may sleep say it. Pure.

Echoes over one switch find a port and a card asleep in each direction. Where both have one hold, the wait for the first
hides where the second falls asleep, and no echo says whose wake is whose, or that there are two. Echoes over a trunk,
with EEE on there and off at both hosts, wait for ports alone: fits of the other paths then take these times as the
ports', as far as their own echoes do not contradict. Simplification: the ports of one switch are taken to be alike.
"""

from collections.abc import Collection, Mapping
from typing import Final

from analysis.calibration import LinkPolicy
from analysis.links.policy_likelihood import PortTimes

EXCHANGED: Final = "Which of these times are whose cannot be told from echoes: the two groups may be exchanged."


def ports_alone(links: Mapping[str, LinkPolicy], hosts: Collection[str]) -> dict[str, PortTimes]:
    """By switch, the times of its ports, of paths on which only ports sleep."""
    found: dict[str, PortTimes] = {}
    for link in links.values():
        devices = {end.split(":")[0] for end in link.ends}
        times = (link.hold_us, link.sleep_us, link.wake_us)
        if link.kind != "hold" or link.card_wake_us is not None or not link.which or devices & set(hosts):
            continue
        hold_us, sleep_us, wake_us = (None if one is None else one.interval for one in times)
        if hold_us is not None and sleep_us is not None and wake_us is not None:
            found |= dict.fromkeys(devices, PortTimes(hold_us, sleep_us, wake_us))
    return found


def is_open(link: LinkPolicy) -> bool:
    """Whether it is not known which of its path's transmitters have these times."""
    return not link.which and link.wake_us is not None
