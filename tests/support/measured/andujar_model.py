"""Power and energy of a cluster by Andujar et al. (2023), Table 1 and Eq. 1-7 as printed, port by port.

Switch logic draws a fixed part, ports by the fraction of time in which they are awake, nodes by that in which they
compute. Eq. 4 is printed with a summation missing over its fixed term; here every node has it:
sum over n of Omega_nodes * (omega_Snodes + (1 - omega_Snodes) * U_n).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


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
