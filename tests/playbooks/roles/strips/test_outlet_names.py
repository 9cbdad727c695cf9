"""Names of outlets: access as in the inventory, and what is asked of net-snmp's tools."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.ansible_play import PLAYBOOKS

_FILE = PLAYBOOKS / "roles" / "strips" / "files" / "outlet_names.py"

_TOOL = """#!{python}
import json, os, sys
from pathlib import Path
state = Path("{state}")
Path("{state}.conf").write_text(Path(os.environ["SNMPCONFPATH"], "snmp.conf").read_text())
names = json.loads(state.read_text())
oid = next(word for word in sys.argv if word.startswith("1.3."))
if "{tool}" == "snmpset":
    names[oid] = sys.argv[-1]
    state.write_text(json.dumps(names))
print('"' + names[oid] + '"' if oid in names else "No Such Object available on this agent at this OID")
"""


@pytest.fixture
def question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A question about a strip of two outlets; `snmpget` and `snmpset` answer from a file."""
    for tool in ("snmpget", "snmpset"):
        file = tmp_path / tool
        file.write_text(_TOOL.format(python=sys.executable, state=tmp_path / "names", tool=tool))
        file.chmod(0o755)
    (tmp_path / "names").write_text(json.dumps({"1.3.1": "Outlet 1", "1.3.2": "n01"}))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "outlets.csv").write_text("strip,outlet,feeds\npdu1,1,sw1\npdu2,1,sw2\npdu1,2,n01\n")
    (tmp_path / "community").write_text("private\n")
    return {
        "strip": "pdu1",
        "address": "192.0.2.1:161",
        "community_file": str(tmp_path / "community"),
        "snmp_v3": {},
        "object": "1.3.{n}",
        "outlets": str(tmp_path / "outlets.csv"),
        "record": str(tmp_path / "kept" / "pdu1.json"),
        "first_contact": "its web page",
    }


def _ask(question: dict[str, Any], verb: str, check: str = "--do") -> dict[str, Any]:
    argv = [sys.executable, str(_FILE), check, verb]
    done = subprocess.run(argv, input=json.dumps(question), capture_output=True, text=True, timeout=60, check=False)
    assert not done.stderr
    answer = json.loads(done.stdout)
    assert done.returncode == bool(answer["problem"])
    return dict(answer)


def test_only_wrong_names_are_set_and_go_back(question: dict[str, Any], tmp_path: Path) -> None:
    found = json.loads((tmp_path / "names").read_text())
    foretold = _ask(question, "set", "--check")
    assert json.loads((tmp_path / "names").read_text()) == found
    assert _ask(question, "set") == foretold == {"changed": ["pdu1:1: Outlet 1 -> sw1"], "problem": ""}
    assert json.loads((tmp_path / "names").read_text()) == {"1.3.1": "sw1", "1.3.2": "n01"}
    assert (tmp_path / "names.conf").read_text() == 'defVersion 2c\ndefCommunity "private"\n'
    assert not _ask(question, "set")["changed"]
    assert _ask(question, "put-back")["changed"] == ["pdu1:1: sw1 -> Outlet 1"]
    assert json.loads((tmp_path / "names").read_text()) == found
    assert not _ask(question, "put-back")["changed"]


def test_the_user_of_snmp_v3_is_the_inventorys(question: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "key").write_text("authentication\n")
    question["snmp_v3"] = {"user": "eee", "auth_protocol": "sha256", "auth_key_file": str(tmp_path / "key")}
    assert not _ask(question, "set")["problem"]
    assert (tmp_path / "names.conf").read_text().splitlines() == [
        "defVersion 3",
        'defSecurityName "eee"',
        "defSecurityLevel authNoPriv",
        "defAuthType SHA-256",
        'defAuthPassphrase "authentication"',
    ]


def test_problems_are_sentences(question: dict[str, Any], tmp_path: Path) -> None:
    absent = {**question, "object": "1.3.9.{n}"}
    assert _ask(absent, "set")["problem"] == "pdu1: outlet 1 has no name under 1.3.9.1."
    silent = tmp_path / "snmpget"
    silent.write_text("#!/bin/sh\necho 'Timeout: No Response from udp:192.0.2.1:161' >&2\nexit 1\n")
    assert "give it its SNMP access at its web page" in _ask(question, "set")["problem"]
    unset = {**question, "community_file": "", "community_env": "EEE_NO_SUCH_VARIABLE"}
    assert "set EEE_NO_SUCH_VARIABLE" in _ask(unset, "set")["problem"]
    gone = {**question, "community_file": str(tmp_path / "gone")}
    assert "cannot be read from" in _ask(gone, "set")["problem"]
