"""Which runs work on a lab, or were killed and left it changed: beside the lab's journal, not in the run's own folder.

So a run that was killed is known, and its lab can be restored, when the run's folder is damaged, full, read-only or
gone. A note is written before a run touches anything and removed when its lab is as it was. With each note goes the
run's restore journal (`measuring.experiments.restore_journal`), in a file of its own.

A run is known by its folder's name, which has the second in which it began: one run at a time has the lab, and a folder
that was moved is still the same run's.
"""

import contextlib
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, AwareDatetime, ValidationError

from eee_testbed.controller.applying.processes import ProcessId, Standing
from eee_testbed.controller.applying.statefolder import StateFolder, state_root
from eee_testbed.controller.applying.stored import Stored
from eee_testbed.lab import durable
from eee_testbed.lab.errors import JournalFailed, LabError
from eee_testbed.lab.plain_text import one_line

_NOTES: Final = "runs"
_JOURNALS: Final = "restore"
_OLD_NOTE: Final = "run"  # of earlier versions: a line with the folder of the last run


class RunNote(Stored):
    """A run that has begun, and whose lab is not known to be restored.

    `process` is None in notes of earlier versions. `resumable`: `eeectl run FOLDER --resume` goes on with it.
    """

    run: str
    lab_folder: str = ""
    lab_digest: str = ""
    command: Annotated[str, AfterValidator(one_line)] = ""
    resumable: bool = True
    begun: AwareDatetime | None = None
    process: ProcessId | None = None

    @property
    def folder(self) -> Path:
        """The folder of the run, which may be gone."""
        return Path(self.run)

    def standing(self, *, held: bool) -> Standing:
        """Whether the run goes on; `held`: somebody holds the lab, which counts where the process cannot be seen."""
        seen = "elsewhere" if self.process is None else self.process.standing()
        return seen if seen != "elsewhere" else "running" if held else "gone"


class RunNotes:
    """The notes of one lab."""

    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder

    def journal(self, run: Path) -> Path:
        """The file of a run's restore journal."""
        return self._folder.path / _JOURNALS / f"{run.resolve().name}.json"

    def write(self, note: RunNote) -> None:
        """Write a note down, or again when its run goes on; JournalFailed if that fails: then touch nothing."""
        self._folder.make()
        path = self._path(note.folder)
        try:
            path.parent.mkdir(exist_ok=True, mode=0o700)
            durable.replace(path, note.model_dump_json())
        except OSError as error:
            raise JournalFailed(str(path), error.strerror or str(error)) from error

    def all(self) -> tuple[RunNote, ...]:
        """All notes, the oldest first; LabError if one cannot be read."""
        notes = [_read(path) for path in sorted((self._folder.path / _NOTES).glob("*.json"))]
        old = self._old()
        return (
            *((old,) if old is not None and old.folder.name not in {note.folder.name for note in notes} else ()),
            *notes,
        )

    def forget(self, run: Path) -> None:
        """A run has left nothing to restore."""
        self.journal(run).unlink(missing_ok=True)  # first: a note without a journal says what is true, not the reverse
        self._path(run).unlink(missing_ok=True)
        old = self._old()
        if old is not None and old.folder.name == run.resolve().name:
            (self._folder.path / _OLD_NOTE).unlink(missing_ok=True)

    def _path(self, run: Path) -> Path:
        return self._folder.path / _NOTES / f"{run.resolve().name}.json"

    def _old(self) -> RunNote | None:
        with contextlib.suppress(OSError, ValueError):  # no text, or no name of a file
            folder = Path((self._folder.path / _OLD_NOTE).read_text(encoding="utf-8").strip())
            if (folder / "run.yaml").exists():
                return RunNote(run=str(folder))
        return None


def note_of(run: Path) -> RunNote | None:
    """The note of a run, whichever lab it is of; None if no lab of this user has one."""
    run = run.resolve()
    notes = [_read(path) for path in sorted(state_root().glob(f"*/{_NOTES}/*.json")) if path.stem == run.name]
    return next((note for note in notes if note.folder == run), notes[0] if len(notes) == 1 else None)


def _read(path: Path) -> RunNote:
    try:
        return RunNote.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise LabError(
            f"{path} cannot be read: compare the switches by `eeectl status` with the lab's name or folder, then "
            "remove the file."
        ) from error
