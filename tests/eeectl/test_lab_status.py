"""`eeectl status` knows what killed commands left, each of it by itself, and names what mends it."""

import re
import signal
from pathlib import Path

import pytest

from eee_testbed.controller.applying.apply import Options, apply
from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.processes import ProcessId
from eee_testbed.controller.applying.run_notes import RunNote, RunNotes
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import at_work
from eee_testbed.controller.model.state import diff
from eee_testbed.controller.planning.wishes import LinkOff
from eee_testbed.eeectl.interactive import Signals, left_words
from eee_testbed.eeectl.lab_status import is_pending, print_status, report_of
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.restoring import clear_up
from tests.support.labs.described_toy import DescribedToy, described, left_by
from tests.support.labs.killed_run import in_child
from tests.support.labs.toy_lab import Quiet, small_lab, trees_state


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return small_lab(tmp_path / "toys")


def shut_a_link(toys: DescribedToy) -> None:
    wish = LinkOff(next(toys.lab.trunks()).name)
    with at_work(toys.lab, toys.described_backend(), "link off", Quiet(), toys.stop) as work:
        apply(work, wish, None, lambda _: True, Options("link off", check_hosts=False))


def shown(lab: Lab, capsys: pytest.CaptureFixture[str]) -> tuple[str, bool]:
    report = report_of(lab, StateFolder.of(lab), None)
    print_status(report)
    return capsys.readouterr().out, is_pending(report)


def test_a_command_that_is_killed_in_its_proof_of_ports_is_known_and_recovered(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is in the lab's journal yet."""
    start, file = trees_state(lab), tmp_path / "switches.json"
    toys = described(lab, start, file, troubles={5: "die"})
    before = {name: dict(lines) for name, lines in toys.lines.items()}
    assert in_child(lambda: shut_a_link(toys)) == -signal.SIGKILL
    said, pending = shown(lab, capsys)
    assert "port proof in place of 8 port descriptions" in said
    assert "eeectl recover" in said
    assert pending
    assert "run `eeectl recover" in left_words(StateFolder.of(lab), Signals(toys.stop))
    left = left_by(lab, file)
    assert left.lines != before
    with at_work(lab, left.described_backend(), "recover", Quiet(), left.stop) as work:
        assert list(clear_up(work, lambda _: False))
    assert left.lines == before
    assert not diff(left.state, start)
    assert not shown(lab, capsys)[1]


def test_a_command_that_is_killed_in_its_change_is_named_after_ctrl_c(lab: Lab, tmp_path: Path) -> None:
    toys = described(lab, trees_state(lab), tmp_path / "switches.json")
    folder, signals = StateFolder.of(lab), Signals(toys.stop)
    assert left_words(folder, signals) == "nothing was sent."
    shut_a_link(toys)
    last = toys.orders - 1
    signals.arm()
    try:
        assert left_words(folder, signals) == "", "what was finished stays"
    finally:
        signals.disarm()
    killed = described(lab, trees_state(lab), tmp_path / "switches.json", troubles={last - proved(toys): "die"})
    assert in_child(lambda: shut_a_link(killed)) == -signal.SIGKILL
    assert re.fullmatch(r"`link off` of .* is unfinished: run `eeectl recover .*`\.", left_words(folder, signals))


def proved(toys: DescribedToy) -> int:
    """Orders of a proof, which is kept: the next command sends none."""
    folder = StateFolder.of(toys.lab)
    return 2 * sum(len(one) for one in (PortProofs(folder.port_proofs).proved(name) for name in toys.lines))


@pytest.mark.parametrize(
    ("there", "resumable", "says", "says_not"),
    [
        (True, True, "--resume", "folder is gone"),
        (True, False, "--put-back", "--resume"),
        (False, True, "eeectl recover", "--resume"),
    ],
)
def test_a_killed_run_is_named_with_what_restores_its_lab(
    lab: Lab,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    there: bool,
    resumable: bool,
    says: str,
    says_not: str,
) -> None:
    run = tmp_path / "runs" / "20260101T000000Z-night"
    if there:
        run.mkdir(parents=True)
        (run / "run.yaml").touch()
    gone = ProcessId.me().model_copy(update={"started_tick": 0})
    RunNotes(StateFolder.of(lab)).write(RunNote(run=str(run), resumable=resumable, process=gone))
    said, pending = shown(lab, capsys)
    assert f"the run {run} was killed" in said
    assert says in said
    assert says_not not in said
    assert pending
