"""The fitted policy of the links that a program uses, and the directions in which they sleep."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eee_testbed.analysis.calibration import Calibration, LinkPolicy, ProgramTime
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.links.policies import card_of, policy_of, shares_us
from eee_testbed.analysis.programs.profile import Direction, Profile


def link_of(calibration: Calibration, profile: Profile, fitted: ProgramTime | None) -> LinkPolicy | None:
    """The policy of the links that a program ran on.

    This is the policy that its run time was fitted with; else that of the path that has most of its hosts, rather than
    one that was probed in a state of its own.
    """
    if fitted is not None and fitted.link in calibration.links:
        return calibration.links[fitted.link]
    hosts = set(profile.hosts)

    def common(entry: tuple[str, LinkPolicy]) -> tuple[int, bool]:
        name, link = entry
        devices = {end.split(":")[0] for end in link.ends} | set(name.replace("-", " ").split())
        return len(hosts & devices), "=" not in name

    return max(calibration.links.items(), key=common, default=("", None))[1]


def sleeping_directions(link: LinkPolicy | None, profile: Profile) -> tuple[Direction, ...]:
    """Directions in which a node's link sleeps: `transmit` if the node's end does, `receive` if the switch's does."""
    return directions_of(link, profile.hosts)


def directions_of(link: LinkPolicy | None, hosts_of_program: Sequence[str]) -> tuple[Direction, ...]:
    """As `sleeping_directions`, of a program's hosts; both directions where the policy does not say whose it is."""
    if link is None or not link.ends:
        return ("transmit", "receive")
    hosts = set(hosts_of_program)
    devices = {end.split(":")[0] for end in link.ends}
    directions: list[Direction] = []
    if devices & hosts:
        directions.append("transmit")
    if devices - hosts:
        directions.append("receive")
    return tuple(directions)


def sleeping_policies(link: LinkPolicy, profile: Profile) -> Mapping[Direction, Policy]:
    """The policy of each direction in which a node's link sleeps: a switch's port receives for it, its card transmits.

    Where echoes do not tell which of two groups are the cards, they may be exchanged: a frame that passes both waits as
    long, if their holds are alike.
    """
    port, card = policy_of(link), card_of(link)
    if card is not None and link.path_wake_us is not None:
        port_us, card_us = shares_us(link, link.path_wake_us.value, port.wake_us, card.wake_us)
        port, card = replace(port, wake_us=float(port_us)), replace(card, wake_us=float(card_us))
    by_direction: dict[Direction, Policy] = {"transmit": card or port, "receive": port}
    return {direction: by_direction[direction] for direction in sleeping_directions(link, profile)}
