"""`eeectl link off|on|speed|flow-control|lag`: links between switches, without hosts noticing."""

from collections.abc import Callable
from typing import Annotated, Literal

from cyclopts import App, Parameter

from eee_testbed.controller.applying.work import Work
from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.lag_setup import set_up_lag, take_down_lag
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.planning.members import lag_with, member_off, member_on
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import flow_control, link_off, link_on, link_speed
from eee_testbed.controller.planning.routing_options import management_of
from eee_testbed.eeectl.apply_options import ApplyOptions
from eee_testbed.eeectl.interactive import plan_and_apply
from eee_testbed.eeectl.lab_name import LabName
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.named_links import lag_named, links_named, trunk_named, trunk_or_member_named

link_app = App(
    name="link",
    help="Turn links between switches off and on, set their speed and flow control, set up LAGs; traffic moves first.",
)

_Regulate = Callable[[Lab, State, Link, Management | None, Abilities], ProvedPlan]
_Flag = Annotated[bool, Parameter(negative="")]


@link_app.command
def off(
    link: str,
    /,
    *,
    lab: LabName = "",
    leave: _Flag = False,
    may_lose: _Flag = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
    management: str | None = None,
) -> int:
    """Move traffic off a link between switches, then shut it at both ends.

    Of a LAG either the whole, named as sw1:lag1, or one of its cables, while the others go on.

    Parameters
    ----------
    link
        Its number in cables.csv, or an end such as sw1:gi1/0/11 or sw1:lag1.
    lab
        Name of a lab, or a folder.
    leave
        Take the ports of a LAG's cable out of the LAG, too.
    may_lose
        Let frames on a LAG's cable be lost, for the time that its steps show, if the LAG's traffic has no other path.
    apply_options
        How it is applied.
    management
        In-band management as SWITCH:VLAN; left out: the inventory's `way_in`, else out of band.

    """

    def regulate(known: Lab, state: State, one: Link, in_band: Management | None, abilities: Abilities) -> ProvedPlan:
        if lag_with(known, one) is not None:
            return member_off(
                known, state, one, leave=leave, may_lose=may_lose, management=in_band, abilities=abilities
            )
        if leave:
            raise PlanError(f"{one.name} is no cable of a LAG: leave --leave out, or name one by its own port.")
        return link_off(known, state, one, in_band, abilities)

    return _regulate(lab, f"link off {link}", link, regulate, apply_options, management, trunk_or_member_named)


@link_app.command
def on(
    link: str,
    /,
    *,
    lab: LabName = "",
    may_lose: _Flag = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
    management: str | None = None,
) -> int:
    """Wake a link between switches, and give it to hosts that are nearer to each other over it.

    Of a LAG either the whole, named as sw1:lag1, or one of its cables, which is put back into the LAG if it is out.

    Parameters
    ----------
    link
        Its number in cables.csv, or an end such as sw1:gi1/0/11 or sw1:lag1.
    lab
        Name of a lab, or a folder.
    may_lose
        Let frames on a LAG's cable be lost, for the time that its steps show, if the LAG's traffic has no other path.
    apply_options
        How it is applied.
    management
        In-band management as SWITCH:VLAN; left out: the inventory's `way_in`, else out of band.

    """

    def regulate(known: Lab, state: State, one: Link, in_band: Management | None, abilities: Abilities) -> ProvedPlan:
        if lag_with(known, one) is not None:
            return member_on(known, state, one, may_lose=may_lose, management=in_band, abilities=abilities)
        return link_on(known, state, one, management=in_band, abilities=abilities)

    return _regulate(lab, f"link on {link}", link, regulate, apply_options, management, trunk_or_member_named)


@link_app.command
def speed(
    link: str,
    mbps: Literal["auto", "10", "100", "1000", "2500", "5000", "10000"],
    /,
    *,
    lab: LabName = "",
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
    management: str | None = None,
) -> int:
    """Move traffic off a link between switches, set both ends to a speed, and move the traffic back.

    Of a LAG every cable gets the speed, whichever of them is named.

    Parameters
    ----------
    link
        Its number in cables.csv, or an end such as sw1:gi1/0/11.
    mbps
        The speed in Mb/s, or `auto` to let the ends negotiate.
    lab
        Name of a lab, or a folder.
    apply_options
        How it is applied.
    management
        In-band management as SWITCH:VLAN; left out: the inventory's `way_in`, else out of band.

    """
    wanted_mbps = None if mbps == "auto" else int(mbps)

    def regulate(known: Lab, state: State, trunk: Link, in_band: Management | None, abilities: Abilities) -> ProvedPlan:
        return link_speed(known, state, trunk, wanted_mbps, in_band, abilities)

    return _regulate(lab, f"link speed {link} {mbps}", link, regulate, apply_options, management)


@link_app.command(name="lag")
def lag_command(
    action: Literal["set-up", "take-down"],
    lag: str,
    /,
    *,
    lab: LabName = "",
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
    management: str | None = None,
) -> int:
    """Set up a static LAG of cables.csv at both ends, or take it down.

    Its cables are shut while their ports join or leave. Set up: those that were up are woken then; hosts that need one
    keep it until the others make the LAG. Taken down: traffic moves to other paths first, and the cables stay shut.

    Parameters
    ----------
    action
        `set-up` or `take-down`.
    lag
        An end such as sw1:lag1, or one of its cables.
    lab
        Name of a lab, or a folder.
    apply_options
        How it is applied.
    management
        In-band management as SWITCH:VLAN; left out: the inventory's `way_in`, else out of band.

    """
    change = set_up_lag if action == "set-up" else take_down_lag

    def planner(work: Work) -> Callable[[State], ProvedPlan]:
        one, in_band = lag_named(work.lab, lag), management_of(work.lab, management)
        return lambda found: change(work.lab, found, one, in_band, work.backend.abilities)

    return plan_and_apply(lab, planner, f"link lag {action} {lag}", apply_options)


@link_app.command(name="flow-control")
def flow_control_command(
    state: Literal["on", "off"],
    /,
    *links: str,
    lab: LabName = "",
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    may_flap: Annotated[bool, Parameter(negative="")] = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
    management: str | None = None,
) -> int:
    """Turn flow control (802.3x) on or off at the switch ends of links, traffic moved away first where it can be.

    It is refused where the lab's trees would let full switches wait for each other in a circle, which is shown.

    Parameters
    ----------
    state
        Whether the ports are to offer to pause their partner, and to pause when it asks.
    links
        Numbers in cables.csv, ends such as sw1:gi1/0/11, or hosts.
    lab
        Name of a lab, or a folder.
    every
        All links of the lab.
    may_flap
        Let links restart under hosts that have no other path, hosts' own links among them. Steps show for how many
        seconds. Without it, a change that needs this is refused.
    apply_options
        How it is applied.
    management
        In-band management as SWITCH:VLAN; left out: the inventory's `way_in`, else out of band.

    """
    words = " ".join(("--all",) if every else links)

    def planner(work: Work) -> Callable[[State], ProvedPlan]:
        chosen, in_band = links_named(work.lab, links, every=every), management_of(work.lab, management)
        return lambda found: flow_control(
            work.lab,
            found,
            chosen,
            on=state == "on",
            may_flap=may_flap,
            management=in_band,
            abilities=work.backend.abilities,
        )

    return plan_and_apply(lab, planner, f"link flow-control {state} {words}", apply_options)


def _regulate(
    lab: str,
    command: str,
    link: str,
    regulate: _Regulate,
    apply_options: ApplyOptions,
    management: str | None,
    named: Callable[[Lab, str], Link] = trunk_named,
) -> int:
    def planner(work: Work) -> Callable[[State], ProvedPlan]:
        one, in_band = named(work.lab, link), management_of(work.lab, management)
        return lambda state: regulate(work.lab, state, one, in_band, work.backend.abilities)

    return plan_and_apply(lab, planner, command, apply_options)
