"""The blocks of README, tutorial and how-to guides run in order, page by page, on a copy of the virtual lab.

The copy has a name, addresses and a state folder of its own, which stand in the blocks where the page has the shipped
lab's; nothing else is changed. A page runs in one shell, as a reader would type it, that ends at the first failure.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.doc_pages import Block, blocks_of, pages
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.left_labs import state_root
from tests.support.needs import lacking


def run_blocks(page: Path) -> list[Block]:
    """The blocks of a page that run here: shell, and not marked."""
    return [block for block in blocks_of(page) if block.language == "sh" and not block.marks]


PAGES = [page for page in pages() if run_blocks(page)]
_PATIENCE_S = 900
_SHOWN_LINES = 40
_LATE = re.compile(r"invalid: the twin was \d+ us late|not valid: the twin was \d+ us late")
"""A guard that did what it is for: a reader would be told the same."""

_SHELL = """\
set -e
eeectl() {  # `plan` shows by its exit status that changes are pending
    command eeectl "$@" || { status=$?; [ "$1 $status" = "plan 3" ] || return $status; }
}
"""


@dataclass(frozen=True)
class Reader:
    """A person in a folder with copies of the files that pages name, and with a lab of that person's own."""

    folder: Path
    state: Path
    number: int

    @property
    def lab(self) -> str:
        return f"docs{self.number}"

    def words(self, text: str) -> str:
        """The text, with this lab's name and addresses instead of the shipped one's."""
        text = text.replace("/run/eee-testbed", str(self.state))
        text = re.sub(r"127\.18\.", f"127.{self.number}.", text)
        text = re.sub(r"198\.18\.0\.", f"198.18.{self.number}.", text)
        text = re.sub(r"198\.19\.0\.(?!0/)", f"198.19.{self.number}.", text)
        text = text.replace("02:ee:00:", f"02:ee:{self.number:02x}:")
        return re.sub(r"(?<=[ /])virtual\b(?! lab)", self.lab, text)

    def copy(self, source: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(self.words(source.read_text(encoding="utf-8")), encoding="utf-8")

    def settle(self) -> None:
        """Make the folder."""
        shipped = ROOT / "inventory" / "virtual"
        for path in shipped.rglob("*"):
            if path.is_file():
                self.copy(path, self.folder / "inventory" / self.lab / path.relative_to(shipped))
        for path in (ROOT / "experiments").glob("*.yaml"):
            self.copy(path, self.folder / "experiments" / path.name)
        (self.folder / ".venv").symlink_to(sys.prefix)

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("EEE_LAB", "EEE_LAB_TIME")}
        return kept | {
            "EEE_STATE_DIR": str(self.state),
            "EEE_CONTROLLER_DIR": str(self.folder / "controller"),
            "PYTHONPATH": str(ROOT),
        }

    def shell(self, script: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "-c", script], check=False, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_PATIENCE_S,
        )  # fmt: skip


@pytest.fixture
def reader(tmp_path: Path, rights: None) -> Iterator[Reader]:  # noqa: ARG001 - skips without them
    number = reserve()
    person = Reader(tmp_path, state_root(f"-d{number}"), number)
    person.settle()
    yield person
    down = person.shell(f". .venv/bin/activate && eeectl lab down {person.lab}")
    assert down.returncode == 0, down.stdout
    shutil.rmtree(person.state, ignore_errors=True)


@pytest.mark.lab
@pytest.mark.alone
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run_in_order(page: Path, reader: Reader) -> None:
    script = _SHELL + "".join(f"echo '## {one.place}'\n{reader.words(one.text)}" for one in run_blocks(page))
    done = reader.shell(script)
    shown = "\n".join(done.stdout.splitlines()[-_SHOWN_LINES:])
    if done.returncode and (late := _LATE.search(shown)):
        lacking(f"time: the machine is too busy for a measurement ({late[0]})")
    assert done.returncode == 0, shown
