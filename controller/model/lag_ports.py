"""The ports of LAGs in what switches show. Pure.

Switches show a LAG where ports are members of it. In a lab's states every LAG of the inventory has its port at both
switches, so that states with and without it have the same ports: without members it is as from the factory.
Simplification: what a switch keeps for a LAG without members is not read; once ports join it is, and a plan that finds
it different is rolled back.
"""

from dataclasses import replace

from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.state import PortState, SwitchState
from eee_testbed.lab.model import Lab


def new_lag(can: Capabilities) -> PortState:
    """The port of a LAG that has got its first members."""
    return PortState(ingress_filtering=can.lag_filters)


def with_lag_ports(lab: Lab, name: str, shown: SwitchState, can: Capabilities) -> SwitchState:
    """What a switch showed, with the ports of the inventory's LAGs that it did not show."""
    own = {lag.port for lag in lab.lags if name in (lag.link.a.device, lag.link.b.device)}
    missing = sorted(own - shown.ports.keys())
    if not missing:
        return shown
    return replace(shown, ports={**shown.ports, **dict.fromkeys(missing, new_lag(can))})


def without_bare_lags(lab: Lab, name: str, state: SwitchState) -> SwitchState:
    """A switch's settings as it shows them: without the ports of LAGs that have no members."""
    held = {port.lag for port in state.ports.values()}
    bare = {lag.port for lag in lab.lags if lag.number not in held and name in (lag.link.a.device, lag.link.b.device)}
    if not bare & state.ports.keys():
        return state
    return replace(state, ports={port: one for port, one in state.ports.items() if port not in bare})
