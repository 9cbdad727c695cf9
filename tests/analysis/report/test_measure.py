"""The command that measures what is missing names the launcher of the runs, too."""

from pathlib import Path

import pytest

from eee_testbed.analysis.report.measure import _launched
from eee_testbed.analysis.report.report_data import RunData
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import Run


@pytest.mark.parametrize(
    ("program", "options"),
    [
        ({}, []),
        ({"launcher": "openmpi", "launcher_words": ""}, []),
        ({"launcher": "mpich"}, ["--launcher", "mpich"]),
        ({"launcher": "openmpi", "launcher_words": "-v"}, ["--launcher-words", "-v"]),
        (
            {"launcher": "command", "launcher_words": "mpiexec -f {hostfile}"},
            ["--launcher", "command", "--launcher-words", "mpiexec -f {hostfile}"],
        ),
    ],
)
def test_the_launcher_of_the_last_program(tmp_path: Path, program: dict[str, str], options: list[str]) -> None:
    with Run.create(tmp_path, "toy", {"experiment": {"measure": {"program": {"name": "command", **program}}}}) as run:
        assert _launched([RunData(RunSamples(run.folder), (), (), frozenset())]) == options
