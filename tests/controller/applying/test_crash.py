"""The controller is killed, at every order and at every line of its journal; the disk is full at every line."""

import os
import resource
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from eee_testbed.controller.applying.apply import Options, apply
from eee_testbed.controller.applying.guardian import guardian, ring
from eee_testbed.controller.applying.holder import holder_of
from eee_testbed.controller.applying.journal import Journal, Sending, Verified, read_journal
from eee_testbed.controller.applying.recover import confirm
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import at_work
from eee_testbed.controller.model.state import diff, factory_state
from eee_testbed.controller.planning.wishes import MultiTree
from eee_testbed.lab.errors import JournalFailed, LabError
from eee_testbed.lab.model import Lab
from tests.controller.applying.test_apply import record_of, run_apply, run_recover, scene_of
from tests.support import ROOT
from tests.support.labs.toy_lab import Quiet, ToyLab, load, small_lab

_GUARDIAN = ROOT / "tests/support/labs/toy_guardian.py"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return small_lab(tmp_path / "toys")


def in_child(act: Callable[[], None]) -> int:
    """Run a function in a process of its own; returns its exit status, or minus the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_at_sync(number: int) -> Callable[[int], None]:
    """An fsync that is the end of the process the n-th time: before the entry is safe, and after it was written."""
    left = [number]

    def sync(descriptor: int) -> None:
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        os.fsync(descriptor)

    return sync


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["trees", "link off"])
def test_killed_at_every_order_recover_rolls_the_lab_back_fully(lab: Lab, tmp_path: Path, scene: str) -> None:
    start, wish = scene_of(lab, scene)
    whole = ToyLab(lab, start)
    run_apply(whole, wish)
    for number in range(0, whole.orders, 13 if scene == "trees" else 3):
        toys = ToyLab(lab, start, troubles={number: "die"}, file=tmp_path / "switches.json")
        assert in_child(lambda toys=toys: run_apply(toys, wish)) == -signal.SIGKILL  # type: ignore[misc]
        left = load(lab, tmp_path / "switches.json")
        assert diff(left.state, start), number
        assert "as it was before" in run_recover(left)
        assert not diff(left.state, start), number
        assert not left.harms, number


@pytest.mark.slow
def test_killed_at_every_line_of_the_journal(lab: Lab, tmp_path: Path) -> None:
    start, wish = scene_of(lab, "link off")
    number = 0
    while True:
        toys = ToyLab(lab, start, file=tmp_path / "switches.json")
        backend = toys.backend(sync=kill_at_sync(number))
        ended = in_child(lambda toys=toys, backend=backend: run_apply(toys, wish, backend))  # type: ignore[misc]
        left = load(lab, tmp_path / "switches.json")
        record = read_journal(StateFolder(lab.name).journal)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        if record is None or record.finished:  # it died before its head was safe, or after all was done
            assert not diff(left.state, start if record is None else record.after)
        else:
            after = record.after
            run_recover(left)
            assert left.state in (start, after)
            assert not left.harms
        StateFolder(lab.name).journal.unlink(missing_ok=True)
        number += 1
    assert number > 10


def test_killed_during_the_rollback_it_continues_from_there(lab: Lab, tmp_path: Path) -> None:
    start, wish = scene_of(lab, "trees")
    whole = ToyLab(lab, start)
    run_apply(whole, wish)
    half = whole.orders // 2
    for number in range(half + 1, 2 * half, 11):
        toys = ToyLab(lab, start, troubles={half: "refuse", number: "die"}, file=tmp_path / "switches.json")
        assert in_child(lambda toys=toys: run_apply(toys, wish)) == -signal.SIGKILL  # type: ignore[misc]
        left = load(lab, tmp_path / "switches.json")
        run_recover(left)
        assert not diff(left.state, start), number
        assert not left.harms, number
        assert left.orders <= 2 * half + 7 - number  # steps that were rolled back already are not repeated


@pytest.mark.slow
def test_a_full_disk_sends_nothing_more_and_everything_is_rolled_back(lab: Lab, tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk: the kernel refuses in the same place, with EFBIG."""
    start, wish = scene_of(lab, "link off")
    whole = ToyLab(lab, start)
    run_apply(whole, wish)
    lines = StateFolder(lab.name).journal.read_bytes().splitlines(keepends=True)
    ends = [sum(map(len, lines[:count])) for count in range(len(lines))]
    for limit_byte in (ends[0] + 5, *(end + 20 for end in ends[1:])):
        toys = ToyLab(lab, start)
        ended_as = tmp_path / "ended_as"

        def act(toys: ToyLab = toys, limit_byte: int = limit_byte, ended_as: Path = ended_as) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_byte, resource.RLIM_INFINITY))
            try:
                result = run_apply(toys, wish)
            except JournalFailed:
                ending = "refused"
                assert toys.orders == 0
            else:
                ending = result.ending
                assert "free disk space" in result.sentence or ending == "unfinished"
            aim = record_of(lab).after if ending == "unfinished" else start
            assert not diff(toys.state, aim)
            assert not toys.harms
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            ended_as.write_text(ending, encoding="utf-8")

        assert in_child(act) == 0, limit_byte
        expected = "refused" if limit_byte < ends[1] else "unfinished" if limit_byte > ends[-1] else "taken back"
        assert ended_as.read_text(encoding="utf-8") == expected
        StateFolder(lab.name).journal.unlink(missing_ok=True)


@pytest.mark.slow
def test_a_journal_truncated_anywhere_is_readable(lab: Lab, state_folder: Path) -> None:
    toys = ToyLab(lab, factory_state(lab), troubles={60: "refuse"})
    run_apply(toys, MultiTree())
    data = StateFolder(lab.name).journal.read_bytes()
    head = data.index(b"\n")
    file = state_folder / "cut.jsonl"
    last = -1
    for length_byte in (*range(0, head, 4001), *range(head, len(data), 977), *range(len(data) - 150, len(data) + 1)):
        file.write_bytes(data[:length_byte])
        record = read_journal(file)
        assert (record is None) == (length_byte <= head)
        if record is not None:
            sent = max((entry.round for entry in record.entries if isinstance(entry, Sending)), default=-1)
            verified = max((entry.round for entry in record.entries if isinstance(entry, Verified)), default=-1)
            assert verified <= sent
            assert sent >= last
            last = sent
        with Journal(file) as journal:  # the torn line is overwritten
            if record is not None:
                journal.write(Verified(round=0))
        assert (read_journal(file) is None) == (record is None)


def test_a_damaged_journal_is_reported_and_not_guessed_at(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    run_apply(toys, MultiTree())
    file = StateFolder(lab.name).journal
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:3], b'{"kind": "sending"}\n', *lines[4:]]))
    with pytest.raises(LabError, match=r"line 4 .*eeectl adopt"):
        read_journal(file)
    file.write_bytes(b"".join(lines) + b"\0" * 300)
    assert record_of(lab).finished


@pytest.mark.slow
def test_an_apply_that_dies_is_rolled_back_by_its_guardian(lab: Lab, tmp_path: Path) -> None:
    toys = ToyLab(lab, factory_state(lab), troubles={40: "die"}, file=tmp_path / "toys" / "switches.json")
    ended = in_child(lambda: _apply_guarded(toys, 3600.0))
    assert ended == -signal.SIGKILL
    _wait_for_guardian(lab)
    assert record_of(lab).outcome == "taken back"
    assert not diff(load(lab, tmp_path / "toys" / "switches.json").state, factory_state(lab))
    assert holder_of(StateFolder(lab.name)) is None


@pytest.mark.slow
@pytest.mark.parametrize("confirmed", [True, False])
def test_an_unconfirmed_apply_is_rolled_back_at_the_deadline(lab: Lab, tmp_path: Path, *, confirmed: bool) -> None:
    file = tmp_path / "toys" / "switches.json"
    toys = ToyLab(lab, factory_state(lab), file=file)
    assert in_child(lambda: _apply_guarded(toys, 3600.0 if confirmed else 0.3)) == 0
    if confirmed:
        assert record_of(lab).waiting
        left = load(lab, file)
        with (
            at_work(lab, left.backend(), "confirm", Quiet(), left.stop) as work,
            Journal(work.folder.journal) as journal,
        ):
            confirm(work, journal)
        ring(StateFolder(lab.name))
    _wait_for_guardian(lab)
    record = record_of(lab)
    assert record.outcome == ("applied" if confirmed else "taken back")
    assert not diff(load(lab, file).state, record.after if confirmed else record.begun.before)


def _apply_guarded(toys: ToyLab, confirm_s: float) -> None:
    backend = toys.backend(guard=lambda lab: guardian(lab, (str(_GUARDIAN),)))
    with at_work(toys.lab, backend, "apply", Quiet(), toys.stop) as work:
        result = apply(work, MultiTree(), None, lambda _: True, Options("apply", confirm_s=confirm_s))
    assert result.ending == "to be confirmed"


def _wait_for_guardian(lab: Lab) -> None:
    """Wait for the end of the guardian that the journal names; it is not a child of this process."""
    pid = record_of(lab).guardian
    assert pid is not None
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    assert poller.poll(60_000), "the guardian did not end"
    os.close(descriptor)
