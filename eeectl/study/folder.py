"""A study's folder: `study.yaml`, `experiments/`, `runs/`, `calibration.yaml`, `report.html`. It can be resumed."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from eeectl.study.design import Design
from lab.errors import LabError
from record.store import read_facts

ROOT: Final = Path("studies")

RunState = Literal["none", "begun", "ended"]


class _Head(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    lab: str
    experiments: tuple[str, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """The files of a study."""

    path: Path
    lab: str
    """Name or folder of the lab, as given on the command line."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]

    @classmethod
    def create(cls, root: Path, lab: str, lab_name: str, design: Design) -> Self:
        """Create a folder with the experiments' files. LabError if it cannot be created."""
        names = tuple(str(content["name"]) for content in design.experiments)
        path = root / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{lab_name}"
        try:
            (path / "experiments").mkdir(parents=True)
            for name, content in zip(names, design.experiments, strict=True):
                (path / "experiments" / f"{name}.yaml").write_text(_yaml(dict(content)), encoding="utf-8")
            head = _Head(lab=lab, experiments=names, left_out=design.left_out)
            (path / "study.yaml").write_text(_yaml(head.model_dump(mode="json")), encoding="utf-8")
        except OSError as error:
            raise LabError(
                f"the study's folder {path} cannot be created ({error.strerror}): choose another --root."
            ) from error
        return cls(path, lab, names, design.left_out)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a study that was begun. LabError if the folder has no readable study.yaml."""
        file = path / "study.yaml"
        try:
            head = _Head.model_validate(YAML(typ="safe").load(file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, YAMLError, ValidationError) as error:
            raise LabError(
                f"{path} is not a study: it has no readable study.yaml; name a folder below studies/."
            ) from error
        return cls(path, head.lab, head.experiments, head.left_out)

    @property
    def runs(self) -> Path:
        """The folder of its runs."""
        return self.path / "runs"

    @property
    def calibration(self) -> Path:
        """The fitted calibration."""
        return self.path / "calibration.yaml"

    @property
    def report(self) -> Path:
        """The report."""
        return self.path / "report.html"

    def experiment(self, name: str) -> Path:
        """An experiment's file."""
        return self.path / "experiments" / f"{name}.yaml"

    def run_of(self, name: str) -> Path | None:
        """The latest run of an experiment; None before the first."""
        return max(self.runs.glob(f"*Z-{name}"), default=None)

    def state_of(self, name: str) -> RunState:
        """How far an experiment has got."""
        run = self.run_of(name)
        if run is None:
            return "none"
        return "ended" if read_facts(run).get("state") == "finished" else "begun"

    def finished_runs(self) -> Sequence[Path]:
        """Runs to fit the models to, in the order of the experiments."""
        found = (self.run_of(name) for name in self.names)
        return [run for run in found if run is not None]


def _yaml(content: object) -> str:
    text = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = None
    yaml.width = 110
    yaml.representer.ignore_aliases = lambda _: True
    yaml.dump(content, text)
    return text.getvalue()
