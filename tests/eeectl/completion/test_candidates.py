"""What may stand at the end of a command line."""

from collections.abc import Sequence
from typing import Any

import pytest

from eee_testbed.eeectl.completion.candidates import KINDS, candidates, line_of
from eee_testbed.eeectl.completion.command_tree import make_tree
from eee_testbed.eeectl.verb_table import VERBS

NAMES = {
    "lab": ["miwa", "virtual"],
    "host": ["n01", "n02"],
    "end": ["sw1:gi1/0/1", "sw2:gi1/0/1", "n01"],
    "switch": ["sw1", "sw2"],
    "device": ["sw1", "n01"],
    "strip": ["pdu1"],
    "outlet": ["pdu1:1", "sw1"],
    "run": ["runs/b", "runs/a"],
    "program": ["alltoall", "hpcc"],
}


@pytest.fixture(scope="module")
def tree() -> dict[str, Any]:
    return make_tree()


def _names(kind: str, words: Sequence[str]) -> list[str]:
    del words
    return NAMES[kind]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("eeectl li", ["link"]),
        ("eeectl lab fault cu", ["cut"]),
        ("eeectl link off ", NAMES["end"]),
        ("eeectl link off sw2", ["sw2:gi1/0/1"]),
        ("eeectl link off sw2:gi1/0/1 --lab v", ["virtual"]),
        ("eeectl link off --lab=v", ["--lab=virtual"]),
        ("eeectl lab exec ", NAMES["host"]),
        ("eeectl lab exec n01 -- l", []),
        ("eeectl bench ", NAMES["program"]),
        ("eeectl bench alltoall --hosts n01,", ["n01,n01", "n01,n02"]),
        ("eeectl fit runs/a r", NAMES["run"]),
        ("eeectl regulate a", ["auto"]),
        ("eeectl regulate resume ", NAMES["run"]),
        ("eeectl regulate choose alltoall --pre-run runs/b", ["runs/b"]),
        ("eeectl compare runs/a ", NAMES["run"]),
        ("eeectl probe n01 ", NAMES["host"]),
        ("eeectl fit --what l", ["links"]),
        ("eeectl eee show --a", ["--all"]),
        ("eeectl completion install z", ["zsh"]),
        ("eeectl power off 'pd", ["pdu1:1"]),
        ("eeectl report --calibration ", []),
        ("eeectl nonsense x ", []),
    ],
)
def test_candidates(tree: dict[str, Any], line: str, found: list[str]) -> None:
    assert candidates(tree, line_of(line), _names) == found


def test_every_verb_and_its_options_are_in_the_tree(tree: dict[str, Any]) -> None:
    assert sorted(tree["children"]) == sorted(verb.name for verb in VERBS)
    off = tree["children"]["link"]["children"]["off"]
    assert off["options"]["--lab"] is True
    assert off["options"]["--yes"] is False


def test_every_kind_of_name_is_taken_by_some_command(tree: dict[str, Any]) -> None:
    def places(node: dict[str, Any]) -> set[str]:
        if "children" in node:
            return {place for child in node["children"].values() for place in places(child)}
        return {*node["positional"], *node["options"]}

    assert KINDS.keys() - {"LAB"} <= places(tree)


def test_a_line_is_split_as_a_shell_does() -> None:
    assert line_of("eeectl report 'runs/a b' ").words == ("report", "runs/a b")
    assert line_of("eeectl report 'runs/a b").current == "runs/a b"
    assert line_of("").words == ()
