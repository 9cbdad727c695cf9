"""`eeectl eee on|off|show`: Energy-Efficient Ethernet at both ends of links."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter

from controller.applying.observe import ask_switches, read_eee
from controller.applying.work import Work
from controller.drivers.driver import EeeStatus
from controller.model.state import State
from controller.planning.proof import ProvedPlan
from controller.planning.regulate import eee
from controller.planning.routing_options import management_of
from eeectl.apply_options import ApplyOptions
from eeectl.interactive import plan_and_apply
from lab.errors import DeviceError, LabError
from lab.folder import find_lab, load_lab
from lab.model import End, Lab, Link
from lab.named_links import link_named

eee_app = App(name="eee", help="Energy-Efficient Ethernet at both ends of links: switch it, and see what it does.")

Links = Annotated[str, Parameter(allow_leading_hyphen=False)]
_Flag = Annotated[bool, Parameter(negative="")]


@eee_app.command
def on(
    *links: str,
    lab: str = "virtual",
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    hold_us: int | None = None,
    may_flap: _Flag = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
    management: str | None = None,
) -> int:
    """Turn EEE on at the switch ends of links, traffic moved away first where another path exists.

    Parameters
    ----------
    links
        Numbers in cables.csv, ends such as sw1:gi1/0/11, or hosts.
    lab
        Name of a lab, or a folder.
    every
        All links of the lab.
    hold_us
        How long a link is idle before it sleeps, in microseconds, where the switch lets it be set.
    may_flap
        Let links restart under hosts that have no other path, for the seconds that their steps show.
    apply_options
        How it is applied.
    management
        In-band management as SWITCH:VLAN; left out: the inventory's `way_in`, else out of band.

    """
    words = " ".join(("--all",) if every else links)
    return _switch(
        lab, f"eee on {words}", links, apply_options, management, on=True, every=every, hold_us=hold_us, flap=may_flap
    )


@eee_app.command
def off(
    *links: str,
    lab: str = "virtual",
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    may_flap: _Flag = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
    management: str | None = None,
) -> int:
    """Turn EEE off at the switch ends of links, traffic moved away first where another path exists.

    Parameters
    ----------
    links
        Numbers in cables.csv, ends such as sw1:gi1/0/11, or hosts.
    lab
        Name of a lab, or a folder.
    every
        All links of the lab.
    may_flap
        Let links restart under hosts that have no other path, for the seconds that their steps show.
    apply_options
        How it is applied.
    management
        In-band management as SWITCH:VLAN; left out: the inventory's `way_in`, else out of band.

    """
    words = " ".join(("--all",) if every else links)
    return _switch(
        lab, f"eee off {words}", links, apply_options, management, on=False, every=every, hold_us=None, flap=may_flap
    )


def _switch(
    lab: str,
    command: str,
    names: tuple[str, ...],
    apply_options: ApplyOptions,
    management: str | None,
    *,
    on: bool,
    every: bool,
    hold_us: int | None,
    flap: bool,
) -> int:
    def planner(work: Work) -> Callable[[State], ProvedPlan]:
        links = _chosen(work.lab, names, every=every)
        in_band = management_of(work.lab, management)
        return lambda state: eee(
            work.lab,
            state,
            links,
            on=on,
            hold_us=hold_us,
            may_flap=flap,
            management=in_band,
            abilities=work.backend.abilities,
        )

    return plan_and_apply(lab, planner, command, apply_options)


def _chosen(lab: Lab, names: tuple[str, ...], *, every: bool) -> tuple[Link, ...]:
    if every == bool(names):
        raise LabError("name links, or give --all for every link of the lab; one of the two, not both.")
    if every:
        return lab.links
    return tuple(link_named(lab, name) for name in names)


@eee_app.command
def show(lab: str = "virtual", /, *, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> int:
    """Show EEE of every link as the switches at both ends report it; one-sided EEE, which saves nothing, is marked.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    as_json
        Print JSON.

    """
    known = load_lab(find_lab(lab))
    answers = ask_switches(known, read_eee)
    rows = [_row(known, link, answers) for link in known.links]
    failed = {name: str(error) for name, error in answers.items() if isinstance(error, DeviceError)}
    if as_json:
        print(json.dumps({"lab": known.name, "links": rows, "failed": failed}, indent=1))
    else:
        for row in rows:
            print(_line(row))
        for sentence in failed.values():
            print(sentence)
    return 1 if failed else 0


def _row(lab: Lab, link: Link, answers: Mapping[str, Mapping[str, EeeStatus] | DeviceError]) -> dict[str, Any]:
    ends = [_end(answers, end) for end in (link.a, link.b)]
    known = [end for end in ends if end["enabled"] is not None]
    switches = {switch.name for switch in lab.switches}
    both = all(end.device in switches for end in (link.a, link.b))
    one_sided = both and len(known) == 2 and known[0]["enabled"] != known[1]["enabled"]
    return {"link": link.name, "ends": ends, "one_sided": one_sided}


def _end(answers: Mapping[str, Mapping[str, EeeStatus] | DeviceError], end: End) -> dict[str, Any]:
    answer = answers.get(end.device)
    seen = answer.get(end.port) if isinstance(answer, Mapping) else None
    keys = ("supported", "enabled", "active", "partner", "hold_us", "wake_us")
    return {"end": str(end)} | {key: getattr(seen, key) if seen else None for key in keys}


def _line(row: dict[str, Any]) -> str:
    parts = []
    for end in row["ends"]:
        if end["enabled"] is None:
            parts.append(f"{end['end']} does not report EEE")
            continue
        state = "on" if end["enabled"] else "off"
        more = {True: ", in force", False: ", not in force", None: ""}[end["active"] if end["enabled"] else None]
        hold = f", hold {end['hold_us']} us" if end["enabled"] and end["hold_us"] is not None else ""
        parts.append(f"{end['end']} {state}{more}{hold}")
    return "; ".join(parts) + ("; ONE-SIDED: no side may sleep" if row["one_sided"] else "")
