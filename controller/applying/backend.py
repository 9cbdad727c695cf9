"""The backend for a real or virtual lab: sessions, drivers, the check between hosts, a guardian."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from eee_testbed.controller.applying.actuation import Watcher, link_watch
from eee_testbed.controller.applying.host_check import check_hosts
from eee_testbed.controller.applying.port_proof import prove_ports
from eee_testbed.controller.applying.work import Backend
from eee_testbed.controller.drivers.table import capabilities_of, driver_of
from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.check import required_hosts
from eee_testbed.controller.planning.limits import abilities_of
from eee_testbed.controller.transports.port_watch import PortWatch, seldom
from eee_testbed.controller.transports.switches import open_session
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology


def require_joined(lab: Lab, state: State, say: Callable[[str], None] = lambda _: None) -> None:
    """Let all hosts whose port is up probe each other.

    LabError if one does not reach another, if frames come more than once, or if hosts see frames for others. What may
    have other causes is said only: hosts that give no report, a few frames lost, more frames than are accounted for.
    """
    hosts = sorted(required_hosts(Topology.of(lab), state))
    verdict = check_hosts(lab, hosts)
    serious = verdict.serious
    for complaint in verdict.complaints:
        if complaint not in serious:
            say(complaint)
    if serious:
        raise LabError(f"the check between hosts failed ({'; '.join(serious)}).")


def real_backend(
    lab: Lab,
    *,
    guard: Callable[[Lab], AbstractContextManager[int]] | None = None,
    say: Callable[[str], None] = lambda _: None,
    watcher: Watcher = PortWatch,
) -> Backend:
    """The backend for a lab; PlanError if a switch's family has no driver. `watcher`: of links that it changes."""
    return Backend(
        open_session,
        driver_of,
        abilities_of(lab, capabilities_of),
        check_hosts=lambda lab, state: require_joined(lab, state, say),
        guard=guard,
        watch_links=link_watch(lab, watcher),
        prove_ports=prove_ports,
    )


def measured_backend(lab: Lab, say: Callable[[str], None]) -> Backend:
    """The backend of a lab that is being measured: it asks ten times a second how links are, not hundreds of times."""
    return real_backend(lab, say=say, watcher=seldom)
