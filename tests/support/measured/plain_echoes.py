"""The plain walk over echoes: one after the other, each through all transmitters in turn."""

from collections.abc import Sequence

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.path_delay import Policy


def echo_extra_us(
    sent_us: Floats, base_us: float, policies: Sequence[Policy], burst_byte: Floats, byte_us: float
) -> Floats:
    """Delay that sleeping transmitters, in the order in which an echo passes them, add to round trips; first echo: 0.

    The base round trip is spread evenly between transmitters; each is idle from the end of its last burst.
    """
    share_us = base_us / len(policies)
    free_us = np.full(len(policies), np.inf)
    extra_us = np.zeros(len(sent_us))
    for echo, (sent, burst) in enumerate(zip(sent_us, burst_byte, strict=True)):
        for place, policy in enumerate(policies):
            at_us = sent + place * share_us + extra_us[echo]
            added_us = float(policy.delay_us(at_us - free_us[place], burst, byte_us))
            free_us[place] = at_us + added_us + burst * byte_us
            extra_us[echo] += added_us
    return extra_us
