"""`eeectl lab fault ...`: break a virtual lab on purpose, in ways in which real ones break."""

import json
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter
from rich.table import Table

from eeectl.lab_name import LabName, chosen
from eeectl.lab_text import console
from twin.lab import lifecycle as labs

AtChange = Annotated[int | None, Parameter(name="--at-change")]

fault_app = App(name="fault", help="Break a virtual lab on purpose; `fault clear` mends it.")


def _inject(lab: str, kind: str, **arguments: Any) -> int:
    told = labs.order(chosen(lab), "fault", kind=kind, **arguments)
    print(told["sentence"])
    return 0


@fault_app.command
def cut(cable: str, /, *, lab: LabName = "") -> int:
    """Cut a cable.

    Parameters
    ----------
    cable
        A host (its cable), an end such as sw1:gi1/0/11, or a line number of cables.csv.
    lab
        The lab, if several run.

    """
    return _inject(lab, "cut", target=cable)


@fault_app.command
def mend(cable: str, /, *, lab: LabName = "") -> int:
    """Mend a cable that was cut.

    Parameters
    ----------
    cable
        The cable, as for `cut`.
    lab
        The lab, if several run.

    """
    return _inject(lab, "mend", target=cable)


@fault_app.command
def flap(cable: str, /, *, times: int = 3, period_s: float = 1.0, lab: LabName = "") -> int:
    """Cut and mend a cable several times; it ends mended.

    Parameters
    ----------
    cable
        The cable, as for `cut`.
    times
        How often.
    period_s
        Seconds from one cut to the next; half of it the cable is cut.
    lab
        The lab, if several run.

    """
    return _inject(lab, "flap", target=cable, times=times, period_s=period_s)


@fault_app.command
def reboot(switch: str, /, *, at_change: AtChange = None, lab: LabName = "") -> int:
    """Restart a switch from its startup configuration.

    Parameters
    ----------
    switch
        The switch.
    at_change
        Not now, but at this change of its configuration from now, by command line or SNMP; 1 is the next one.
    lab
        The lab, if several run.

    """
    return _inject(lab, "reboot", target=switch, at_change=at_change)


@fault_app.command
def power(device: str, state: Literal["on", "off"], /, *, at_change: AtChange = None, lab: LabName = "") -> int:
    """Pull the mains plug of a switch or host, or put it back.

    Parameters
    ----------
    device
        A switch or a host.
    state
        on or off.
    at_change
        Pull a switch's plug not now, but at this change of its configuration from now; 1 is the next one.
    lab
        The lab, if several run.

    """
    return _inject(lab, "power", target=device, on=state == "on", at_change=at_change)


@fault_app.command
def drop(switch: str, /, *, at_change: AtChange = None, lab: LabName = "") -> int:
    """Drop every command-line session of a switch, once.

    Parameters
    ----------
    switch
        The switch.
    at_change
        Not now, but at this change of its configuration from now, by command line or SNMP; 1 is the next one.
    lab
        The lab, if several run.

    """
    return _inject(lab, "drop", target=switch, at_change=at_change)


@fault_app.command
def ignore(switch: str, /, *, at_change: AtChange = None, lab: LabName = "") -> int:
    """Let a switch accept every change, from the command line and by SNMP, and do nothing.

    Parameters
    ----------
    switch
        The switch.
    at_change
        Not now, but at this change of its configuration from now, by command line or SNMP; 1 is the next one.
    lab
        The lab, if several run.

    """
    return _inject(lab, "ignore", target=switch, at_change=at_change)


@fault_app.command
def refuse(switch: str, command: str, /, *, words: str = "% Unrecognized command", lab: LabName = "") -> int:
    """Let a switch refuse a command.

    Parameters
    ----------
    switch
        The switch.
    command
        Beginning of the command, spelled out, such as "switchport mode general".
    words
        What the switch says.
    lab
        The lab, if several run.

    """
    return _inject(lab, "refuse", target=switch, command=command, words=words)


@fault_app.command
def hang(switch: str, /, *, at_change: AtChange = None, lab: LabName = "") -> int:
    """Let a switch obey the next line and never answer; mended, or in another session, it answers again.

    Parameters
    ----------
    switch
        The switch.
    at_change
        Not now, but at this change of its configuration from now, by command line or SNMP; 1 is the next one.
    lab
        The lab, if several run.

    """
    return _inject(lab, "hang", target=switch, at_change=at_change)


@fault_app.command
def garble(switch: str, /, *, answers: int | None = None, at_change: AtChange = None, lab: LabName = "") -> int:
    """Let a switch answer with garbage: random characters and ANSI sequences in the place of answers or inside them.

    Parameters
    ----------
    switch
        The switch.
    answers
        How many answers; all without it.
    at_change
        Not now, but at this change of its configuration from now, by command line or SNMP; 1 is the next one.
    lab
        The lab, if several run.

    """
    return _inject(lab, "garble", target=switch, answers=answers, at_change=at_change)


@fault_app.command
def page(switch: str, /, *, at_change: AtChange = None, lab: LabName = "") -> int:
    """Let a switch stop at every page, although it was told not to.

    Parameters
    ----------
    switch
        The switch.
    at_change
        Not now, but at this change of its configuration from now, by command line or SNMP; 1 is the next one.
    lab
        The lab, if several run.

    """
    return _inject(lab, "page", target=switch, at_change=at_change)


@fault_app.command
def rekey(switch: str, /, *, lab: LabName = "") -> int:
    """Give a switch another SSH host key, as if it had been replaced.

    Parameters
    ----------
    switch
        The switch.
    lab
        The lab, if several run.

    """
    return _inject(lab, "rekey", target=switch)


@fault_app.command
def password(switch: str, /, *, at_change: AtChange = None, lab: LabName = "") -> int:
    """Change the passwords of a switch, so that those of the inventory are wrong.

    Parameters
    ----------
    switch
        The switch.
    at_change
        Not now, but at this change of its configuration from now, by command line or SNMP; 1 is the next one.
    lab
        The lab, if several run.

    """
    return _inject(lab, "password", target=switch, at_change=at_change)


@fault_app.command
def slow(switch: str, /, *, command_s: float = 2.0, character_s: float = 0.0, lab: LabName = "") -> int:
    """Make a switch's command line slow.

    Parameters
    ----------
    switch
        The switch.
    command_s
        Seconds before each answer.
    character_s
        Seconds per printed character.
    lab
        The lab, if several run.

    """
    return _inject(lab, "slow", target=switch, command_s=command_s, character_s=character_s)


@fault_app.command
def lose(device: str, share: float, /, *, lab: LabName = "") -> int:
    """Lose a share of the SNMP requests to a switch or strip.

    Parameters
    ----------
    device
        A switch or a strip.
    share
        From 0 to 1.
    lab
        The lab, if several run.

    """
    return _inject(lab, "lose", target=device, share=share)


@fault_app.command
def freeze(strip: str, /, *, outlet: int | None = None, lab: LabName = "") -> int:
    """Freeze a strip's readings.

    Parameters
    ----------
    strip
        The strip.
    outlet
        One outlet only.
    lab
        The lab, if several run.

    """
    return _inject(lab, "freeze", target=strip, outlet=outlet)


@fault_app.command(name="list")
def list_faults(*, lab: LabName = "", as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> int:
    """Show the faults that are active.

    Parameters
    ----------
    lab
        The lab, if several run.
    as_json
        Print JSON.

    """
    faults = labs.order(chosen(lab), "faults")
    if as_json:
        print(json.dumps(faults, indent=1))
        return 0
    table = Table("NUMBER", "FAULT", box=None)
    for fault in faults:
        table.add_row(str(fault["number"]), fault["sentence"])
    console().print(table if faults else "no fault is active")
    return 0


@fault_app.command
def clear(number: int | None = None, /, *, lab: LabName = "") -> int:
    """Mend a fault, or all of them.

    Parameters
    ----------
    number
        Its number in `fault list`; all without it.
    lab
        The lab, if several run.

    """
    mended = labs.order(chosen(lab), "clear", number=number)
    print("\n".join(f"mended: {sentence}" for sentence in mended) or "no fault was active")
    return 0
