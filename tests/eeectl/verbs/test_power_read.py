"""`eeectl power read` shows every strip that answers, and names those that do not."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from tests.support.labs.lab_files import DELL, SmallLab
from tests.support.switches.udp_agent import UdpAgent

RPDU = "1.3.6.1.4.1.318.1.1.12"
GOOD: dict[str, int | bytes | str] = {
    **{f"{RPDU}.3.5.1.1.4.{n}": 1 for n in (1, 2)},
    f"{RPDU}.3.5.1.1.2.1": b"sw1",
    f"{RPDU}.3.5.1.1.2.2": b"n01",
    f"{RPDU}.1.16.0": 312,
}
ADDRESSES = ("127.18.250.94", "127.18.250.95")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Two strips: the first answers with its family's objects, the second with another's."""
    with (
        UdpAgent(GOOD, address=ADDRESSES[0]) as good,
        UdpAgent({"1.3.6.1.2.1.1.1.0": b"x"}, address=ADDRESSES[1]) as bad,
    ):
        monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
        secrets = tmp_path / "state" / "power" / "secrets"
        secrets.mkdir(parents=True)
        secret = secrets / "snmp_write_community"
        secret.write_text("lab\n")
        secret.chmod(0o600)
        strips = tuple(
            f"pdu{n}: {{ansible_host: {address}, snmp_port: {agent.port}, family: apc_rpdu, model: AP79, outlets: 2}}"
            for n, (address, agent) in enumerate(zip(ADDRESSES, (good, bad), strict=True), 1)
        )
        cables = ("sw1:gi1/0/1,n01:eth0,1000,copper,no", "sw1:gi1/0/2,n02:eth0,1000,copper,no")
        outlets = ("pdu1,1,sw1", "pdu1,2,n02", "pdu2,1,n01")
        yield SmallLab(77, {"sw1": DELL}, 2, cables, {}, strips, outlets).write(tmp_path, "power", "")


def test_a_bad_strip_is_named_and_the_others_are_shown(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["power", "read", "--lab", str(lab)]) == 1
    printed = capsys.readouterr()
    assert "312 W" in printed.out
    assert "eeectl: pdu2 has no object of a APC" in printed.err
    assert "pdu1:2 is called 'n01' on the strip, and outlets.csv says that it feeds n02" in printed.err


def test_the_same_as_json(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["power", "read", "--lab", str(lab), "--json"]) == 1
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert printed.err.startswith("eeectl: pdu2 has no object of a APC")
    assert found["strips"]["pdu1"]["power_watt"] == 312
    assert list(found["failed"]) == ["pdu2"]
    assert [outlet["name"] for outlet in found["outlets"]] == ["sw1", "n01"]
    assert len(found["remarks"]) == 1


def test_one_strip_alone_is_no_failure(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["power", "read", "sw1", "--lab", str(lab)]) == 0
    assert "pdu1:1" in capsys.readouterr().out
