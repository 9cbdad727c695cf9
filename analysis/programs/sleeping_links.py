"""The fitted policy of the links that a program uses, and the directions in which they sleep."""

from analysis.calibration import Calibration, LinkPolicy, ProgramTime
from analysis.programs.profile import Direction, Profile


def link_of(calibration: Calibration, profile: Profile, fitted: ProgramTime | None) -> LinkPolicy | None:
    """The policy of the links that a program ran on.

    This is the policy that its run time was fitted with; else that of the path that has most of its hosts.
    """
    if fitted is not None and fitted.link in calibration.links:
        return calibration.links[fitted.link]
    hosts = set(profile.hosts)

    def common(entry: tuple[str, LinkPolicy]) -> int:
        name, link = entry
        return len(hosts & ({end.split(":")[0] for end in link.ends} | set(name.replace("-", " ").split())))

    return max(calibration.links.items(), key=common, default=("", None))[1]


def sleeping_directions(link: LinkPolicy | None, profile: Profile) -> tuple[Direction, ...]:
    """Directions in which a node's link sleeps: `transmit` if the node's end does, `receive` if the switch's does."""
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
