"""What a strip calls its outlets, compared with outlets.csv. Pure.

A name that is a device of the lab, or holds one as a word, says what the outlet feeds; any other (`Outlet 5`) says
nothing.
"""

import re
from collections.abc import Iterator

from eee_testbed.controller.strips.family import StripReading
from eee_testbed.lab.model import Lab


def device_in(lab: Lab, name: str) -> str:
    """The device of the lab that a name stands for; empty if none, or if there are several."""
    devices = {switch.name for switch in lab.switches} | {host.name for host in lab.hosts}
    words = {name.strip().lower(), *re.split(r"[^a-z0-9-]+", name.lower()), *re.split(r"[^a-z0-9]+", name.lower())}
    devices_named = devices & words
    return devices_named.pop() if len(devices_named) == 1 else ""


def wrong_names(lab: Lab, strip: str, reading: StripReading) -> Iterator[str]:
    """A sentence for each outlet whose name contradicts outlets.csv."""
    feeds = {outlet.number: outlet.feeds for outlet in lab.outlets if outlet.strip == strip}
    for outlet in reading.outlets:
        named = device_in(lab, outlet.name)
        if named and named != feeds.get(outlet.number, ""):
            claim = f"that it feeds {feeds[outlet.number]}" if outlet.number in feeds else "nothing about it"
            at = f"{strip}:{outlet.number}"
            yield f"{at} is called '{outlet.name}' on the strip, and outlets.csv says {claim}: correct one."
