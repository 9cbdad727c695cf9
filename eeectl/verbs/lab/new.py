"""`eeectl lab new`: the files of a virtual lab of another size."""

import json
import shutil
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from eee_testbed.eeectl.lab_text import size_text
from eee_testbed.eeectl.set_options import names_in
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.lab.folder import NAME, inventories, known_labs, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.lab.untrusted_files import read_text
from eee_testbed.twin.drawing.files import draw
from eee_testbed.twin.drawing.plan import Plan, Shape
from eee_testbed.twin.drawing.sizing import MOST_SUBNET, sized
from eee_testbed.twin.drawing.truth_text import truth_of
from eee_testbed.twin.lab.lifecycle import check_files
from eee_testbed.twin.machine.statedir import running_labs

_HEAD: Final = "`eeectl lab new` wrote this file for Ansible and eeectl; it is yours to change."
_WATTS_NOTE: Final = ("The watts of this virtual lab are invented. A saving in them confirms nothing.",)
_NETWORK: Final = IPv4Network("198.18.0.0/16")
_MODEL_LAB: Final = "virtual"


def new(
    name: str,
    /,
    *,
    switches: int = 2,
    hosts: int = 4,
    family: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = ("dell_powerconnect_55xx",),
    links: int = 2,
    shape: Shape = "complete",
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Write the files of a virtual lab of any size: inventory, cables, outlets, and what the twin needs.

    All links except a spanning tree are shut at first, because the switches do not run a spanning tree protocol. The
    addresses are not used by any other known lab.

    Parameters
    ----------
    name
        Its name: the folder is inventory/NAME. Or the folder itself, with a slash in it.
    switches
        How many switches.
    hosts
        How many hosts, spread over the switches.
    family
        Families of the switches, in equal parts: dell_powerconnect_55xx, netgear_m4300.
    links
        Number of parallel links between two switches that are joined.
    shape
        Which switches are joined: each with each other, with the next one in a ring or a line, or with sw1 in a star.
    as_json
        Print JSON.

    """
    folder = Path(name) if "/" in name else Path("inventory") / name
    _require_free(folder)
    plan = sized(
        folder.name,
        switches=switches,
        hosts=hosts,
        families=names_in(family),
        links=links,
        shape=shape,
        subnet=_free_subnet(folder.parent),
    )
    made = _write(folder, plan)
    operand = made.name if known_labs().get(made.name) == folder.resolve() else str(folder)
    if as_json:
        counts = {"switches": len(made.switches), "hosts": len(made.hosts), "links": len(made.links)}
        print(json.dumps({"lab": made.name, "folder": str(folder), **counts, "strips": len(made.strips)}, indent=1))
        return 0
    print_text(f"{folder}: {size_text(made)}; `eeectl lab up {operand}` brings it up.")
    return 0


def _require_free(folder: Path) -> None:
    if not NAME.fullmatch(folder.name):
        raise LabError(f"'{folder.name}' is not a lab name: use lower-case letters, digits and dashes, at most 32.")
    if folder.exists():
        raise LabError(f"{folder} exists already: take another name, or remove it.")
    known = known_labs().get(folder.name)
    if known is not None or folder.name in running_labs():
        raise LabError(f"a lab {folder.name} is known already ({known or 'it is up'}): take another name.")


def _free_subnet(parent: Path) -> int:
    """Third byte of a management network that no lab has that is known, up, or in a folder beside the new one."""
    folders = {*known_labs().values(), *(path.parent for path in parent.glob("*/hosts.yml"))}
    taken = {byte for folder in folders for byte in _subnets(folder)}
    for journal in running_labs().values():
        taken |= _bytes_of(journal.management_network)
    free = [byte for byte in range(MOST_SUBNET + 1) if byte not in taken]
    if not free:
        raise LabError(f"other labs use all of {_NETWORK}: remove one below {parent}.")
    return free[0]


def _subnets(folder: Path) -> set[int]:
    """Third bytes that a lab's networks have, of a lab that can be read; a broken one is not up and says it itself."""
    try:
        return _bytes_of(load_lab(folder).management_network)
    except LabError:
        return set()


def _bytes_of(network: str) -> set[int]:
    found = IPv4Network(network)
    if not found.overlaps(_NETWORK):
        return set()
    first = max(int(found.network_address), int(_NETWORK.network_address))
    last = min(int(found.broadcast_address), int(_NETWORK.broadcast_address))
    return {IPv4Address(address).packed[2] for address in range(first, last + 1, 256)}


def _write(folder: Path, plan: Plan) -> Lab:
    """Write a lab's files and read them back; after an error no folder is left."""
    texts = draw(plan, _HEAD, _WATTS_NOTE)
    model = next(root for root in reversed(inventories()) if (root / _MODEL_LAB / "twin" / "truth.yaml").exists())
    truth = read_text(model / _MODEL_LAB / "twin" / "truth.yaml", "restore the shipped lab")
    texts["twin/truth.yaml"] = truth_of(truth, {switch.family for switch in plan.switches})
    try:
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return check_files(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
