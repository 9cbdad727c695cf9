"""Plug-in of pytest for `make check`: leaves out the files of tests whose sources are as when they last passed.

What they depend on is found by :mod:`tests.support.sources`. `make test` runs everything. Kept in `.pytest_cache`.
"""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.sources import Sources, files_of

_KEY: Final = "eee-testbed/passed"


class Unchanged:
    """Of one run: which files are left out, and which have passed."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._whole = not (config.option.keyword or config.option.file_or_dir or config.option.maxfail)
        self._failed: set[str] = set()
        if hasattr(config, "workerinput"):
            self._left_out = frozenset(config.workerinput["unchanged"])
        else:
            sources = Sources(files_of(config.rootpath))
            names = [name for name in sources.files if Path(name).name.startswith("test_") and name.endswith(".py")]
            self._now = {name: sources.digest(name) for name in names}
            self._kept: dict[str, str] = config.cache.get(_KEY, {}) if config.cache else {}
            self._left_out = frozenset(name for name, digest in self._now.items() if self._kept.get(name) == digest)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["unchanged"] = sorted(self._left_out)

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """None where others may decide."""
        if not collection_path.is_relative_to(config.rootpath):
            return None
        return collection_path.relative_to(config.rootpath).as_posix() in self._left_out or None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("::")[0]
        if report.failed:
            self._failed.add(name)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Files that have no test to run count as passed; those of a run that was cut short do not."""
        ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        if hasattr(self._config, "workerinput") or not (ended and self._whole and self._config.cache):
            return
        passed = {name: digest for name, digest in self._now.items() if name not in self._failed}
        self._config.cache.set(_KEY, passed)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._left_out:
            count = f"{len(self._left_out)} of {len(self._now)}"
            terminalreporter.write_line(f"{count} files of tests are left out: unchanged since they passed.")


def pytest_configure(config: pytest.Config) -> None:
    """Register the plug-in's state."""
    config.pluginmanager.register(Unchanged(config), "unchanged")
