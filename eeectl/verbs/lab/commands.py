"""`eeectl lab ...`: bring virtual labs up and down, inspect them, and work on their devices; the verbs of racks."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Group, Parameter
from eee_engine import read_lab_clock
from rich.console import Console
from rich.table import Table

from eee_testbed.eeectl import lab_text as show
from eee_testbed.eeectl.exit_status import REFUSED
from eee_testbed.eeectl.lab_name import LabName, chosen
from eee_testbed.eeectl.truth_text import print_truth
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.twin.lab import lifecycle as labs
from eee_testbed.twin.lab.recording import record
from eee_testbed.twin.machine.lab_clock import rate_of

lab_app = App(
    name="lab",
    help="Bring virtual labs up and down and work in them; check, discover and set up racks.",
    group_commands=Group("Virtual labs", sort_key=1),
)
_INVENTORY = Group("Inventories and racks, virtual or real", sort_key=2)

lab_app.command(
    "eee_testbed.eeectl.verbs.lab.new:new",
    name="new",
    help="Write the files of a virtual lab of any size: inventory, cables, outlets, truth.",
)
lab_app.command(
    "eee_testbed.eeectl.verbs.lab.fault:fault_app",
    name="fault",
    help="Break a virtual lab on purpose; `fault clear` mends it.",
)
for _name, _place, _help in (
    ("check", "check:check", "Validate an inventory, reach every device in it, and compare both."),
    ("discover", "discover:discover", "Ask a network's switches and strips who they are; write a first inventory."),
    (
        "first-contact",
        "first_contact:first_contact",
        "Set up a switch that has factory settings: address, account, SSH, SNMP, LLDP.",
    ),
    ("first-hour", "first_hour:first_hour_command", "Read a switch of a new model: what is proved, assumed, refused."),
    ("replay", "replay:replay", "Test the parsers of switches and strips on recordings of devices."),
):
    lab_app.command(f"eee_testbed.eeectl.verbs.lab.{_place}", name=_name, help=_help, group=_INVENTORY)

_Json = Annotated[bool, Parameter(name="--json", negative="")]


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1, sort_keys=False))


@lab_app.command
def up(lab: LabName = "", *, rate: str = "") -> int:
    """Bring a virtual lab up.

    Parameters
    ----------
    lab
        Name of a lab in ./inventory or among the shipped ones (virtual, miwa, koibuchi), or a folder. Default: the
        one in EEE_LAB, else virtual.
    rate
        Give the lab a clock of its own with this rate, in lab seconds per real second, such as 1/10; from
        1/1000 to 50, or auto, or auto:2us (see `lab clock`). Default: real time, without a clock of its own.

    """
    from rich.progress import (  # only bringing a lab up shows bars
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def progress(doing: str, done: int, of: int) -> None:
            if doing not in tasks:
                tasks[doing] = bar.add_task(doing, total=of)
            bar.update(tasks[doing], completed=done, total=of)

        made = labs.up(lab or os.environ.get("EEE_LAB", "virtual"), progress, rate)
    print_text(f"lab {made.name} is up: {show.size_text(made)}; `eeectl lab status {made.name}` shows how to use it.")
    return 0


@lab_app.command
def clock(lab: LabName = "", rate: str = "", *, as_json: _Json = False) -> int:
    """Show the clock of a lab that was brought up with --rate, or set its rate.

    Parameters
    ----------
    lab
        Its name; by default the only lab that is running.
    rate
        Lab seconds per real second, such as 1/10, 0.5 or 5; from 1/1000 to 50. With auto it is 1/10 during a trial, or
        slower if frames or processes were late by more than 20 us of lab time. It is up to 6 while only meters are
        read, and 1 while nothing is measured. auto:2us keeps lateness within 2 us, for rounds of a few microseconds.
    as_json
        Print JSON.

    """
    name = chosen(lab)
    if rate:
        labs.set_rate(name, rate)
    in_force, lab_ns, wall_ns = read_lab_clock(labs.clock_page(name))
    automatic = labs.automatic_rate(name)
    set_rate = in_force if automatic or not rate else rate_of(rate)
    outside = labs.outside_lab_time(name)
    if as_json:
        named = {
            host: [{"process": number, "name": of} for number, of in found.items()] for host, found in outside.items()
        }
        pace = {"rate": set_rate, "automatic": bool(automatic), "pace": automatic or set_rate}
        _print_json({"lab": name, **pace, "lab_ns": lab_ns, "wall_ns": wall_ns, "outside_lab_time": named})
    else:
        by = f", set automatically ({automatic}); 1 while nothing is measured" if automatic else ""
        print(f"lab {name}: {set_rate} lab seconds per real second{by}")
        for host, found in outside.items():
            names = ", ".join(f"{of} ({number})" for number, of in found.items())
            print(f"{host}: processes in real time, because they do not preload the lab's clock: {names}")
    return 0


@lab_app.command
def join(lab: str, /, *command: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Run a command on this machine in the time of a lab that was brought up with --rate.

    Parameters
    ----------
    lab
        The lab's name.
    command
        The command with its arguments, after `--`.

    """
    if not command:
        raise LabError(f"no command: write `eeectl lab join {lab} -- COMMAND`.")
    labs.join(lab, list(command))


@lab_app.command
def down(lab: LabName = "", *, yes: Annotated[bool, Parameter(negative="")] = False) -> int:
    """Take a virtual lab down and remove everything that it made; a crashed one too.

    Asks first if somebody works in it.

    Parameters
    ----------
    lab
        Its name; by default the only lab that is running.
    yes
        Do not ask, even if somebody works in it.

    """
    labs.require_root_for_down()
    from eee_testbed.eeectl.interactive import ask_person  # it loads the controller

    name = chosen(lab)
    working = () if yes else tuple(_working(name))
    for sentence in working:
        print(sentence, file=sys.stderr)
    if working and not ask_person("take it down all the same?"):
        return REFUSED
    existed = labs.down(name)
    print(f"lab {name} is down." if existed else f"lab {name} was not up: nothing to do.")
    return 0


def _working(name: str) -> Iterator[str]:
    """Who works in a lab that is up, in sentences; the files of the lab need not be readable."""
    from eee_testbed.controller.applying.holder import holder_of  # only `down` asks
    from eee_testbed.controller.applying.statefolder import StateFolder

    journal = labs.journal_of(name)
    if journal is None:
        return
    holder = holder_of(StateFolder(journal.lab, journal.folder))
    if holder is not None:
        yield f"lab {name} is held by {holder}"
    for host, programs in labs.at_terminals(journal).items():
        shown = ", ".join(f"{program} (process {number})" for number, program in programs.items())
        yield f"somebody has a terminal open on {host}: {shown}"


@lab_app.command(name="list")
def list_labs(*, as_json: _Json = False) -> int:
    """Show every lab that is known by name or is running.

    Parameters
    ----------
    as_json
        Print JSON.

    """
    found = labs.listing()
    if as_json:
        _print_json([{"lab": lab.name, "state": lab.state, "folder": lab.folder} for lab in found])
        return 0
    table = Table("LAB", "STATE", "FOLDER", box=None)
    for lab in found:
        table.add_row(lab.name, lab.state, lab.folder)
    show.console().print(table)
    return 0


@lab_app.command
def status(lab: LabName = "", *, as_json: _Json = False) -> int:
    """Show the state of a lab, and how to reach its devices.

    Parameters
    ----------
    lab
        Its name; by default the only lab that is running.
    as_json
        Print JSON.

    """
    status_now = labs.status(chosen(lab))
    if as_json:
        _print_json(status_now)
    else:
        show.print_status(status_now)
    return 0 if status_now["state"] == "up" else 1


@lab_app.command(name="exec")
def execute(
    host: str,
    /,
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    lab: LabName = "",
    root: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Run a command on a host, as the host's user `lab`, and exit with its exit status.

    Parameters
    ----------
    host
        The host.
    command
        The command, after `--`.
    lab
        Name of the lab, if several are running.
    root
        Run it as root.

    """
    if not command:
        raise LabError("the command is missing: write it after `--`, as in `eeectl lab exec n01 -- ping -c 3 n02`.")
    return labs.exec_in_host(chosen(lab), host, list(command), as_root=root)


@lab_app.command
def shell(device: str, /, *, lab: LabName = "") -> int:
    """Open a terminal on a host or a switch, over SSH with the lab's key.

    Parameters
    ----------
    device
        A host or a switch.
    lab
        Name of the lab, if several are running.

    """
    argv = labs.login_argv(chosen(lab), device)
    sys.stdout.flush()
    os.execvp(argv[0], argv)  # noqa: S606 - argv is made here, and no shell is wanted


@lab_app.command
def truth(
    lab: LabName = "",
    *,
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    histogram: Annotated[bool, Parameter(negative="")] = False,
    as_json: _Json = False,
) -> int:
    """Show the true times and power of a virtual lab, and how late the twin delivered frames.

    Parameters
    ----------
    lab
        Its name; by default the only lab that is running.
    every
        Show each device and each port that is up.
    histogram
        Show how many frames were how late.
    as_json
        Print JSON.

    """
    truth_now = labs.order(chosen(lab), "truth")
    if as_json:
        _print_json(truth_now)
    else:
        print_truth(truth_now, show.text_width(), histogram=histogram, every=every)
    return 0


@lab_app.command
def capture(
    cable: str, /, *, write: Annotated[Path | None, Parameter(name=["-w", "--write"])] = None, lab: LabName = ""
) -> int:
    """Capture both directions of a cable as a pcap with nanoseconds, until Ctrl-C or until the reader ends.

    `eeectl lab capture n01 | tcpdump -nner -` shows frames as they arrive.

    Parameters
    ----------
    cable
        A host (its cable), an end such as sw1:gi1/0/11, or a line number of cables.csv.
    write
        File to write; standard output without it.
    lab
        Name of the lab, if several are running.

    """
    name = chosen(lab)
    if write is None and sys.stdout.isatty():
        raise LabError("a capture is binary: pipe it (`| tcpdump -nner -`) or name a file with -w.")
    with write.open("wb", buffering=0) if write is not None else nullcontext(sys.stdout.buffer) as stream:
        lost = record(name, cable, stream)
    if lost:
        print(f"{lost} packets were lost because the reader was too slow.", file=sys.stderr)
    return 0
