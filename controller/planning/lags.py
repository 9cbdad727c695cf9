"""Link aggregation: whether the switches have the LAGs of the inventory. Pure.

LAGs are static (802.1AX without LACP); `controller.planning.lag_setup` sets them up. The testbed treats each one as a
link with the rate of all its cables together. Members may be out of it while their cable is shut
(`controller.planning.members`); one at least stays, as switches forget a LAG without members.
"""

from eee_testbed.controller.model.state import Draft, State
from eee_testbed.controller.planning.broadcast import is_member, loose_cables
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology


def require_lags(lab: Lab, state: State) -> None:
    """PlanError if a switch's LAGs differ from the inventory; it says what to set up first."""
    topology, draft = Topology.of(lab), Draft(state)
    for switch in lab.switches:
        ports = state.switches[switch.name].ports
        for lag in lab.lags:
            members = lag.ports_at(switch.name)
            if not members:
                continue
            number = lag.link.number
            up = {end.port for cable in loose_cables(topology, draft, number) for end in (cable.a, cable.b)}
            whole = any(is_member(topology, draft, number, cable) for cable in lag.members)
            missing = [
                port
                for port in members
                if ports[port].lag != lag.number and (port in up or ports[port].lag is not None or not whole)
            ]
            if missing or lag.port not in ports:
                raise PlanError(
                    f"{switch.name}: {', '.join(missing or members)} should be members of LAG {lag.number}, as "
                    f"cables.csv has it: set up the static LAG {lag.number} of {', '.join(members)} first, with "
                    f"`eeectl link lag set-up {lag.link.a}` or by hand."
                )
        lags_by_port = {port: lag.number for lag in lab.lags for port in lag.ports_at(switch.name)}
        for port, held in ports.items():
            if held.lag is not None and lags_by_port.get(port) != held.lag:
                raise PlanError(
                    f"{switch.name}: {port} is a member of LAG {held.lag}, which cables.csv does not list: enter it "
                    "in the column `lag` there, or take the port out of the LAG."
                )
