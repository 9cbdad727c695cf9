"""Link aggregation: whether the switches have the LAGs of the inventory. Pure.

LAGs are static (802.1AX without LACP) and set up by a person. The testbed treats each one as a link with the rate of
all its cables together, and never changes its members.
"""

from controller.model.state import State
from lab.errors import PlanError
from lab.model import Lab


def require_lags(lab: Lab, state: State) -> None:
    """PlanError if a switch's LAGs differ from the inventory; it says what to set up first."""
    for switch in lab.switches:
        ports = state.switches[switch.name].ports
        for lag in lab.lags:
            members = lag.ports_at(switch.name)
            if not members:
                continue
            missing = [port for port in members if ports[port].lag != lag.number]
            if missing or lag.port not in ports:
                raise PlanError(
                    f"{switch.name}: {', '.join(missing or members)} should be members of LAG {lag.number}, as "
                    f"cables.csv has it: set up the static LAG {lag.number} of {', '.join(members)} there first."
                )
        known = {port: lag.number for lag in lab.lags for port in lag.ports_at(switch.name)}
        for port, held in ports.items():
            if held.lag is not None and known.get(port) != held.lag:
                raise PlanError(
                    f"{switch.name}: {port} is a member of LAG {held.lag}, which cables.csv does not list: enter it "
                    "in the column `lag` there, or take the port out of the LAG."
                )
