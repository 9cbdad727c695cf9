"""What a person's apply does around the controller's: the probe of a path, and how long one may wait to confirm."""

from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.controller.applying.work import at_work
from eee_testbed.controller.model.state import State, factory_state
from eee_testbed.eeectl.apply_options import seconds_of
from eee_testbed.eeectl.interactive import _quiet_while_hosts_check
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from tests.support.labs.toy_lab import Quiet, ToyLab, small_lab


class _Probe:
    def __init__(self, done: list[str]) -> None:
        self._done = done

    def end(self) -> None:
        self._done.append("the probe ended")


def test_a_probe_has_ended_when_hosts_check_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))
    lab = small_lab(tmp_path / "toys")
    toys = ToyLab(lab, factory_state(lab))
    done: list[str] = []

    def check(_lab: Lab, _state: State) -> None:
        done.append("hosts checked")

    with at_work(lab, replace(toys.backend(), check_hosts=check), "apply", Quiet(), toys.stop) as work:
        quiet = _quiet_while_hosts_check(work, _Probe(done))  # type: ignore[arg-type]
        assert quiet.backend.check_hosts is not None
        quiet.backend.check_hosts(lab, toys.state)
    assert done == ["the probe ended", "hosts checked"]


@pytest.mark.parametrize(("text", "time_s"), [("90", 90), ("60s", 60), ("5m", 300), ("1.5h", 5400), ("168h", 604_800)])
def test_a_time_in_seconds_minutes_or_hours(text: str, time_s: float) -> None:
    assert seconds_of(text) == time_s


@pytest.mark.parametrize("text", ["", "0", "-1", "5d", "169h", "9e9", "99999999999h", "nan"])
def test_a_time_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(LabError, match=r"invalid time|out of range: use at most 168 h"):
        seconds_of(text)
