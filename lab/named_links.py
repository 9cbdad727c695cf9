"""Links by the names that people give them; the one place that says that a name fits no link."""

from lab.errors import PlanError
from lab.model import Lab, Link


def link_named(lab: Lab, name: str) -> Link:
    """The cable of that name, as `Lab.find_link` knows it; PlanError if the lab has no such link."""
    try:
        return lab.find_link(name)
    except KeyError:
        raise _unknown(lab, name) from None


def trunk_named(lab: Lab, name: str) -> Link:
    """The link between two switches of that name, a LAG as a whole; PlanError for an unknown or a host's link."""
    try:
        link = lab.find_trunk(name)
    except KeyError:
        raise _unknown(lab, name) from None
    require_between_switches(lab, link)
    return link


def require_between_switches(lab: Lab, link: Link) -> None:
    """PlanError if a link is a host's, which has no other."""
    if {link.a.device, link.b.device} & {host.name for host in lab.hosts}:
        raise PlanError(f"{link.name} is a host's only link: name a link between two switches.")


def _unknown(lab: Lab, name: str) -> PlanError:
    return PlanError(
        f"lab {lab.name} has no link '{name}': name it by its number, an end such as {lab.links[0].a}, or its host."
    )
