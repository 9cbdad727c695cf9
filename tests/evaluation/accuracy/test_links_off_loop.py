"""Trees of a live lab with trunks off, the words that install them, and the replay over them."""

from pathlib import Path

import pytest

from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.topology import Topology
from eee_testbed.simulation.replay.jobs import Job, load_program
from evaluation.accuracy.links_off_loop import Off, State, all_but_one_tree, all_on, jobs_of, replayed_s, some_off

TOPOLOGY = Topology.of(load_lab(find_lab("virtual")))
STATES = [all_on(TOPOLOGY), some_off(TOPOLOGY), all_but_one_tree(TOPOLOGY)]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.trees.name)
def test_apply_is_told_what_is_off_and_trees_use_none_of_it(state: State) -> None:
    told = {int(word.removeprefix("--off=")) for word in state.words if word.startswith("--off=")}
    assert told == set(state.trees.off)
    assert all(not told & set(links) for _, links in state.trees.trees)
    assert sorted(host for hosts, _ in state.trees.trees for host in hosts) == sorted(TOPOLOGY.hosts)


def test_fewer_trunks_make_a_program_no_faster(tmp_path: Path) -> None:
    assert [len(state.trees.off) for state in STATES] == sorted(len(state.trees.off) for state in STATES)
    program = load_program(
        Job.model_validate({"program": {"kind": "alltoall", "ranks": 12, "array_byte": 65536, "iterations": 5}}).program
    )
    jobs = jobs_of(program, tmp_path)
    times_s = [replayed_s(jobs, state.trees)(1000.0) for state in STATES]
    assert times_s == sorted(times_s)
    assert times_s[-1] > 1.1 * times_s[0]


def test_the_error_is_of_the_run_time_with_links_off() -> None:
    one = Off("alltoall", 25, live_on_s=0.10, live_off_s=0.16, host_us=10.0, replay_adds_s=0.055)
    assert one.live_adds_s == pytest.approx(0.06)
    assert one.run_time_error_percent == pytest.approx(100 * (0.155 / 0.16 - 1))
