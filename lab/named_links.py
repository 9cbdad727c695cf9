"""Links by the names that people give them; the one place that says that a name fits no link."""

from collections.abc import Sequence

from eee_testbed.lab.errors import LabError, PlanError
from eee_testbed.lab.model import Lab, Lag, Link


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


def cable_or_lag_named(lab: Lab, name: str) -> Link:
    """A LAG by its own name or end, else the cable of that name; PlanError if the lab has neither."""
    lags = (lag.link for lag in lab.lags)
    names = ((lag, {lag.name, f"{lag.b}--{lag.a}", str(lag.a), str(lag.b)}) for lag in lags)
    return next((lag for lag, of_lag in names if name in of_lag), None) or link_named(lab, name)


def trunk_or_member_named(lab: Lab, name: str) -> Link:
    """As `cable_or_lag_named`, but PlanError for a host's link."""
    link = cable_or_lag_named(lab, name)
    require_between_switches(lab, link)
    return link


def lag_named(lab: Lab, name: str) -> Lag:
    """The LAG of that name, or of which a cable has it; PlanError if cables.csv has none."""
    trunk = trunk_named(lab, name)
    lag = next((lag for lag in lab.lags if lag.link == trunk), None)
    if lag is None:
        ends = ", ".join(str(lag.link.a) for lag in lab.lags) or "none"
        raise PlanError(f"{name} is in no LAG of cables.csv, which has {ends}: enter it in the column `lag` there.")
    return lag


def names_of(lab: Lab, names: Sequence[str], *, every: bool) -> tuple[str, ...]:
    """The full names of cables that a person names, or of all of the lab's; LabError unless it is one of the two."""
    if every == bool(names):
        raise LabError("name links, or give --all for every link of the lab; one of the two, not both.")
    return tuple(link.name for link in (lab.links if every else (link_named(lab, name) for name in names)))


def require_between_switches(lab: Lab, link: Link) -> None:
    """PlanError if a link is a host's, which has no other."""
    if {link.a.device, link.b.device} & {host.name for host in lab.hosts}:
        raise PlanError(f"{link.name} is a host's only link: name a link between two switches.")


def _unknown(lab: Lab, name: str) -> PlanError:
    return PlanError(
        f"lab {lab.name} has no link '{name}': name it by its number, an end such as {lab.links[0].a}, or its host."
    )
