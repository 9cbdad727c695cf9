"""Whatever is typed: no traceback, nothing unexpected, an exit status as documented, and the lab can be restored.

Thirty commands with valid and invalid arguments, drawn from a fixed seed, one after the other on one lab. Left out are
commands that end the lab (`lab down`), wait for a person or for hours (`lab shell`, `study`), or accept the lab as it
was made (`adopt --yes`), after which nothing can be rolled back.
"""

import json
import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from eee_testbed.eeectl.exit_status import DONE, PENDING, REFUSED, WRONG_USE
from tests.support.labs.engineer import Engineer

COMMANDS: Final = 30

Words = tuple[str, ...]

_JUNK = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
_NUMBERS = st.sampled_from(["1", "2", "7", "0", "-1", "99999999", "1e9", "nan", "inf", "0x10", "", "one", "1.5"])
_TRUNKS = st.sampled_from(["sw1:gi1/0/5", "sw2:1/0/7", "sw1:gi1/0/10", "7", "12"])
_ENDS = st.one_of(_TRUNKS, st.sampled_from(["n01", "n99", "sw1:gi1/0/99", "sw9:gi1/0/5", "sw1", "0", "-1", ":"]), _JUNK)
_HOSTS = st.one_of(st.sampled_from(["n01", "n02,n03", "n06", "n99", "n01,,", "n01:n02", "sw1", ","]), _JUNK)
_PAIRS = st.one_of(st.sampled_from(["n01:n05", "n01:n01", "n01", "n01:n99", ":", "n01,n02"]), _JUNK)
_FILES = st.sampled_from(["nowhere", "/dev/null", "/", "", "/etc/passwd"]) | _JUNK.filter(lambda text: "/" not in text)
_DEVICES = st.sampled_from(["n04", "sw1", "n99", "pdu9"])
_POLICIES = st.sampled_from(["shortest", "one", "x"])
_LABS = st.sampled_from(["nowhere", "/", "/tmp", "", "virtual/", "--"]) | _JUNK  # noqa: S108 - only to be refused


def _flag(name: str, values: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Words]:
    """An option that is given or not."""
    given_so = st.just((name,)) if values is None else values.map(lambda value: (name, value))
    return st.one_of(st.just(()), given_so)


def _line(*parts: str | st.SearchStrategy[str] | st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    """Words one after the other; LAB stands for the lab's folder."""
    strategies = [st.just((part,)) if isinstance(part, str) else part for part in parts]
    return st.tuples(*strategies).map(
        lambda found: tuple(word for one in found for word in ((one,) if isinstance(one, str) else one))
    )


_CHANGE = (_flag("--confirm-in", _NUMBERS.filter(lambda text: text not in ("1", "2", "7", "1.5"))), _flag("--json"))
_CHANGING: Final = (
    _line("apply", "LAB", "--yes", "--no-host-check", *_CHANGE, _flag("--policy", _POLICIES)),
    _line("apply", _LABS, "--yes"),
    _line("apply", "LAB"),  # nobody answers
    _line("plan", "LAB", _flag("--start", st.sampled_from(["factory", "observed", "x"])), _flag("--json")),
    _line("link", "off", _ENDS, "--lab", "LAB", "--yes", "--no-host-check", *_CHANGE),
    _line("link", "on", _ENDS, "--lab", "LAB", "--yes", "--no-host-check"),
    _line("link", "speed", _TRUNKS, st.sampled_from(["100", "auto", "10000", "7"]), "--lab", "LAB", "--yes"),
    _line("link", "off", _TRUNKS, "--lab", "LAB", "--yes", "--no-host-check", "--probe", _PAIRS),
    _line(
        "eee", st.sampled_from(["on", "off"]), _ENDS, "--lab", "LAB", "--yes", "--no-host-check",
        _flag("--hold-us", _NUMBERS), _flag("--may-flap"), _flag("--all"),
    ),
    _line("rollback", "LAB", "--yes"),
    _line("rollback", "LAB", _NUMBERS, "--yes", _flag("--all")),
    _line("confirm", "LAB"),
    _line("recover", "LAB", "--yes"),
)  # fmt: skip
"""Commands that change the lab, as long as their arguments are valid."""

_OTHERS: Final = (
    _line("eee", "show", "LAB", _flag("--json")),
    _line("status", "LAB", _flag("--offline"), _flag("--json")),
    _line("history", "LAB", _flag("--json")),
    _line("history", _LABS),
    _line("adopt", "LAB"),
    _line("power", "read", _flag("sw1"), "--lab", "LAB", _flag("--json")),
    _line("power", st.sampled_from(["on", "off", "cycle"]), _HOSTS, "--lab", "LAB", "--yes"),
    _line("probe", _PAIRS, "--lab", "LAB", "--count", _NUMBERS.filter(lambda text: text != "99999999"), "--no-fit"),
    _line("bench", "nosuch", "--lab", "LAB", "--hosts", _HOSTS),
    _line("bench", "alltoall", "--lab", "LAB", "--hosts", "n99", "--repetitions", _NUMBERS, "--timeout-s", _NUMBERS),
    _line("bench", "alltoall", "--lab", "LAB", "--set", _JUNK),
    _line("sweep", "alltoall", "--lab", "LAB", "--factor", st.sampled_from(["eee=on,off", "eee=", "x=1"]), "--order"),
    _line("sweep", "alltoall", "--lab", "LAB", "--factor", _JUNK, "--blocks", _NUMBERS, "--order"),
    _line("run", _FILES, _flag("--resume"), _flag("--put-back"), _flag("--order")),
    _line("compare", _FILES, _FILES, _flag("--all")),
    _line(st.sampled_from(["fit", "report", "predict", "simulate"]), _FILES),
    _line("watch", _FILES, "--once"),
    _line("watch", "--lab", "LAB", "--once", "--period-s", _NUMBERS),
    _line("lab", st.sampled_from(["status", "truth", "clock"]), st.sampled_from(["LAB", "nowhere"]), _flag("--json")),
    _line("lab", "list", _flag("--json")),
    _line("lab", "check", "LAB", "--files-only", _flag("--json")),
    _line("lab", "check", _LABS, "--files-only"),
    _line("lab", "up", "LAB", _flag("--rate", _NUMBERS)),
    _line("lab", "down", st.sampled_from(["nowhere", "/", "no/where"])),
    _line("lab", "clock", "LAB", _NUMBERS),
    _line("lab", "exec", _HOSTS, "--lab", "LAB", "--", "true"),
    _line("lab", "capture", _ENDS, "-w", "/nowhere/file", "--lab", "LAB"),
    _line("lab", "fault", "flap", _DEVICES, "--times", _NUMBERS, "--period-s", "0", "--lab", "LAB"),
    _line("lab", "fault", "lose", _DEVICES, _NUMBERS.filter(lambda text: text != "1"), "--lab", "LAB"),
    _line("lab", "fault", "reboot", "sw9", "--at-change", _NUMBERS, "--lab", "LAB"),
    _line("lab", "fault", st.sampled_from(["list", "clear", "mend"]), "--lab", "LAB"),
    st.lists(_JUNK, max_size=3).map(tuple),
)  # fmt: skip


def _require_documented(words: Words, status: int, printed: str, said: str) -> None:
    shown = f"{words}: {status}\n{printed}{said}"
    assert "Traceback" not in printed + said, shown
    assert "unexpected" not in said, shown
    assert status in (DONE, REFUSED, WRONG_USE, PENDING), shown
    if status in (REFUSED, WRONG_USE):
        assert said.strip() or printed.strip(), shown
    if status == WRONG_USE:
        assert re.search(r"Error|no program is named", said + printed), shown
    if status in (DONE, PENDING) and "--json" in words and printed.strip():
        json.loads(printed)


@pytest.fixture
def folder_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_random_commands_end_as_documented_and_the_lab_can_be_restored(
    engineer: Engineer, folder_of_runs: Path
) -> None:
    typed: list[Words] = []

    @settings(
        max_examples=COMMANDS,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(st.one_of(_CHANGING), st.one_of(_OTHERS)))
    def type_one(line: Words) -> None:
        words = tuple(engineer.folder if word == "LAB" else word for word in line)
        typed.append(words)
        done = engineer.words(*words)
        _require_documented(words, done.returncode, done.stdout, done.stderr)

    type_one()
    assert len(typed) >= COMMANDS
    assert folder_of_runs.exists()
    if engineer.eeectl("status").returncode == PENDING:
        engineer.eeectl("recover", "--yes")
    back = engineer.eeectl("rollback", "--all", "--yes")
    assert back.returncode == DONE or "no change to roll back" in back.stderr or "never applied" in back.stderr
    engineer.require_before()
