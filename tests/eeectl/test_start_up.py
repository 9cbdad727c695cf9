"""What a rack does not need is loaded only by the verbs that use it, so that the others start quickly."""

import subprocess
import sys

import pytest

_HEAVY = ("asyncssh", "emcee", "matplotlib", "netmiko", "networkx", "polars", "pysnmp", "scipy", "textual")
_TWIN = ("twin.families", "twin.lab.daemon", "twin.truth")


@pytest.mark.parametrize("words", [["lab", "list"], ["status", "virtual", "--offline"], ["examples", "list"]])
def test_a_verb_that_asks_no_device_loads_no_library_for_devices_or_figures(words: list[str]) -> None:
    script = (
        f"import sys; sys.argv = ['eeectl', *{words}]; from eeectl.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code in (0, 3), end.code\n"
        f"print(sorted({{*{_HEAVY + _TWIN}}} & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "[]\n"
