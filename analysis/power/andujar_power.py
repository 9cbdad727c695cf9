"""Power and energy of a cluster as Andujar et al. (2023) model it: their Table 1 and Eq. 1-7, and how it is measured.

Switch logic draws a fixed part, ports by the fraction of time in which they are awake, nodes by that in which they
compute. Eq. 4 is printed with a summation missing over its fixed term; here every node has it:
sum over n of Omega_nodes * (omega_Snodes + (1 - omega_Snodes) * U_n).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.interval import Interval, TooLittle


@dataclass(frozen=True, slots=True)
class AndujarParameters:
    """Omega_port, omega_ports, omega_Sport, Omega_nodes, omega_Snodes (Table 1)."""

    port_watt: float
    ports_fraction: float
    sleeping_port_fraction: float
    node_watt: float
    idle_node_fraction: float


TABLE_2 = AndujarParameters(5.0, 0.816, 0.1, 300.0, 0.5)
"""As the paper measured them (section 2.4); omega_Sport is from the literature."""


def ports_share(parameters: AndujarParameters, awake: Sequence[float]) -> float:
    """W_ports of a switch, Eq. 1; `awake` is U_port of each of its ports, as many as it has."""
    asleep = parameters.sleeping_port_fraction
    return asleep + (1.0 - asleep) * float(np.mean(np.asarray(awake, dtype=float)))


def switch_watt(parameters: AndujarParameters, awake: Sequence[float]) -> float:
    """W_sw, Eq. 2."""
    ports = parameters.ports_fraction
    return len(awake) * parameters.port_watt * ((1.0 - ports) + ports * ports_share(parameters, awake))


def network_watt(parameters: AndujarParameters, awake_by_switch: Sequence[Sequence[float]]) -> float:
    """W_net, Eq. 3, also where switches differ in their number of ports."""
    return sum(switch_watt(parameters, awake) for awake in awake_by_switch)


def nodes_watt(parameters: AndujarParameters, busy: Sequence[float]) -> float:
    """W_nodes, Eq. 4 with its summation; `busy` is U_cpu of each node."""
    idle = parameters.idle_node_fraction
    return sum(parameters.node_watt * (idle + (1.0 - idle) * share) for share in busy)


@dataclass(frozen=True, slots=True)
class ClusterPower:
    """Eq. 5-7: watts of network and nodes, and joules over the run time."""

    network_watt: float
    nodes_watt: float
    run_s: float

    @property
    def cluster_watt(self) -> float:
        """W_cluster, Eq. 5."""
        return self.network_watt + self.nodes_watt

    @property
    def network_joule(self) -> float:
        """E_net, Eq. 6."""
        return self.network_watt * self.run_s

    @property
    def cluster_joule(self) -> float:
        """E_cluster, Eq. 7."""
        return self.cluster_watt * self.run_s


def cluster_power(
    parameters: AndujarParameters, awake_by_switch: Sequence[Sequence[float]], busy: Sequence[float], run_s: float
) -> ClusterPower:
    """Both parts over a run of so many seconds."""
    return ClusterPower(network_watt(parameters, awake_by_switch), nodes_watt(parameters, busy), run_s)


@dataclass(frozen=True, slots=True)
class AndujarFit:
    """The parameters with 95 % intervals; `sleeping_port_fraction` is taken from the standard if nobody measured it."""

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

    A switch without connected ports and with all of its `ports` connected, a node with one thread and with all its
    cores at work. Errors are taken as normal and independent. Without a measured omega_Sport it is the paper's 0.1
    with an interval from 0 to 1, as nothing was measured. TooLittle if a state that draws more was not seen to.
    """
    if ports < 1:
        raise TooLittle("a switch without ports has no power per port: say how many ports were connected.")
    if all_ports.low <= no_ports.high:
        raise TooLittle(
            f"a switch with all ports ({all_ports} W) is not seen to draw more than without ({no_ports} W): measure "
            "for longer, or with a finer meter."
        )
    if node_loaded.low <= node_idle.high:
        raise TooLittle(
            f"a loaded node ({node_loaded} W) is not seen to draw more than an idle one ({node_idle} W): load all of "
            "its cores."
        )
    port_watt = Interval(all_ports.value / ports, all_ports.low / ports, all_ports.high / ports)
    sleeping = Interval(TABLE_2.sleeping_port_fraction, 0.0, 1.0)
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
    return Interval(value, value - half, value + half)


def _less_quotient(above: Interval, below: Interval) -> Interval:
    """1 - above / below."""
    quotient = _quotient(above, below)
    return Interval(1.0 - quotient.value, 1.0 - quotient.high, 1.0 - quotient.low)
