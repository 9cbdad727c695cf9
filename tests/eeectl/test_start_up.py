"""What a rack does not need is loaded only by the verbs that use it, so that the others start quickly."""

import subprocess
import sys

import pytest

_HEAVY = ("asyncssh", "emcee", "matplotlib", "netmiko", "networkx", "polars", "pysnmp", "scipy", "textual")
_TWIN = ("eee_testbed.twin.families", "eee_testbed.twin.lab.daemon", "eee_testbed.twin.truth")


def _loaded(words: list[str], libraries: tuple[str, ...]) -> str:
    """Which of the libraries a command line loads, as a list's text."""
    script = (
        f"import sys; sys.argv = ['eeectl', *{words}]; from eee_testbed.eeectl.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code in (0, 3), end.code\n"
        f"print(sorted({{*{libraries}}} & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return done.stderr


@pytest.mark.parametrize("words", [["lab", "list"], ["status", "virtual", "--offline"], ["examples", "list"]])
def test_a_verb_that_asks_no_device_loads_no_library_for_devices_or_figures(words: list[str]) -> None:
    assert _loaded(words, _HEAVY + _TWIN) == "[]\n"


@pytest.mark.parametrize("verb", ["study", "regulate"])
def test_help_loads_neither_optimizers_nor_figures(verb: str) -> None:
    assert _loaded([verb, "--help"], ("emcee", "matplotlib", "scipy.optimize", "textual")) == "[]\n"
