"""`eeectl power` without a strip: the mistakes that it reports before anything is sent."""

from pathlib import Path

import pytest

from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.strips.family import Channel, OutletReading, StripReading
from eee_testbed.controller.strips.outlets import Switched
from eee_testbed.eeectl.cli import run
from eee_testbed.eeectl.verbs.power import each_outlet
from eee_testbed.lab.errors import LabError, Unreachable
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab, Outlet, Strip


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lab of this machine is meant, and no lock of its is held."""
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["power", "off", "sw1"], "give --yes"),
        (["power", "cycle", "pdu1:1"], "give --yes"),
        (["power", "off", "pdu1:13", "--yes"], "has no outlet pdu1:13"),
        (["power", "on", "nobody"], "has no outlet nobody"),
        (["power", "read", "pdu9:1"], "has no outlet pdu9:1"),
        (["power", "cycle", "sw1", "--off-s", "-1", "--yes"], "0 to 3600"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert run(words) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert says in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("words", [["off", "sw1", "--yes"], ["on", "n01"], ["cycle", "pdu1:1", "--yes"]])
def test_nothing_is_switched_while_somebody_works_in_the_lab(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """A meter that was reached for would fail: there is no strip, nor its community."""
    lab = load_lab(find_lab("miwa"))
    key = Path(lab.switch("sw1").password_file)
    key.parent.mkdir(parents=True)
    key.write_text("x")  # so it is somebody's lab, and not a virtual one that is down
    with Lock(StateFolder.of(lab), "run night.yaml", warn=print):
        assert run(["power", *words, "--lab", "miwa"]) == 1
    printed = capsys.readouterr()
    assert "run night.yaml" in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


class Strips:
    """Outlets that are on; switching one off may be cut short before or after the relay has switched."""

    def __init__(self, lab: Lab, error: BaseException, *, at: int, switched: bool) -> None:
        self.lab, self.error, self.at, self.switched = lab, error, at, switched
        self.off: list[Outlet] = []
        self.silent: set[str] = set()

    def act(self, outlet: Outlet) -> Switched:
        if len(self.off) == self.at:
            self.off += [outlet] if self.switched else []
            raise self.error
        self.off.append(outlet)
        return Switched(outlet, False, 1, 2, 3)

    def read(self, strip: Strip) -> StripReading:
        if strip.name in self.silent:
            raise Unreachable(strip.name, "nothing answers.")
        off = {outlet.number for outlet in self.off if outlet.strip == strip.name}
        nothing = Channel()
        numbers = range(1, strip.outlet_count + 1)
        outlets = tuple(OutletReading(number, number not in off, nothing) for number in numbers)
        return StripReading(outlets, nothing)


@pytest.fixture
def miwa() -> Lab:
    return load_lab(find_lab("miwa"))


@pytest.mark.parametrize("switched", [True, False])
def test_what_is_off_after_ctrl_c_is_read_back_and_said(miwa: Lab, *, switched: bool) -> None:
    first, second, third = miwa.outlets[:3]
    strips = Strips(miwa, KeyboardInterrupt(), at=1, switched=switched)
    with pytest.raises(KeyboardInterrupt) as stopped:
        each_outlet(miwa, (first, second, third), strips.act, strips.read)
    words = [f"{one.strip}:{one.number} ({one.feeds}) is" for one in (first, second, third)]
    state = "off" if switched else "on"
    assert str(stopped.value) == f"{words[0]} off, {words[1]} {state}, {words[2]} on."


def test_a_strip_that_does_not_answer_then_is_named(miwa: Lab) -> None:
    strips = Strips(miwa, KeyboardInterrupt(), at=0, switched=True)
    strips.silent = {miwa.outlets[0].strip}
    with pytest.raises(KeyboardInterrupt, match="cannot be read"):
        each_outlet(miwa, miwa.outlets[:1], strips.act, strips.read)


def test_an_error_at_the_second_outlet_says_that_the_first_is_off(miwa: Lab) -> None:
    strips = Strips(miwa, LabError("it is stuck."), at=1, switched=False)
    with pytest.raises(LabError, match=r"it is stuck\. Now .* is off, .* is on\."):
        each_outlet(miwa, miwa.outlets[:2], strips.act, strips.read)
    alone = Strips(miwa, LabError("it is stuck."), at=0, switched=False)
    with pytest.raises(LabError, match=r"^it is stuck\.$"):
        each_outlet(miwa, miwa.outlets[:1], alone.act, alone.read)
