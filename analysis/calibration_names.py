"""Names for people of every key of a calibration's file, with units: reports and `eeectl fit` show them."""

from collections.abc import Mapping, Sequence
from typing import Final

from eee_testbed.analysis.calibration import LinkPolicy

NAMES: Final[Mapping[str, tuple[str, str]]] = {
    # a link's EEE policy
    "ends": ("ends of the path", ""),
    "kind": ("policy", ""),
    "sleeper_count": ("transmitters that sleep on the path", ""),
    "card_count": ("hosts' cards on the path", ""),
    "which": ("known which of them sleep", ""),
    "path_wake_us": ("sum of all wakes of a round trip", "us"),
    "largest_gap_us": ("longest pause that was tried", "us"),
    "stream_every_us": ("time between frames of a stream that kept ports awake", "us"),
    "base_us": ("round trip awake", "us"),
    "noise_us": ("scatter of the round trips", "us"),
    "hold_us": ("idle time before sleep (hold)", "us"),
    "sleep_us": ("falling asleep (Ts)", "us"),
    "wake_us": ("wake of one transmitter (Tw)", "us"),
    "fast_wake_us": ("wake from fast wake", "us"),
    "deep_after_us": ("fast wake before deep sleep", "us"),
    "wait_us": ("wait for more frames (coalescing)", "us"),
    "card_hold_us": ("hosts' cards: hold", "us"),
    "card_sleep_us": ("hosts' cards: falling asleep (Ts)", "us"),
    "card_wake_us": ("hosts' cards: wake (Tw)", "us"),
    "echo_count": ("echoes used", ""),
    "lost_count": ("echoes lost", ""),
    "explained_fraction": ("share of the spread that is explained", "%"),
    "evidence": ("lead over the next best policy", "(above 10: very strong)"),
    # power
    "family": ("family", ""),
    "base_watt": ("switch without its ports", "W"),
    "port_by_mbps": ("port at", "Mb/s"),
    "port_by_kind": ("port with", ""),
    "cable_watt": ("cable plugged in, port shut", "W"),
    "enabled_watt": ("more with the port enabled, no link", "W"),
    "link_watt": ("more with link, without EEE", "W"),
    "lpi_fraction": ("share of these two left in LPI", "%"),
    "residual_watt": ("left after the port is shut again", "W"),
    "carrying_watt": ("more once it carries traffic", "W"),
    "bit_picojoule": ("a bit that the switch forwards", "pJ"),
    "packet_nanojoule": ("a packet that the switch forwards", "nJ"),
    "drift_watt": ("drift that was removed, std. deviation", "W"),
    "noise_watt": ("scatter of the readings, std. deviation", "W"),
    "window_count": ("windows of readings used", ""),
    "idle_watt": ("idle", "W"),
    "loaded_watt": ("all cores busy", "W"),
    "lpi_saved_watt": ("saves in low-power idle", "W"),
    "card_mbps": ("speed of the card's link", "Mb/s"),
    "card_saved_watt": ("its card saves in low-power idle", "W"),
    "port_watt": ("a port (Omega_port)", "W"),
    "ports_fraction": ("ports' share of a switch (omega_ports)", "%"),
    "sleeping_port_fraction": ("share left of a sleeping port (omega_Sport)", "%"),
    "node_watt": ("a busy node (Omega_nodes)", "W"),
    "idle_node_fraction": ("share left of an idle node (omega_Snodes)", "%"),
    # run time under EEE
    "program": ("program", ""),
    "node_count": ("nodes", ""),
    "rank_count": ("ranks", ""),
    "configuration_count": ("configurations used", ""),
    "link": ("with the policy of", ""),
    "miwa": ("Miwa's model", ""),
    "wakes": ("gaps and wakes", ""),
    "rounds": ("replayed rounds", ""),
    "threshold_us": ("longest gap without cost (t)", "us"),
    "plateau_us": ("cost of a longer gap (c)", "us"),
    "alpha_per_us": ("steepness (alpha)", "1/us"),
    "origin_us": ("where the curve begins (t0)", "us"),
    "residual_us": ("scatter about the model", "us"),
    "error": ("error of run times", ""),
    "mean_percent": ("mean", "%"),
    "worst_percent": ("worst", "%"),
    "held_out": ("on configurations that were not fitted", ""),
    "serial_count": ("waits one after the other in a round", ""),
    "abreast_count": ("links that wake side by side", ""),
    "hidden_us": ("wait that costs a round nothing", "us"),
}
"""Name and unit of a value by the last word of its path of keys. A fraction is shown in percent."""


def whose(link: LinkPolicy, hosts: Sequence[str]) -> str:
    """Whether a policy is of ports and cards apart, or of both together; "" if its ends are of one kind."""
    if not link.which:
        return "echoes cannot tell ports from cards"
    apart = link.card_hold_us is not None or link.card_sleep_us is not None or link.card_wake_us is not None
    of_hosts = {end.split(":")[0] in hosts for end in link.ends}
    return "" if apart or len(of_hosts) < 2 else "ports and cards together"
