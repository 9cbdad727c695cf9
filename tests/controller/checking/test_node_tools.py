"""What nodes need, from one table."""

import json
import subprocess
import sys

from eee_testbed.controller.checking.node_tools import _PROBE, NEEDS, PYTHON


def _absent(version: str, **wanted: list[str]) -> list[str]:
    asked = {"commands": [], "modules": [], "rights": []} | wanted
    script = f"import sys; sys.version_info = {version}\n{_PROBE}"
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(asked)], capture_output=True, text=True, timeout=30, check=True
    )
    answer: list[str] = json.loads(done.stdout)
    return answer


def test_an_old_python_is_absent_by_the_name_in_the_table() -> None:
    assert _absent("(3, 8, 20)") == [PYTHON.name]
    assert _absent("(3, 9, 0)") == []


def test_commands_and_modules_are_looked_for_by_name() -> None:
    wanted = {"commands": ["sh", "no-such-command"], "modules": ["json", "no_such_module"]}
    assert _absent("(3, 11, 0)", **wanted) == ["no-such-command", "no_such_module"]


def test_names_are_unique() -> None:
    assert len({need.name for need in NEEDS}) == len(NEEDS)
