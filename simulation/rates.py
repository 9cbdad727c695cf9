"""Energy of channels that run at the slowest rate that carries their traffic, computed after the fact.

So does TCEP's paper (Kim et al. 2018, section V) for its comparison with voltage and frequency scaling: each channel is
taken to have run at the lowest of three rates that meets its throughput on the network that never sleeps. Latency is
not computed: what it costs to change a rate, or to wait for a slower channel, is left out, in favour of scaling.
"""

from typing import TYPE_CHECKING

from eee_testbed.simulation.description import Energy, Rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_engine import SimulatedChannel


def scaled_ratio(
    energy: Energy, rates: Rates, before: "Sequence[SimulatedChannel]", after: "Sequence[SimulatedChannel]"
) -> float:
    """Energy between two moments, to that of the same flits at full rate; 1 without channels.

    A channel that sends for 200 of 1,000 cycles runs at a quarter of the rate, and then sends for 800 of them:

    >>> states = ("transmit", "idle", "sleep", "wake", "quiet", "refresh", "fast", "off", "turning_on")
    >>> before = {f"{state}_cycles": 0 for state in states}
    >>> after = before | {"transmit_cycles": 200, "idle_cycles": 800}
    >>> energy = Energy(active_pj_per_bit=30, idle_pj_per_bit=20)
    >>> round(scaled_ratio(energy, Rates(quarter_power=0.5), [before], [after]), 3)
    0.636
    """
    full = scaled = 0.0
    for early, late in zip(before, after, strict=True):
        sent = late["transmit_cycles"] - early["transmit_cycles"]
        time = _age(late) - _age(early)
        if not time:
            continue
        busy = sent / time
        full += time * _power(energy, busy)
        rate, share = next(one for one in rates.steps if busy <= one[0])
        scaled += time * share * _power(energy, busy / rate)
    return scaled / full if full else 1.0


def _power(energy: Energy, busy: float) -> float:
    return busy * energy.active_pj_per_bit + (1 - busy) * energy.idle_pj_per_bit


def _age(channel: "SimulatedChannel") -> int:
    return (
        channel["transmit_cycles"]
        + channel["idle_cycles"]
        + channel["off_cycles"]
        + channel["turning_on_cycles"]
        + channel["sleep_cycles"]
        + channel["quiet_cycles"]
        + channel["refresh_cycles"]
        + channel["fast_cycles"]
        + channel["wake_cycles"]
    )
