"""`eeectl link off|on|speed|flow-control|lag`: links between switches, without hosts noticing."""

from typing import Annotated, Literal

from cyclopts import App, Parameter

from eee_testbed.controller.planning.wishes import FlowControl, LinkOff, LinkOn, LinkSpeed, SetUpLag, TakeDownLag
from eee_testbed.eeectl.apply_options import ApplyOptions
from eee_testbed.eeectl.interactive import grant
from eee_testbed.eeectl.lab_name import LabName, lab_in_reach
from eee_testbed.lab.named_links import lag_named, names_of, trunk_named, trunk_or_member_named

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
) -> int:
    """Move traffic off a link between switches, then shut it at both ends.

    For a LAG, sw1:lag1 means the whole LAG. A cable's own name means that cable alone, while the others carry on.

    Parameters
    ----------
    link
        Its number in cables.csv, or an end such as sw1:gi1/0/11 or sw1:lag1.
    lab
        Name of a lab, or a folder.
    leave
        Also remove the ports of a LAG's cable from the LAG.
    may_lose
        Accept lost frames on a LAG's cable if the LAG's traffic has no other path. The steps show for how long.
    apply_options
        How it is applied.

    """
    known = lab_in_reach(lab)
    wish = LinkOff(trunk_or_member_named(known, link).name, leave, may_lose)
    return grant(known, wish, f"link off {link}", apply_options)


@link_app.command
def on(
    link: str,
    /,
    *,
    lab: LabName = "",
    may_lose: _Flag = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
) -> int:
    """Turn a link between switches on, and route hosts over it whose path it shortens.

    For a LAG, sw1:lag1 means the whole LAG. A cable's own name means that cable, which rejoins the LAG if it had left.

    Parameters
    ----------
    link
        Its number in cables.csv, or an end such as sw1:gi1/0/11 or sw1:lag1.
    lab
        Name of a lab, or a folder.
    may_lose
        Accept lost frames on a LAG's cable if the LAG's traffic has no other path. The steps show for how long.
    apply_options
        How it is applied.

    """
    known = lab_in_reach(lab)
    wish = LinkOn(trunk_or_member_named(known, link).name, may_lose)
    return grant(known, wish, f"link on {link}", apply_options)


@link_app.command
def speed(
    link: str,
    mbps: Literal["auto", "10", "100", "1000", "2500", "5000", "10000"],
    /,
    *,
    lab: LabName = "",
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
) -> int:
    """Move traffic off a link between switches, set both ends to a speed, and move the traffic back.

    All cables of a LAG get the speed, whichever of them is named.

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

    """
    known = lab_in_reach(lab)
    wish = LinkSpeed((trunk_named(known, link).name,), None if mbps == "auto" else int(mbps))
    return grant(known, wish, f"link speed {link} {mbps}", apply_options)


@link_app.command(name="lag")
def lag_command(
    action: Literal["set-up", "take-down"],
    lag: str,
    /,
    *,
    lab: LabName = "",
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
) -> int:
    """Set up a static LAG of cables.csv at both ends, or take it down.

    Cables are shut while their ports join or leave. After a set-up, cables that were up are enabled again; a cable that
    hosts need stays up until the others form the LAG. Before a take-down, traffic moves to other paths; the cables stay
    shut.

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

    """
    known = lab_in_reach(lab)
    name = lag_named(known, lag).link.name
    wish = SetUpLag(name) if action == "set-up" else TakeDownLag(name)
    return grant(known, wish, f"link lag {action} {lag}", apply_options)


@link_app.command(name="flow-control")
def flow_control_command(
    state: Literal["on", "off"],
    /,
    *links: str,
    lab: LabName = "",
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    may_flap: Annotated[bool, Parameter(negative="")] = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
) -> int:
    """Turn flow control (802.3x) on or off at the switch ends of links; traffic moves away if another path exists.

    It is refused if paused switches could deadlock, that is, wait for each other in a cycle over the lab's trees. The
    error shows the cycle.

    Parameters
    ----------
    state
        on: ports send PAUSE when their buffers are full, and obey PAUSE frames of their partner; off: neither.
    links
        Numbers in cables.csv, ends such as sw1:gi1/0/11, or hosts.
    lab
        Name of a lab, or a folder.
    every
        All links of the lab.
    may_flap
        Allow links to restart that are the only path of some hosts, such as the hosts' own links. The steps show for
        how many seconds. Without this option such a change is refused.
    apply_options
        How it is applied.

    """
    words = " ".join(("--all",) if every else links)
    known = lab_in_reach(lab)
    wish = FlowControl(names_of(known, links, every=every), state == "on", may_flap)
    command = f"link flow-control {state} {words}"
    return grant(known, wish, command, apply_options)
