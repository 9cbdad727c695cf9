"""The restore journal of a run: short, durable, and leading through the states that were passed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.controller.model.state import State, diff, factory_state, replay
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.lab.errors import JournalFailed, LabError, RunFolderFailed
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.experiment import Experiment, Factor, Measure, ProbeRun
from eee_testbed.measuring.experiments.level_wishes import set_with, wish_of
from eee_testbed.measuring.experiments.raw_files import RawFile
from eee_testbed.measuring.experiments.restore_journal import IN_RUN, RestoreJournal


@pytest.fixture(scope="module")
def lab() -> Lab:
    return load_lab(find_lab("virtual"))


@pytest.fixture(scope="module")
def home(lab: Lab) -> State:
    """Multi-tree, as `apply` leaves it."""
    return multi_tree(lab, factory_state(lab), shortest_routes)[1]


def _experiment() -> Experiment:
    factors = {
        "link": Factor(kind="link", links=("sw1:gi1/0/11",), levels=("on", "half", "off")),
        "eee": Factor(kind="eee", links=("n01",), levels=("on", "off")),
        "hold_us": Factor(kind="hold_us", links=("n01",), levels=(0, 100)),
    }
    measure = Measure(probe=ProbeRun.model_validate({"from": "n01", "to": "n02"}))
    return Experiment(name="x", factors=factors, measure=measure)


def _plan(lab: Lab, state: State, name: str, **levels: str | int) -> ProvedPlan:
    wanted = {"link": "on", "eee": "on", "hold_us": 0, **levels}
    return plan_for(Site(lab), state, wish_of(_experiment(), name, wanted, lab))


def test_a_link_is_off_on_or_enabled_at_one_end(lab: Lab, home: State) -> None:
    ends = (("sw1", "gi1/0/11"), ("sw2", "gi1/0/11"))
    ups = {}
    for level in ("on", "half", "off"):
        after = replay(_plan(lab, home, "link", link=level).changes, home)
        ups[level] = tuple(after.port(*end).admin_up for end in ends)
    assert ups == {"on": (True, True), "half": (True, False), "off": (False, False)}


def test_eee_of_a_link_is_set_and_a_hold_time_with_it(lab: Lab, home: State) -> None:
    on = replay(_plan(lab, home, "eee", eee="on").changes, home)
    assert (on.port("sw1", "gi1/0/1").eee, on.port("sw1", "gi1/0/1").hold_us) == (True, 0)
    held = replay(_plan(lab, on, "hold_us", hold_us=100).changes, on)
    assert (held.port("sw1", "gi1/0/1").eee, held.port("sw1", "gi1/0/1").hold_us) == (True, 100)
    assert not replay(_plan(lab, on, "eee", eee="off").changes, on).port("sw1", "gi1/0/1").eee
    assert set_with(_experiment(), "eee") == ("eee", "hold_us")
    assert set_with(_experiment(), "link") == ("link",)


def test_the_journal_leads_to_the_first_state_and_is_never_longer_than_the_number_of_states(
    lab: Lab, home: State, tmp_path: Path
) -> None:
    file = tmp_path / "restore.json"
    journal = RestoreJournal(file, home)
    journal.settle(home, {"link": "on"})
    state = home
    for turn in range(3):
        for level in ("off", "on"):
            plan = _plan(lab, state, "link", link=level)
            journal.add(plan)
            state = replay(plan.changes, state)
            journal.settle(state, {"link": level, "turn": turn})
    assert journal.length <= 2
    kept = RestoreJournal.load(file, tmp_path / "gone")
    assert kept is not None
    assert kept.length == journal.length
    assert set(json.loads(file.read_bytes())) == {"home", "legs", "levels"}
    back = kept.back(lab, 0)
    assert not diff(replay(back.changes, state), home)


def test_the_way_back_is_over_the_last_plan_first(lab: Lab, home: State, tmp_path: Path) -> None:
    journal, state = RestoreJournal(tmp_path / "restore.json", home), home
    for name, level in (("eee", "on"), ("hold_us", 100)):
        plan = _plan(lab, state, name, **{name: level})
        journal.add(plan)
        state = replay(plan.changes, state)
    assert journal.length == 2
    assert not diff(replay(journal.back(lab, 1).changes, state), journal.state(1))
    assert not diff(replay(journal.back(lab, 0).changes, state), home)


def test_earlier_levels_are_found_again_and_a_plan_that_was_not_applied_is_dropped(
    lab: Lab, home: State, tmp_path: Path
) -> None:
    file = tmp_path / "restore.json"
    journal = RestoreJournal(file, home)
    journal.settle(home, {"eee": "off"})
    plan = _plan(lab, home, "eee", eee="on")
    journal.add(plan)
    on = replay(plan.changes, home)
    journal.settle(on, {"eee": "on"})
    assert (journal.index_of({"eee": "off"}), journal.index_of({"eee": "on"})) == (0, 1)
    assert journal.index_of({"eee": "half"}) is None
    killed = RestoreJournal.load(file, tmp_path)
    assert killed is not None
    killed.settle(home)  # the change was rolled back by the next command
    assert killed.length == 0
    assert RestoreJournal.load(tmp_path / "nowhere", tmp_path) is None


def test_nothing_is_sent_that_could_not_be_written_down(lab: Lab, home: State, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    journal = RestoreJournal(tmp_path / "file" / "restore.json", home)
    with pytest.raises(JournalFailed, match="make room"):
        journal.add(_plan(lab, home, "eee", eee="on"))
    assert journal.length == 0
    journal.settle(home)  # failing to save a shorter journal is not an error
    (tmp_path / IN_RUN).write_text("{", encoding="utf-8")
    with pytest.raises(LabError, match="by hand"):
        RestoreJournal.load(tmp_path / "restore.json", tmp_path)


def test_a_run_whose_lab_was_restored_keeps_its_first_state_in_its_folder(
    lab: Lab, home: State, tmp_path: Path
) -> None:
    journal = RestoreJournal(tmp_path / "restore.json", home)
    journal.add(_plan(lab, home, "eee", eee="on"))
    run = tmp_path / "run"
    journal.leave_home(run)  # its folder is gone
    run.mkdir()
    journal.leave_home(run)
    (tmp_path / "restore.json").unlink()
    resumed = RestoreJournal.load(tmp_path / "restore.json", run)
    assert resumed is not None
    assert resumed.length == 0
    assert not diff(resumed.home, home)
    resumed.add(_plan(lab, home, "eee", eee="on"))
    assert (tmp_path / "restore.json").exists(), "from now on it is with the lab's state"


def test_a_raw_file_keeps_in_memory_what_a_full_disk_refuses(tmp_path: Path) -> None:
    path = tmp_path / "trials" / "echoes.jsonl"
    path.parent.mkdir()
    path.symlink_to("/dev/full")
    file = RawFile(path)
    file.append(b"one\n")
    file.append(b"two\n")
    with pytest.raises(RunFolderFailed, match="No space left"):
        file.close()
    path.unlink()
    file.append(b"three\n")
    file.close()
    assert path.read_bytes() == b"one\ntwo\nthree\n"


def test_a_first_state_with_other_settings_is_not_taken_for_the_same(lab: Lab, home: State, tmp_path: Path) -> None:
    journal = RestoreJournal(tmp_path / "restore.json", home)
    plan = _plan(lab, home, "link", link="off")
    journal.add(plan)
    port = home.port("sw1", "gi1/0/11")
    ports = {**home.switches["sw1"].ports, "gi1/0/11": replace(port, eee=not port.eee)}
    other = State({**home.switches, "sw1": replace(home.switches["sw1"], ports=ports)})
    journal.settle(other)
    assert journal.length == 1
