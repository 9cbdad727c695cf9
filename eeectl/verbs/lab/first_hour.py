"""`eeectl lab first-hour`: a checklist for a switch of a model that nobody here has worked with."""

import json
from collections import Counter
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from eee_testbed.controller.applying.observe import ask_switches
from eee_testbed.controller.checking.first_hour import Ability, first_hour
from eee_testbed.eeectl import lab_text as show
from eee_testbed.eeectl.lab_name import LabName, known_lab, require_up
from eee_testbed.lab.errors import DeviceError, LabError


def first_hour_command(
    lab: LabName = "",
    switch: str = "",
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Read a switch of a new model, and show which of its abilities are proved, assumed and refused.

    Nothing is written. Exit status 1 if something that a lab reads is refused, or a switch cannot be reached.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    switch
        One switch; default: all.
    as_json
        Print JSON.

    """
    lab_model = known_lab(lab)
    names = [device.name for device in lab_model.switches]
    if switch and switch not in names:
        raise LabError(f"{lab_model.name} has no switch {switch}: it has {', '.join(names)}.")
    require_up(lab_model)
    asked = ask_switches(
        lab_model, lambda device, session: first_hour(lab_model, device, session) if switch in ("", device.name) else ()
    )
    failures = {name: str(answer) for name, answer in asked.items() if isinstance(answer, DeviceError)}
    abilities = {name: answer for name, answer in asked.items() if not isinstance(answer, DeviceError) and answer}
    if as_json:
        rows = {name: [asdict(ability) for ability in answer] for name, answer in abilities.items()}
        print(json.dumps({"switches": rows, "failed": failures}, indent=1))
    else:
        _print(abilities)
        for sentence in failures.values():
            print(sentence)
    return 1 if failures or any(map(_is_reading_refused, abilities.values())) else 0


def _is_reading_refused(abilities: tuple[Ability, ...]) -> bool:
    return any(
        ability.standing == "refused" and not ability.name.startswith(("set ", "untag ")) for ability in abilities
    )


def _print(abilities: dict[str, tuple[Ability, ...]]) -> None:
    out = show.console()
    for name, of_switch in abilities.items():
        table = Table("ABILITY", "STANDING", "BY", box=None, pad_edge=False, header_style="bold")
        for ability in of_switch:
            table.add_row(ability.name, ability.standing, Text(ability.by))
        count = Counter(ability.standing for ability in of_switch)
        said = ", ".join(f"{count[standing]} {standing}" for standing in ("proven", "from memory", "refused"))
        out.print(f"{name}: {said}", markup=False)
        out.print(table)
