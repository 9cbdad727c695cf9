"""`eeectl eee on|off|show`: Energy-Efficient Ethernet at both ends of links."""

import json
from typing import Annotated, Any

from cyclopts import App, Parameter

from eee_testbed.controller.applying.observe import ask_switches, read_eee
from eee_testbed.controller.checking.eee_links import EeeEnd, EeeLink, SwitchEee, eee_links
from eee_testbed.controller.checking.port_links import QUERIES, read_port_links
from eee_testbed.controller.planning.regulate import require_hold
from eee_testbed.controller.planning.wishes import Eee
from eee_testbed.controller.transports.session import Session
from eee_testbed.eeectl.apply_options import ApplyOptions
from eee_testbed.eeectl.eee_text import eee_text
from eee_testbed.eeectl.exit_status import DONE, Unsuccessful
from eee_testbed.eeectl.interactive import grant
from eee_testbed.eeectl.lab_name import LabName, lab_in_reach
from eee_testbed.eeectl.lab_text import text_width
from eee_testbed.lab.errors import DeviceError
from eee_testbed.lab.model import Switch
from eee_testbed.lab.named_links import names_of

eee_app = App(name="eee", help="Energy-Efficient Ethernet at both ends of links: switch it, and see what it does.")

Links = Annotated[str, Parameter(allow_leading_hyphen=False)]
_Flag = Annotated[bool, Parameter(negative="")]


@eee_app.command
def on(
    *links: str,
    lab: LabName = "",
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    hold_us: int | None = None,
    may_flap: _Flag = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
) -> int:
    """Turn EEE on at the switch ends of links; traffic moves away first if another path exists.

    Parameters
    ----------
    links
        Numbers in cables.csv, ends such as sw1:gi1/0/11, or hosts.
    lab
        Name of a lab, or a folder.
    every
        All links of the lab.
    hold_us
        Hold: how long a link is idle before it sleeps, in microseconds (0 to 60000000). Needs a switch that can set it.
        Default: unchanged.
    may_flap
        Allow links to restart that are the only path of some hosts, such as the hosts' own links. The steps show for
        how many seconds. Without this option such a change is refused.
    apply_options
        How it is applied.

    """
    words = " ".join(("--all",) if every else links)
    require_hold(hold_us)
    known = lab_in_reach(lab)
    wish = Eee(names_of(known, links, every=every), on=True, hold_us=hold_us, may_flap=may_flap)
    return grant(known, wish, f"eee on {words}", apply_options)


@eee_app.command
def off(
    *links: str,
    lab: LabName = "",
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    may_flap: _Flag = False,
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
) -> int:
    """Turn EEE off at the switch ends of links; traffic moves away first if another path exists.

    Parameters
    ----------
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
    wish = Eee(names_of(known, links, every=every), on=False, may_flap=may_flap)
    return grant(known, wish, f"eee off {words}", apply_options)


@eee_app.command
def show(
    lab: LabName = "",
    *,
    name_shut: Annotated[bool, Parameter(name="--all", negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Show EEE of every link as the switches at both ends report it; one-sided EEE, which saves nothing, is marked.

    Links with a problem come first, one per line; the others follow, grouped by equal settings. Hosts are not asked.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    name_shut
        Name the links that are shut, too.
    as_json
        Print JSON.

    """
    known = lab_in_reach(lab)
    answers = ask_switches(known, _read)
    shown = {name: answer for name, answer in answers.items() if isinstance(answer, SwitchEee)}
    failed = {name: str(answer) for name, answer in answers.items() if isinstance(answer, DeviceError)}
    links = eee_links(known, shown)
    if as_json:
        print(json.dumps({"lab": known.name, "links": [_plain(one) for one in links], "failed": failed}, indent=1))
    else:
        print(eee_text(known.name, links, text_width(), name_shut=name_shut))
    if failed:
        raise Unsuccessful(failed.values())
    return DONE


def _read(switch: Switch, session: Session) -> SwitchEee:
    """EEE and links of a switch's ports; without the links if it has no SNMP agent that answers."""
    shown = read_eee(switch, session)
    try:
        links = read_port_links(switch, session.ask(QUERIES))
    except DeviceError:
        links = {}
    return SwitchEee(shown, links)


def _plain(one: EeeLink) -> dict[str, Any]:
    return {
        "link": one.link.name,
        "state": one.state,
        "rate_mbps": one.rate_mbps,
        "eee": one.finding,
        "ends": [_plain_end(end) for end in one.ends],
        "one_sided": one.finding == "one-sided",
    }


def _plain_end(end: EeeEnd) -> dict[str, Any]:
    keys = ("supported", "enabled", "active", "partner", "hold_us", "wake_us")
    return {"end": str(end.end)} | {key: getattr(end.status, key) if end.status else None for key in keys}
