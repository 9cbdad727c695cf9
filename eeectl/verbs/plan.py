"""`eeectl plan`: show what `apply` would do, in which order, and what it costs. Sends nothing."""

import json
from typing import Annotated, Literal

from cyclopts import App, Parameter

from eee_testbed.controller.applying.observe import observe_lab
from eee_testbed.controller.drivers.table import capabilities_of
from eee_testbed.controller.model.state import factory_state
from eee_testbed.controller.planning.limits import abilities_of
from eee_testbed.controller.planning.multi_tree import head_of
from eee_testbed.controller.planning.plan_text import plan_json, print_head, print_steps
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.site import Site, management_of
from eee_testbed.eeectl.exit_status import DONE, PENDING
from eee_testbed.eeectl.lab_name import LabName, known_lab, lab_in_reach
from eee_testbed.eeectl.routing_options import RoutingOptions

ASSUMED = "as from the factory: every port up, untagged in VLAN 1, spanning tree on (assumed, nothing was observed)"

Start = Literal["observed", "factory"]

plan_app = App(name="plan", default_parameter=Parameter(consume_multiple=True, negative=""))


@plan_app.default
def plan(
    lab: LabName = "",
    *,
    routing: Annotated[RoutingOptions, Parameter(name="*")] = RoutingOptions(),  # noqa: B008 - frozen
    start: Start = "observed",
    management: str | None = None,
    every_step: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Show how a lab would be brought to multi-tree routing, proved step by step; nothing is sent.

    Exit status 3 means that something is to be changed, 0 that nothing is.

    Parameters
    ----------
    lab
        Name of a lab in ./inventory or among the shipped ones, or a folder.
    routing
        Which trees, and further conditions.
    start
        `observed`: the present settings of the switches; `factory`: factory settings, without asking any switch.
    management
        In-band management as SWITCH:VLAN; left out: the inventory's `way_in`, else out of band.
    every_step
        Print one line for each step, not for each kind of step.
    as_json
        Print JSON.

    """
    known = known_lab(lab) if start == "factory" else lab_in_reach(lab)
    abilities = abilities_of(known, capabilities_of)
    wish, site = routing.wish(known), Site(known, management_of(known, management), abilities)
    found = plan_for(site, factory_state(known) if start == "factory" else observe_lab(known), wish)
    head = head_of(known, wish, found, ASSUMED) if start == "factory" else head_of(known, wish, found)
    if as_json:
        print(json.dumps(plan_json(known, head, found), indent=1))
    else:
        print_head(known, head)
        print_steps(found, every_step=every_step)
        print("nothing was sent")
    return PENDING if found.steps else DONE
