"""`eeectl examples`: the files that travel with the package, to read and to change."""

import json
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.shipped import PARTS, copy_examples, place_of

examples_app = App(name="examples")
_Json = Annotated[bool, Parameter(name="--json", negative="")]


@examples_app.command
def copy(target: Path, /, *, as_json: _Json = False) -> int:
    """Copy playbooks, experiments, studies, labs and docs into a folder.

    A folder that exists is never overwritten.

    Parameters
    ----------
    target
        The folder; it is made if it does not exist.
    as_json
        Print JSON.

    """
    counts = copy_examples(target)
    if as_json:
        print(json.dumps({part.name: count for part, count in counts}, indent=1))
    else:
        for part, count in counts:
            print(f"{target / part.name}: {count} files, {part.about}")
    return DONE


@examples_app.command(name="list")
def list_examples(*, as_json: _Json = False) -> int:
    """Show which examples the package contains, and where they are.

    Parameters
    ----------
    as_json
        Print JSON.

    """
    places = {part: place for part in PARTS if (place := place_of(part)) is not None}
    if as_json:
        print(json.dumps({part.name: str(place) for part, place in places.items()}, indent=1))
    else:
        for part, place in places.items():
            print(f"{part.name}: {part.about}\n    {place}")
    return DONE
