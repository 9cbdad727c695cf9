"""The page about provisioning: every playbook, tag and variable that its blocks name exists."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.support import ROOT
from tests.support.ansible_play import ANSIBLE, EXAMPLE, PLAYBOOKS, play
from tests.support.doc_pages import blocks_of
from tests.support.needs import needs

_PAGE = ROOT / "docs" / "how-to" / "provisioning.md"
_OF_THE_INVENTORY = {"agent_python"}
_OF_PLAYS = {"login_user"}


def _variables(text: str) -> set[str]:
    return set(YAML(typ="safe").load(text) or {})


@cache
def _known() -> frozenset[str]:
    found = set(_OF_PLAYS)
    for file in (PLAYBOOKS / "roles").glob("*/defaults/main.yml"):
        found |= _variables(file.read_text(encoding="utf-8"))
    return frozenset(found)


def _calls() -> Iterator[list[str]]:
    for block in blocks_of(_PAGE):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                if line.startswith("ansible-playbook "):
                    yield shlex.split(re.sub(r"\$\(.*?\)", "WORD", line))[1:]


def test_the_page_has_calls_of_every_playbook_but_verify() -> None:
    named = {word for call in _calls() for word in call if word.endswith(".yml") and "/" not in word}
    assert named == {path.name for path in PLAYBOOKS.glob("*.yml")} - {"galaxy.yml", "monitoring.yml", "verify.yml"}


@pytest.mark.slow
def test_ansible_takes_every_call() -> None:
    needs(ANSIBLE)
    for call in _calls():
        words = [str(EXAMPLE) if "/mylab/" in word and word.endswith("hosts.yml") else word for word in call]
        for option, word in pairwise(words):
            if option == "-e":
                names = _variables(word) if word.startswith("{") else {word.partition("=")[0]}
                assert names <= _known(), word
        done = play(*words, "--list-tasks")
        assert done.returncode == 0, f"{call}: {done.stderr}"
        tagged = {tag for tags in re.findall(r"TAGS: \[(.*?)\]", done.stdout) for tag in tags.split(", ")}
        for option, word in pairwise(words):
            assert option != "--tags" or word in tagged, f"{call}: no task has the tag {word}"


def test_variables_of_the_page_are_those_of_roles() -> None:
    found = {name for block in blocks_of(_PAGE) if block.language == "yaml" for name in _variables(block.text)}
    assert found
    assert found <= _known() | _OF_THE_INVENTORY


def test_folders_of_the_record_are_those_that_the_page_names() -> None:
    text = _PAGE.read_text(encoding="utf-8")
    program = (PLAYBOOKS / "roles/record/files/node_record.py").read_text(encoding="utf-8")
    folder = re.search(r'^FOLDER = "(.*)"$', program, re.MULTILINE)
    assert folder
    assert f"`{folder[1]}`" in text
    defaults = Path(PLAYBOOKS / "roles/strips/defaults/main.yml").read_text(encoding="utf-8")
    assert "/.local/state'" in defaults
    assert "`~/.local/state/eee-testbed/provisioning`" in text
