"""Which fitted link policy a program's links have, and in which directions they sleep."""

from analysis.calibration import Calibration, LinkPolicy, ProgramTime
from analysis.programs.profile import Direction, Profile


def link_of(calibration: Calibration, profile: Profile, fitted: ProgramTime | None) -> LinkPolicy | None:
    """The policy of the links that a program ran on: that its time was fitted with, else of a path between its hosts.

    If there is none, of one at some of its hosts; else any.
    """
    if fitted is not None and fitted.link in calibration.links:
        return calibration.links[fitted.link]
    hosts = set(profile.hosts)

    def common(entry: tuple[str, LinkPolicy]) -> int:
        name, link = entry
        return len(hosts & ({end.split(":")[0] for end in link.ends} | set(name.replace("-", " ").split())))

    return max(calibration.links.items(), key=common, default=("", None))[1]


def sleeping_directions(link: LinkPolicy | None, profile: Profile) -> tuple[Direction, ...]:
    """Directions of a node's link in which it sleeps: the node's own end transmits, the switch's is received."""
    if link is None or not link.ends:
        return ("transmit", "receive")
    hosts = set(profile.hosts)
    devices = {end.split(":")[0] for end in link.ends}
    directions: list[Direction] = []
    if devices & hosts:
        directions.append("transmit")
    if devices - hosts:
        directions.append("receive")
    return tuple(directions)
