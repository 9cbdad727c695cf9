"""Folders of the checkout that are packages of `eee_testbed`, and the names by which their files are imported."""

from typing import Final

from tests.support import ROOT

PACKAGE: Final = "eee_testbed"
PACKAGES: Final = tuple(sorted(one.name for one in (ROOT / PACKAGE).iterdir() if one.is_symlink()))
"""Folders of the checkout that are packages of `eee_testbed`, which has a link to each."""


def module_of(path: str) -> str:
    """The name by which a file of the checkout is imported: `eee_testbed.lab.model` of `lab/model.py`."""
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{PACKAGE}.{name}" if name.partition(".")[0] in PACKAGES else name
