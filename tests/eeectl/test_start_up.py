"""What a rack does not need is loaded only by the verbs that use it, so that the others start quickly."""

import subprocess
import sys

import pytest

_HEAVY = ("asyncssh", "emcee", "matplotlib", "netmiko", "networkx", "polars", "pysnmp", "scipy", "textual")
_ARRAYS = ("numpy", "paramiko", "prometheus_client", "pyarrow")
"""What a verb may need as soon as it reads a file or opens a session, and its help does not."""

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


def test_help_of_no_verb_loads_a_library_that_only_measures_computes_or_draws() -> None:
    script = (
        "import contextlib, io, sys\n"
        "from eee_testbed.eeectl.application import execute\n"
        "from eee_testbed.eeectl.verb_table import VERBS\n"
        "for verb in VERBS:\n"
        "    shown = io.StringIO()\n"
        "    with contextlib.redirect_stdout(shown): status = execute([verb.name, '--help'])\n"
        "    assert status == 0 and f'eeectl {verb.name}' in shown.getvalue(), verb.name\n"
        f"    loaded = {{*{_HEAVY + _ARRAYS}}} & sys.modules.keys()\n"
        "    if loaded: sys.exit(f'{verb.name} --help loads {sorted(loaded)}')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
