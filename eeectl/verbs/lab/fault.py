"""`eeectl lab fault ...`: break a virtual lab on purpose, in ways in which real labs break.

A fault is one row of `FAULTS`, from which its command is made. To add one: a row here, and what it does in
`twin.faults`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal

import cyclopts
from cyclopts import App
from rich.table import Table

from eee_testbed.eeectl.lab_name import LabName, chosen
from eee_testbed.eeectl.lab_text import console
from eee_testbed.twin.lab import lifecycle as labs

fault_app = App(name="fault", help="Break a virtual lab on purpose; `fault clear` mends it.")

_LAB_HELP = "Name of the lab, if several are running."
_CABLE_HELP = "A host (its cable), an end such as sw1:gi1/0/11, or a line number of cables.csv."
_AT_CHANGE_HELP = (
    "Not now, but at this change of its configuration from now, by command line or SNMP; 1 is the next one."
)


def _argument(name: str, text: str, kind: Any = str) -> Parameter:
    annotation = Annotated[kind, cyclopts.Parameter(help=text)]
    return Parameter(name, Parameter.POSITIONAL_ONLY, annotation=annotation)


def _option(name: str, text: str, kind: Any, default: object) -> Parameter:
    annotation = Annotated[kind, cyclopts.Parameter(help=text)]
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


_CABLE = _argument("cable", "The cable, as for `cut`.")
_SWITCH = _argument("switch", "The switch.")
_AT_CHANGE = _option("at_change", _AT_CHANGE_HELP, int | None, None)
_LAB = _option("lab", _LAB_HELP, LabName, "")


@dataclass(frozen=True, slots=True)
class FaultVerb:
    """One command. The first parameter names what breaks; `payload` turns the others into the daemon's arguments."""

    name: str
    help: str
    parameters: tuple[Parameter, ...]
    payload: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict


def _power_payload(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"on": values["state"] == "on", "at_change": values["at_change"]}


FAULTS = (
    FaultVerb("cut", "Cut a cable.", (_argument("cable", _CABLE_HELP),)),
    FaultVerb("mend", "Mend a cable that was cut.", (_CABLE,)),
    FaultVerb(
        "flap",
        "Cut and mend a cable several times; it ends mended.",
        (
            _CABLE,
            _option("times", "Number of cuts.", int, 3),
            _option("period_s", "Seconds from one cut to the next; the cable is cut for half of it.", float, 1.0),
        ),
    ),
    FaultVerb("reboot", "Restart a switch from its startup configuration.", (_SWITCH, _AT_CHANGE)),
    FaultVerb(
        "power",
        "Pull the mains plug of a switch or host, or put it back.",
        (
            _argument("device", "A switch or a host."),
            _argument("state", "on or off.", Literal["on", "off"]),
            _option(
                "at_change",
                "Pull a switch's plug not now, but at this change of its configuration from now; 1 is the next one.",
                int | None,
                None,
            ),
        ),
        _power_payload,
    ),
    FaultVerb("drop", "Drop every command-line session of a switch, once.", (_SWITCH, _AT_CHANGE)),
    FaultVerb(
        "ignore",
        "Let a switch accept every change, from the command line and by SNMP, and do nothing.",
        (_SWITCH, _AT_CHANGE),
    ),
    FaultVerb(
        "refuse",
        "Let a switch refuse a command.",
        (
            _SWITCH,
            _argument("command", 'Beginning of the command, spelled out, such as "switchport mode general".'),
            _option("words", "What the switch answers.", str, "% Unrecognized command"),
        ),
    ),
    FaultVerb(
        "hang",
        "Let a switch execute the next line and never answer; once mended, or in another session, it answers again.",
        (_SWITCH, _AT_CHANGE),
    ),
    FaultVerb(
        "garble",
        "Let a switch answer with garbage: random characters and ANSI sequences instead of answers or inside them.",
        (_SWITCH, _option("answers", "Number of answers to garble; all without it.", int | None, None), _AT_CHANGE),
    ),
    FaultVerb("page", "Let a switch stop at every page, even where paging was switched off.", (_SWITCH, _AT_CHANGE)),
    FaultVerb("rekey", "Give a switch another SSH host key, as if it had been replaced.", (_SWITCH,)),
    FaultVerb(
        "password", "Change the passwords of a switch, so that those of the inventory are wrong.", (_SWITCH, _AT_CHANGE)
    ),
    FaultVerb(
        "slow",
        "Make a switch's command line slow.",
        (
            _SWITCH,
            _option("command_s", "Seconds before each answer.", float, 2.0),
            _option("character_s", "Seconds per printed character.", float, 0.0),
        ),
    ),
    FaultVerb(
        "lose",
        "Lose a share of the SNMP requests to a switch or strip.",
        (_argument("device", "A switch or a strip."), _argument("share", "From 0 to 1.", float)),
    ),
    FaultVerb(
        "freeze",
        "Freeze a strip's readings.",
        (_argument("strip", "The strip."), _option("outlet", "This outlet only.", int | None, None)),
    ),
)
"""All faults, in the order of the documentation."""


def _command(fault: FaultVerb) -> Callable[..., int]:
    """Make the function behind a row; cyclopts reads its parameters from the signature."""
    signature = Signature([*fault.parameters, _LAB])
    first = fault.parameters[0].name

    def command(*arguments: Any, **options: Any) -> int:
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        values = dict(bound.arguments)
        lab, target = values.pop("lab"), values.pop(first)
        result = labs.order(chosen(lab), "fault", kind=fault.name, target=target, **fault.payload(values))
        print(result["sentence"])
        return 0

    command.__signature__ = signature  # type: ignore[attr-defined]  # functions have it, typeshed does not say so
    return command


for _fault in FAULTS:
    fault_app.command(_command(_fault), name=_fault.name, help=_fault.help)


@fault_app.command(name="list")
def list_faults(
    *, lab: LabName = "", as_json: Annotated[bool, cyclopts.Parameter(name="--json", negative="")] = False
) -> int:
    """Show the faults that are active.

    Parameters
    ----------
    lab
        Name of the lab, if several are running.
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
        Name of the lab, if several are running.

    """
    mended = labs.order(chosen(lab), "clear", number=number)
    print("\n".join(f"mended: {sentence}" for sentence in mended) or "no fault was active")
    return 0
