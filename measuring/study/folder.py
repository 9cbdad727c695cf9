"""A study's folder: `study.yaml`, `experiments/`, `runs/`, `blocks.jsonl`, `calibration.yaml`, `report.html`.

It can be resumed: what was measured is in `runs/`, and how long each block took in `blocks.jsonl`. `standing.json`
(`measuring/study/standing.py`) is for views alone.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML

from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.lab.json_text import parse_object
from eee_testbed.lab.untrusted_files import read_json_lines, read_yaml
from eee_testbed.measuring.study.design import Content, Design
from eee_testbed.record.store import read_facts

_RESTORE: Final = "restore it, or begin a new study"

RunState = Literal["none", "begun", "ended"]


class _Head(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    format: Literal[1] = 1
    lab: str
    experiments: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    precision: float = Field(default=0.02, gt=0)
    budget_s: float = Field(default=2_400.0, gt=0)


@dataclass(frozen=True, slots=True)
class Aim:
    """Target of a study: the relative half width of each interval, and the most seconds that it may take."""

    precision: float = 0.02
    budget_s: float = 2_400.0


class Block(BaseModel):
    """A block that was measured: its kind, seconds that it took, and whether all its trials are valid.

    `seen`: by parameter, the number of blocks that narrowed it until then, and its half width.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: str
    time_s: float = Field(ge=0)
    complete: bool = True
    seen: dict[str, tuple[float, float]] = {}


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """The files of a study."""

    path: Path
    lab: str
    """Name or folder of the lab, as given on the command line."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    aim: Aim = Aim()

    @classmethod
    def create(cls, root: Path, lab: str, lab_name: str, design: Design, aim: Aim | None = None) -> Self:
        """Create a folder with the experiments' files. LabError if it cannot be created."""
        names = tuple(str(content["name"]) for content in design.experiments)
        aim = Aim() if aim is None else aim
        path = root / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{lab_name}"
        try:
            (path / "experiments").mkdir(parents=True)
            for name, content in zip(names, design.experiments, strict=True):
                (path / "experiments" / f"{name}.yaml").write_text(_yaml(dict(content)), encoding="utf-8")
            head = _Head(
                lab=lab,
                experiments=names,
                left_out=design.left_out,
                precision=aim.precision,
                budget_s=aim.budget_s,
            )
            (path / "study.yaml").write_text(_yaml(head.model_dump(mode="json")), encoding="utf-8")
        except OSError as error:
            raise LabError(
                f"the study's folder {path} cannot be created ({error.strerror}): choose another --root."
            ) from error
        return cls(path, lab, names, design.left_out, aim)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a study that was begun. LabError if the folder has no readable study.yaml."""
        file = path / "study.yaml"
        try:
            head = _Head.model_validate(read_yaml(file, "name a folder below studies/"))
        except (UnreadableFile, ValidationError) as error:
            raise LabError(
                f"{path} is not a study: it has no readable study.yaml; name a folder below studies/."
            ) from error
        return cls(path, head.lab, head.experiments, head.left_out, Aim(head.precision, head.budget_s))

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

    def all_runs(self) -> Sequence[Path]:
        """Every run, in the order in which they began."""
        return sorted(path for path in self.runs.glob("*Z-*") if (path / "run.yaml").exists())

    def content(self, name: str) -> dict[str, Any]:
        """An experiment's file, as it is now; LabError if it cannot be read."""
        path = self.experiment(name)
        content = read_yaml(path, _RESTORE)
        if not isinstance(content, dict):
            raise UnreadableFile(str(path), 0, "does not describe an experiment", _RESTORE)
        return content

    def add_experiment(self, content: Content) -> None:
        """Write another experiment's file; LabError if that fails."""
        path = self.experiment(str(content["name"]))
        try:
            path.write_text(_yaml(dict(content)), encoding="utf-8")
        except OSError as error:
            raise LabError(f"{path} cannot be written ({error.strerror}): free some space.") from error

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Every block that was measured, in order, without a last line that a crash cut off.

        A damaged line is lost (DamagedPart).
        """
        try:
            return tuple(
                read_json_lines(self.path / "blocks.jsonl", lambda line: Block.model_validate(parse_object(line)))
            )
        except FileNotFoundError:
            return ()

    def add_block(self, block: Block) -> None:
        """Note a block that was measured; LabError if that fails."""
        self._write_blocks((*self.blocks, block))

    def see(self, seen: Mapping[str, tuple[float, float]]) -> None:
        """Note what is known after the last block; LabError if that fails."""
        *before, last = self.blocks
        self._write_blocks((*before, last.model_copy(update={"seen": dict(seen)})))

    def _write_blocks(self, blocks: Sequence[Block]) -> None:
        path = self.path / "blocks.jsonl"
        try:
            durable.replace(path, "".join(f"{block.model_dump_json()}\n" for block in blocks))
        except OSError as error:
            raise LabError(f"{path} cannot be written ({error.strerror}): free some space.") from error


def _yaml(content: object) -> str:
    text = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = None
    yaml.width = 110
    yaml.representer.ignore_aliases = lambda _: True
    yaml.dump(content, text)
    return text.getvalue()
