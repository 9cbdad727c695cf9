"""The proof of a plan without any shortcut: every prefix judged from nothing. What `check` is tested against."""

from collections.abc import Iterable, Sequence

from eee_testbed.controller.model.state import Change, Draft, State
from eee_testbed.controller.planning.check import Fault, Management, Watch, required_hosts
from eee_testbed.lab.errors import UnsafePlan
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology


def faults_of(
    lab: Lab, state: State, hosts: Iterable[str] | None = None, management: Management | None = None
) -> tuple[Fault, ...]:
    """Every fault of one state."""
    return Watch(lab, state, hosts, management).faults


def check_plainly(lab: Lab, state: State, changes: Sequence[Change], management: Management | None = None) -> None:
    """The same verdict as `check`, slowly."""
    hosts = required_hosts(Topology.of(lab), state)
    draft = Draft(state)
    _refuse(0, faults_of(lab, state, hosts, management))
    for step, change in enumerate(changes, start=1):
        draft.apply(change)
        _refuse(step, faults_of(lab, draft.freeze(), hosts, management))


def _refuse(step: int, faults: Sequence[Fault]) -> None:
    if faults:
        raise UnsafePlan(step, faults[0].harm, faults[0].path)
