"""`eeectl link off|on|speed|flow-control|lag`: links between switches, without hosts noticing."""

from typing import Annotated, Literal

from cyclopts import App, Parameter

from eee_testbed.controller.planning.site import management_of
from eee_testbed.controller.planning.wishes import FlowControl, LinkOff, LinkOn, LinkSpeed, SetUpLag, TakeDownLag
from eee_testbed.eeectl.apply_options import ApplyOptions
from eee_testbed.eeectl.interactive import plan_and_apply
from eee_testbed.eeectl.lab_name import LabName, lab_in_reach
from eee_testbed.lab.named_links import lag_named, links_named, trunk_named, trunk_or_member_named

link_app = App(
    name="link",
    help="Turn links between switches off and on, set their speed and flow control, set up LAGs; traffic moves first.",
)

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
    known = lab_in_reach(lab)
    wish = LinkOff(trunk_or_member_named(known, link).name, leave, may_lose)
    return plan_and_apply(known, wish, f"link off {link}", apply_options, management_of(known, management))


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
    known = lab_in_reach(lab)
    wish = LinkOn(trunk_or_member_named(known, link).name, may_lose)
    return plan_and_apply(known, wish, f"link on {link}", apply_options, management_of(known, management))


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
    known = lab_in_reach(lab)
    wish = LinkSpeed((trunk_named(known, link).name,), None if mbps == "auto" else int(mbps))
    return plan_and_apply(known, wish, f"link speed {link} {mbps}", apply_options, management_of(known, management))


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
    known = lab_in_reach(lab)
    name = lag_named(known, lag).link.name
    wish = SetUpLag(name) if action == "set-up" else TakeDownLag(name)
    return plan_and_apply(known, wish, f"link lag {action} {lag}", apply_options, management_of(known, management))


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
    known = lab_in_reach(lab)
    wish = FlowControl(tuple(link.name for link in links_named(known, links, every=every)), state == "on", may_flap)
    command = f"link flow-control {state} {words}"
    return plan_and_apply(known, wish, command, apply_options, management_of(known, management))
