"""Parameters of Andujar's power model (2023, Table 1), from four measured states as its section 2.4 describes."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Interval, NotEnoughData

_SLEEPING_PORT_FRACTION: Final = 0.1
"""omega_Sport of the paper's Table 2, from the literature."""


@dataclass(frozen=True, slots=True)
class AndujarFit:
    """The parameters with 95 % intervals; `sleeping_port_fraction` is the paper's if it was not measured."""

    port_watt: Interval
    ports_fraction: Interval
    sleeping_port_fraction: Interval
    node_watt: Interval
    idle_node_fraction: Interval


def fit_andujar(
    no_ports: Interval,
    all_ports: Interval,
    ports: int,
    node_idle: Interval,
    node_loaded: Interval,
    sleeping_port_fraction: Interval | None = None,
) -> AndujarFit:
    """The parameters from four measured states, as section 2.4 does; watts with 95 % intervals.

    The states: a switch without connected ports and with all of its `ports` connected, a node with one thread and with
    all its cores busy. Errors are assumed to be normal and independent. If omega_Sport was not measured, it is the
    paper's 0.1 with an interval from 0 to 1. NotEnoughData if the second state is not seen to draw more than the first.

    A switch of 24 ports draws 30 W without links and 48 W with all of them; a node 40 W idle and 120 W loaded:

    >>> watts = [Interval.plus_minus(one, 0.5) for one in (30.0, 48.0, 40.0, 120.0)]
    >>> fit = fit_andujar(watts[0], watts[1], 24, watts[2], watts[3])
    >>> fit.port_watt.value, fit.ports_fraction.value, round(fit.idle_node_fraction.value, 3)
    (2.0, 0.375, 0.333)
    """
    if ports < 1:
        raise NotEnoughData("a switch without ports has no power per port: give the number of connected ports.")
    if all_ports.low <= no_ports.high:
        raise NotEnoughData(
            f"a switch with all ports ({all_ports} W) is not seen to draw more than without ({no_ports} W): measure "
            "for longer, or with a finer meter."
        )
    if node_loaded.low <= node_idle.high:
        raise NotEnoughData(
            f"a loaded node ({node_loaded} W) is not seen to draw more than an idle one ({node_idle} W): load all of "
            "its cores."
        )
    port_watt = Interval(all_ports.value / ports, all_ports.low / ports, all_ports.high / ports)
    sleeping = Interval(_SLEEPING_PORT_FRACTION, 0.0, 1.0)
    return AndujarFit(
        port_watt,
        _less_quotient(no_ports, all_ports),
        sleeping if sleeping_port_fraction is None else sleeping_port_fraction,
        node_loaded,
        _quotient(node_idle, node_loaded),
    )


def _quotient(above: Interval, below: Interval) -> Interval:
    value = above.value / below.value
    half = value * float(np.hypot(above.half_width / above.value, below.half_width / below.value))
    return Interval.plus_minus(value, half)


def _less_quotient(above: Interval, below: Interval) -> Interval:
    """1 - above / below."""
    quotient = _quotient(above, below)
    return Interval(1.0 - quotient.value, 1.0 - quotient.high, 1.0 - quotient.low)
