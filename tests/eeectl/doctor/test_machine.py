"""What the doctor says of a machine."""

from dataclasses import replace

import pytest

from eee_testbed.eeectl.doctor.machine import TOOLS, Machine, look, machine_findings

WHOLE = Machine(dict.fromkeys((tool.name for tool in TOOLS), True), True, True, True, "", 4)


def test_a_whole_machine_lacks_nothing() -> None:
    assert list(machine_findings(WHOLE)) == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_missing_tool_has_the_command_that_installs_it(tool: object) -> None:
    name, package, severity = (getattr(tool, key) for key in ("name", "package", "severity"))
    (found,) = machine_findings(replace(WHOLE, has={**WHOLE.has, name: False}))
    assert (found.what, found.command, found.severity) == (name, f"sudo apt-get install {package}", severity)


@pytest.mark.parametrize(
    ("change", "what", "command", "severity"),
    [
        ({"has_engine": False}, "the engine", "./setup.sh", "missing"),
        ({"has_mpi4py": False}, "mpi4py", "sudo apt-get install python3-mpi4py", "missing"),
        ({"tun": "it does not exist"}, "/dev/net/tun", "sudo modprobe tun", "missing"),
        ({"is_root": False}, "root's rights", "sudo -E env PATH=$PATH eeectl lab up", "optional"),
        ({"core_count": 1}, "this machine", "eeectl lab up virtual --rate auto", "optional"),
    ],
)
def test_rights_devices_and_parts(change: dict[str, object], what: str, command: str, severity: str) -> None:
    (found,) = machine_findings(replace(WHOLE, **change))  # type: ignore[arg-type]
    assert (found.what, found.command, found.severity) == (what, command, severity)


def test_what_matters_most_comes_first() -> None:
    nothing = Machine(dict.fromkeys(WHOLE.has, False), False, False, False, "busy", 1)
    severities = [found.severity for found in machine_findings(nothing)]
    assert severities == sorted(severities)  # "missing" before "optional"


def test_this_machine_can_be_looked_at() -> None:
    seen = look()
    assert set(seen.has) == {tool.name for tool in TOOLS}
    assert seen.core_count >= 1
    assert seen.has_engine
