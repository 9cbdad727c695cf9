"""The hands that act on a real lab, or on one that looks real: sessions, drivers, hosts, a guardian."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from controller.applying.actuation import link_watch
from controller.applying.host_check import check_hosts
from controller.applying.reachability import Verdict
from controller.applying.work import Backend
from controller.drivers.table import capabilities_of, driver_of
from controller.model.state import State
from controller.planning.check import required_hosts
from controller.planning.limits import abilities_of
from controller.transports.switches import open_session
from lab.errors import LabError
from lab.model import Lab
from lab.topology import Topology


def require_joined(lab: Lab, state: State, say: Callable[[str], None] = lambda _: None) -> None:
    """Let all hosts whose port is up look for each other, twice if the first look shows something grave.

    LabError if one does not reach another, if frames come more than once, or if hosts see frames for others. What may
    have other causes is told only: hosts that give no report, a few frames lost, frames that cannot be looked at.
    """
    hosts = sorted(required_hosts(Topology.of(lab), state))
    verdict = check_hosts(lab, hosts)
    if _grave(verdict):
        verdict = check_hosts(lab, hosts)  # a link may just have come up
    grave = _grave(verdict)
    for complaint in verdict.complaints:
        if complaint not in grave:
            say(complaint)
    if grave:
        raise LabError(f"the hosts do not see what they should ({'; '.join(grave)}).")


def _grave(verdict: Verdict) -> tuple[str, ...]:
    return replace(verdict, silent={}, lossy={}, suspects={}).complaints


def real_backend(
    lab: Lab,
    *,
    guard: Callable[[Lab], AbstractContextManager[int]] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Backend:
    """Hands for a lab; PlanError if a switch's family has no driver."""
    return Backend(
        open_session,
        driver_of,
        abilities_of(lab, capabilities_of),
        check_hosts=lambda lab, state: require_joined(lab, state, say),
        guard=guard,
        watch_links=link_watch(lab),
    )
