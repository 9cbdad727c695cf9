"""Labs of one name keep apart, and hints name a lab as it stands."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.controller.applying.history import next_number
from eee_testbed.controller.applying.journal import Begun, Journal, read_journal
from eee_testbed.controller.applying.statefolder import StateFolder, digest_of
from eee_testbed.controller.model.state import State
from eee_testbed.lab.folder import find_lab, load_lab, operand_of
from eee_testbed.lab.model import Lab
from tests.support.labs.toy_lab import small_lab


@pytest.fixture
def two(tmp_path: Path) -> tuple[Lab, Lab]:
    first = small_lab(tmp_path / "one")
    copy = tmp_path / "two" / first.name
    shutil.copytree(first.folder, copy)
    return first, load_lab(copy)


def begin(lab: Lab, command: str) -> None:
    folder = StateFolder.of(lab)
    folder.make()
    with Journal(folder.new_journal()) as journal:
        journal.write(Begun(lab=lab.name, digest="", actor="me", command=command, before=State({}), steps=()))
        folder.begin(next_number(folder))


def test_a_journal_is_that_of_one_folder(two: tuple[Lab, Lab]) -> None:
    first, second = two
    assert first.name == second.name
    begin(first, "apply of the first")
    assert read_journal(StateFolder.of(second).journal) is None
    begin(second, "apply of the second")
    for lab, word in ((first, "first"), (second, "second")):
        record = read_journal(StateFolder.of(lab).journal)
        assert record is not None
        assert record.begun.command == f"apply of the {word}"
    assert StateFolder.of(first).lock == StateFolder.of(second).lock  # the switches may be the same


def test_a_lab_that_moved_keeps_its_journal(two: tuple[Lab, Lab], tmp_path: Path) -> None:
    first, _ = two
    begin(first, "apply")
    moved = Path(first.folder).rename(tmp_path / first.name)
    assert read_journal(StateFolder.of(load_lab(moved)).journal) is not None


def test_an_operand_finds_the_lab_again(two: tuple[Lab, Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for lab in two:
        assert find_lab(operand_of(lab)) == Path(lab.folder)
    shipped = load_lab(find_lab("virtual"))
    assert operand_of(shipped) == "virtual"
    inventory = tmp_path / "inventory"
    inventory.mkdir()
    mine = inventory / "virtual"
    shutil.copytree(shipped.folder, mine)
    monkeypatch.chdir(tmp_path)
    assert operand_of(load_lab(mine)) == "virtual"  # the nearer one of that name
    assert operand_of(shipped) == shipped.folder
    assert find_lab(operand_of(shipped)) == Path(shipped.folder)


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"user": "somebody", "agent_python": "/opt/python3", "key_file": "/a/key"}, True),
        ({"mac": bytes(6)}, False),
        ({"data_address": "198.19.9.9"}, False),
        ({"pops_tags": True}, False),
    ],
)
def test_an_inventory_is_another_one_if_what_plans_rest_on_differs(
    changed: dict[str, object], *, same: bool, tmp_path: Path
) -> None:
    lab = small_lab(tmp_path)
    first, *rest = lab.hosts
    now = replace(lab, hosts=(replace(first, **changed), *rest), strips=(), outlets=())
    assert (digest_of(now) == digest_of(lab)) is same
    assert digest_of(replace(lab, links=lab.links[1:])) != digest_of(lab)
    other_ports = replace(lab.switches[0], ports=lab.switches[0].ports[1:])
    assert digest_of(replace(lab, switches=(other_ports, *lab.switches[1:]))) != digest_of(lab)
    quirky = replace(lab.switches[0], quirks={"quirk": 1})
    assert digest_of(replace(lab, switches=(quirky, *lab.switches[1:]))) != digest_of(lab)
