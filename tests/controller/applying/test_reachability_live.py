"""Reachability between hosts of a virtual lab, checked over SSH: sound, with an entry removed, with a cable cut."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pexpect
import pytest

from eee_testbed.controller.applying.host_check import check_hosts
from eee_testbed.controller.applying.reachability import Pair
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from tests.support.labs.lab_files import ROOT
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.left_labs import state_root
from tests.support.labs.two_trees import entry, write_lab
from tests.support.needs import needs_lab

pytestmark = pytest.mark.lab
NUMBER = reserve()
STATE = state_root("-r")
Eeectl = Callable[..., None]


@pytest.fixture(scope="module")
def eeectl() -> Eeectl:
    needs_lab()

    def run(*arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "eee_testbed.eeectl.cli", *arguments],
            check=False,
            timeout=120,
            capture_output=True,
            text=True,
            env={**os.environ, "EEE_STATE_DIR": str(STATE), "PYTHONPATH": str(ROOT)},
        )
        assert done.returncode == 0, done.stderr

    return run


@pytest.fixture(scope="module")
def lab(eeectl: Eeectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = write_lab(tmp_path_factory.mktemp("labs"), STATE, NUMBER)
    eeectl("lab", "up", str(folder))
    try:
        yield load_lab(folder)
    finally:
        eeectl("lab", "down", folder.name)


def type_at(lab: Lab, switch: str, *lines: str) -> None:
    """Type lines in configuration mode."""
    child = pexpect.spawn("ssh", ["-tt", "-F", f"{STATE / lab.name}/ssh_config", switch], encoding="utf-8", timeout=20)
    for line in ("configure", *lines, "end"):
        child.expect(rf"\n\r?{switch}(\([^()]*\))?# ?$")
        child.send(line + "\r")
        child.expect_exact(line)
    child.expect(rf"\n\r?{switch}# ?$")
    child.close(force=True)


def test_a_sound_lab_has_no_findings(lab: Lab) -> None:
    verdict = check_hosts(lab)
    assert not verdict.complaints


def test_a_missing_entry_is_named_by_its_frames(lab: Lab) -> None:
    line = entry(NUMBER, "sw2", 8, 11)
    words = line.split()
    type_at(lab, "sw2", "no " + " ".join(words[: words.index("interface")]))
    try:
        verdict = check_hosts(lab)
    finally:
        type_at(lab, "sw2", line)
    wanted = {Pair(f"n{n:02}", "n08") for n in range(1, 7)}
    assert {flood.pair for flood in verdict.floods} == wanted, verdict.complaints
    assert all(set(flood.seen_by) == {"n07", "n09", "n10", "n11", "n12"} for flood in verdict.floods)
    assert not verdict.cut
    assert not verdict.copied
    assert not check_hosts(lab).complaints


def test_a_cut_cable_cuts_one_way(lab: Lab, eeectl: Eeectl) -> None:
    eeectl("lab", "fault", "cut", "sw1:gi1/0/12", "--lab", lab.name)
    try:
        verdict = check_hosts(lab)
    finally:
        eeectl("lab", "fault", "clear", "--lab", lab.name)
    one_way = {Pair(f"n{a:02}", f"n{b:02}") for a in range(7, 13) for b in range(1, 7)}
    found = set(verdict.cut)
    assert one_way <= found
    # In the other direction frames pass until ARP, whose answers are lost, forgets an address: all, none, or the first.
    other_way = {Pair(pair.receiver, pair.sender) for pair in one_way}
    assert found - one_way <= other_way
    assert set(verdict.lossy) <= other_way
