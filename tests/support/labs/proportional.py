"""A shipped lab whose hosts compute in proportion: as so many cores of this machine do, in lab time."""

import re
import shutil
from pathlib import Path
from typing import Final

from ruamel.yaml import YAML

from eee_testbed.lab.folder import find_lab

_UP_S: Final = 0.3


def proportional_lab(folder: Path, number: int, cpu_ratio: float = 1.0, shipped: str = "virtual") -> Path:
    """Write a lab of that folder's name with addresses in 198.18.`number`.0/24, so that the shipped one may be up, too.

    Its links come up within tenths of a second, as every change of a slow lab waits for them.
    """
    shutil.copytree(find_lab(shipped), folder)
    inventory = folder / "hosts.yml"
    text = inventory.read_text(encoding="utf-8")
    text = text.replace(f"/run/eee-testbed/{shipped}/", f"/run/eee-testbed/{folder.name}/")
    text = re.sub(r"\b(198\.1[89])\.\d+\.(?!0/16)", rf"\1.{number}.", text)
    text = re.sub(r"\b127\.(?!0\.0\.1)\d+\.", f"127.{number}.", text)
    text = re.sub(r"02:ee:[0-9a-f]{2}:", f"02:ee:{number:02x}:", text)
    inventory.write_text(text, encoding="utf-8")
    truth = folder / "twin" / "truth.yaml"
    yaml = YAML(typ="safe")
    written = yaml.load(truth.read_text(encoding="utf-8"))
    written["nodes"]["defaults"]["cpu_ratio"] = cpu_ratio
    written["nodes"]["defaults"]["interruption_s"] = _UP_S
    for family in written["switches"]["families"].values():
        family["interruption_s"] = dict.fromkeys(family["interruption_s"], _UP_S)
    with truth.open("w", encoding="utf-8") as stream:
        yaml.dump(written, stream)
    return folder
