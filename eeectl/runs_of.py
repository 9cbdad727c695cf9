"""The runs that words of a command line name: a run's folder, a name below runs/, or a study for all its runs."""

from collections.abc import Sequence
from pathlib import Path

from eee_testbed.analysis.run_lab import run_folder
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.study.folder import StudyFolder


def runs_of(name: str) -> Sequence[Path]:
    """At least one folder of a run; LabError if it is neither run nor study, or a study without runs."""
    if not (Path(name) / "study.yaml").is_file():
        return [run_folder(name)]
    found = StudyFolder.open(Path(name)).all_runs()
    if not found:
        raise LabError(f"{name} has no runs yet: continue the study with eeectl study --resume {name}.")
    return found
