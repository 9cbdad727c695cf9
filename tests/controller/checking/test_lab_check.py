"""Checks of a whole lab: what the threads of its switches share."""

from pathlib import Path

import pytest

from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.checking.lab_check import check_switches
from eee_testbed.controller.checking.switch_check import SwitchReport
from eee_testbed.lab.folder import find_lab, load_lab


class _Session:
    def close(self) -> None:
        pass


@pytest.mark.parametrize("probe", [True, False])
def test_the_proofs_of_a_lab_have_one_writer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, probe: bool) -> None:
    given: list[PortProofs | None] = []

    def check_switch(*_: object, probe: PortProofs | None) -> SwitchReport:
        given.append(probe)
        return SwitchReport(())

    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path))
    lab = load_lab(find_lab("virtual"))
    check_switches(lab, probe=probe, connect=lambda _: _Session(), check=check_switch)  # type: ignore[arg-type, return-value]
    assert len(given) == len(lab.switches)
    assert len({id(proofs) for proofs in given}) == 1
    if probe:
        assert isinstance(given[0], PortProofs)
        given[0].end("sw1", {"gi1/0/1": 1})
        assert list(tmp_path.rglob("ports.json"))
    else:
        assert given[0] is None
        assert not list(tmp_path.iterdir())
