"""Everything has one name, below `eee_testbed`: the folders of a checkout are not imported by their own."""

import importlib
import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from eee_testbed.eeectl.verb_table import VERBS
from tests.support import ROOT
from tests.support.packages import PACKAGE, PACKAGES

_OLD = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(PACKAGES)})\b", re.MULTILINE)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_folder_of_the_checkout_is_not_imported_by_its_own_name(name: str) -> None:
    with pytest.raises(ImportError, match=rf"import {PACKAGE}\.{name}\."):
        importlib.import_module(name)
    assert name not in sys.modules
    assert importlib.import_module(f"{PACKAGE}.{name}")


def test_a_link_leads_to_each_folder_of_the_product() -> None:
    others = {PACKAGE, "evaluation", "inventory", "playbooks", "tests", "website"}
    assert {*PACKAGES} == {path.parent.name for path in ROOT.glob("*/__init__.py")} - others
    assert [name for name in PACKAGES if (ROOT / PACKAGE / name).readlink() != Path("..") / name] == []


def test_no_module_is_imported_under_two_names() -> None:
    """Two would have two classes LabError, and one would not be caught where the other is raised."""
    importlib.import_module(VERBS[0].place.partition(":")[0])
    names: dict[Path, set[str]] = defaultdict(set)
    for name, module in sys.modules.copy().items():
        file = getattr(module, "__file__", None)
        if file and Path(file).is_absolute() and name != "__main__":
            names[Path(file).resolve()].add(name)
    folders = {ROOT / name for name in (*PACKAGES, PACKAGE)}
    assert {file: found for file, found in names.items() if len(found) > 1 and folders & {*file.parents}} == {}
    assert names[ROOT / "lab" / "errors.py"] == {f"{PACKAGE}.lab.errors"}


def test_no_file_imports_an_old_name() -> None:
    folders = (*PACKAGES, PACKAGE, "evaluation", "playbooks", "tests", "website")
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    assert [str(path) for path in paths if _OLD.search(path.read_text(encoding="utf-8"))] == []


def test_a_wheel_has_one_name_at_the_top() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    places = {folder: wheel["sources"].get(folder, folder) for folder in wheel["only-include"]}
    assert {place.partition("/")[0] for place in places.values()} == {PACKAGE}
    assert {name: places[name] for name in PACKAGES} == {name: f"{PACKAGE}/{name}" for name in PACKAGES}
