"""The command that measures what is missing names the launcher of the runs, too."""

from pathlib import Path

import pytest

from analysis.report.measure import _launched
from analysis.report.report_data import RunData
from record.samples import RunSamples
from record.store import Run


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
