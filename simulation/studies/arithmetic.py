"""What follows from the two papers' own numbers, without any simulation: bounds that points are held to.

Andújar et al. (2023): Eq. 1 to 7 with Table 2. Georgakoudis et al. (2019): Tables II to VI.
"""

from typing import Final

from eee_testbed.analysis.predict.other_networks import PAPER_POWER

DEEP_SAVING: Final = 0.9
FAST_SAVING: Final = 0.4
"""Of active power, in deep sleep and in fast wake (Georgakoudis, Table VI)."""


def most_network_saving() -> float:
    """The share of W_net that is saved if all ports sleep all the time (Eq. 1, 2).

    >>> round(most_network_saving(), 4)
    0.7344
    """
    return PAPER_POWER.ports_fraction.value * (1 - PAPER_POWER.sleeping_port_fraction.value)


def network_share(ports: int, nodes: int, cpu_use: float) -> float:
    """W_net of W_cluster with links always on (Eq. 3 to 5); `ports` are all of all switches.

    The torus 4D of the paper, nodes full and idle:

    >>> [round(100 * network_share(2304, 256, use), 1) for use in (1, 0)]
    [13.0, 23.1]
    """
    network = ports * PAPER_POWER.port_watt.value
    idle = PAPER_POWER.idle_node_fraction.value
    return network / (network + nodes * PAPER_POWER.node_watt.value * (idle + (1 - idle) * cpu_use))


def cpu_use_of_share(share: float, ports: int, nodes: int) -> float:
    """U_cpu at which the network has this share of W_cluster; outside of 0 to 1 if it never has.

    >>> round(cpu_use_of_share(0.22, 2304, 256), 2), round(cpu_use_of_share(0.07, 858, 312), 2)
    (0.06, 0.22)
    """
    network = ports * PAPER_POWER.port_watt.value
    idle = PAPER_POWER.idle_node_fraction.value
    return ((network / share - network) / (nodes * PAPER_POWER.node_watt.value) - idle) / (1 - idle)


def break_even_slowdown(share: float, saving: float) -> float:
    """The slowdown above which E_cluster grows, if the network has this share of it and saves this share of W_net.

    D80 with full nodes, where all links sleep all the time:

    >>> round(100 * break_even_slowdown(network_share(160, 80, 1.0), most_network_saving()), 1)
    2.4
    """
    saved = share * saving
    return saved / (1 - saved)


def least_makespan_s(injected_byte: float, nodes: int, node_byte_per_s: float) -> float:
    """No set of jobs ends before its bytes have left the nodes.

    Set Low on 64 nodes at 10 GB/s, and at 10 Gb/s:

    >>> [round(least_makespan_s(645e9, 64, rate), 1) for rate in (10e9, 1.25e9)]
    [1.0, 8.1]
    """
    return injected_byte / (nodes * node_byte_per_s)


def hybrid_deficit(deep_after_s: float, gaps: float, time_s: float) -> float:
    """The most by which a link saves less in hybrid mode than in deep sleep, as a share of active power.

    Both have the same gaps and the same first hold; hybrid is in fast wake for `deep_after_s` of each, where it saves
    0.4 instead of 0.9.
    """
    return (DEEP_SAVING - FAST_SAVING) * deep_after_s * gaps / time_s


def least_hybrid_saving(deep_saving: float, hold_s: float, sleep_s: float) -> float:
    """What hybrid mode saves at least where deep sleep saves `deep_saving`, whatever the gaps (both holds equal).

    Each gap that deep sleep uses costs it 0.9 of hold and Ts, so that there are few of them. Georgakoudis et al. print
    82 % at least for deep sleep and 38 to 43 % for hybrid; with 82 %, and holds of 4, 2 and 1 Ts, hybrid saves at least

    >>> [round(least_hybrid_saving(0.82, hold, 1.1e-6), 3) for hold in (4.4e-6, 2.2e-6, 1.1e-6)]
    [0.784, 0.79, 0.798]
    """
    gaps_each_s = (DEEP_SAVING - deep_saving) / (DEEP_SAVING * (hold_s + sleep_s))
    return deep_saving - hybrid_deficit(hold_s, gaps_each_s, 1.0)
