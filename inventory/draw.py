# ruff: noqa: INP001 - a script beside the labs, not a package
"""Generate the shipped labs' files: ``python inventory/draw.py`` writes them; a test checks that they are up to date.

hosts.yml, cables.csv, outlets.csv and the switches' startup configurations are generated; the twin's ground truth
(twin/truth.yaml) is written by hand.
"""

from pathlib import Path

from eee_testbed.twin.drawing import files
from eee_testbed.twin.drawing.models import APC, DELL_24, DELL_48, GUDE, NETGEAR_28
from eee_testbed.twin.drawing.plan import Plan

FOLDER = Path(__file__).resolve().parent

VIRTUAL = Plan(
    "virtual",
    "6 switches of two families in a complete graph with two links per pair, 12 nodes, 2 strips",
    subnet=0,
    loopback=18,
    switches=(DELL_24, DELL_24, DELL_24, DELL_24, NETGEAR_28, NETGEAR_28),
    strips=(GUDE, APC),
    hosts=12,
    first_trunk=11,
    links_per_pair=2,
)
MIWA = Plan(
    "miwa",
    "one switch and 4 nodes, as in Miwa's measurements of 2013",
    subnet=1,
    loopback=19,
    switches=(DELL_48,),
    strips=(GUDE,),
    hosts=4,
    first_trunk=41,
    links_per_pair=0,
)
KOIBUCHI = Plan(
    "koibuchi",
    "6 switches of 48 ports in a complete graph with 5 links per pair, 66 nodes, as in Koibuchi's cluster of 2011",
    subnet=2,
    loopback=20,
    switches=(DELL_48,) * 6,
    strips=(GUDE, APC, APC, APC),
    hosts=66,
    first_trunk=21,
    links_per_pair=5,
)
PLANS = (VIRTUAL, MIWA, KOIBUCHI)

_HEAD = "Ansible and eeectl read this file; `python inventory/draw.py` generates it."
_WATTS_NOTE = (
    "The watts of this virtual lab are invented: they were set so that shutting four of five parallel links",
    "saves the 23 to 26 % of the network's power that Koibuchi et al. (2011) report. A saving in them confirms",
    "nothing.",
)


def draw(plan: Plan) -> dict[str, str]:
    """All generated files of a lab: path below the lab's folder -> text."""
    return files.draw(plan, _HEAD, _WATTS_NOTE)


def main() -> None:
    """Write every lab's files."""
    for plan in PLANS:
        for name, text in draw(plan).items():
            path = FOLDER / plan.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
