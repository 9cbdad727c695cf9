"""What `eeectl watch` follows if it is no lab: a run or a study, by name or the newest; and clocks to show it by."""

import os
import time
from functools import partial
from pathlib import Path
from typing import Final

from eee_testbed.lab.errors import InventoryError, LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.live.clocks import ReadClock
from eee_testbed.measuring.live.export.attach import Views
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.measuring.live.feeds import Feed, RunFeed
from eee_testbed.measuring.study.folder import StudyFolder
from eee_testbed.measuring.study.watching import StudyFeed, begun_last, newest_run
from eee_testbed.record.store import read_facts

_STUDIES: Final = "studies"


def followed(name: str, runs: Path, options: ViewOptions) -> Feed:
    """The feed of a run or a study, or of the newest of all; LabError if there is none, or for its exports."""
    folder = _folder(name, runs)
    if not (folder / "study.yaml").exists():
        return _run_feed(folder, options)
    study = StudyFolder.open(folder)
    lab = _lab(study.lab, Path(study.lab).name)
    return StudyFeed(study, lab, partial(_run_feed, options=options), partial(_wall_s, clock_reader(lab.name)))


def clock_reader(lab: str) -> ReadClock | None:
    """Reads the clock of a virtual lab that is up and has one of its own; None for any other lab."""
    from eee_engine import read_lab_clock  # noqa: PLC0415 - only where something is shown

    from eee_testbed.twin.lab.lifecycle import clock_page  # noqa: PLC0415

    try:
        return partial(read_lab_clock, clock_page(lab))
    except LabError:
        return None


def own_clock() -> ReadClock | None:
    """Reads the clock of the lab in whose time this process lives; None if that is the wall's."""
    from eee_engine import read_lab_clock  # noqa: PLC0415 - only where something is shown

    page = os.environ.get("LAB_CLOCK", "")
    return partial(read_lab_clock, page) if page else None


def _wall_s(read: ReadClock | None) -> float:
    try:
        return time.monotonic() if read is None else read()[2] / 1e9
    except OSError:
        return time.monotonic()  # the lab went down


def _folder(name: str, runs: Path) -> Path:
    """The folder of a run or a study; LabError if it does not exist."""
    studies = runs.parent / _STUDIES
    if name:
        for path in (Path(name), runs / name, studies / name):
            if (path / "run.yaml").exists() or (path / "study.yaml").exists():
                return path
        raise LabError(
            f"'{name}' is not a run or a study: name a folder with a run.yaml or a study.yaml, or one below {runs} or "
            f"{studies}."
        )
    candidates = {path.parent: begun_last(path.parent) for path in runs.glob("*/run.yaml")}
    candidates |= {path.parent: _study_begun(path) for path in studies.glob("*/study.yaml")}
    if not candidates:
        raise LabError(f"no run exists below {runs}, and no study below {studies}: name one, or a lab with --lab.")
    return max(candidates, key=lambda path: candidates[path])


def _study_begun(file: Path) -> tuple[int, str]:
    """As `begun_last`, of a study's newest run; of its own file before the first, or if it is damaged."""
    try:
        run = newest_run(StudyFolder.open(file.parent))
    except LabError:
        run = None
    return begun_last(run) if run is not None else (file.stat().st_mtime_ns, file.parent.name)


def _run_feed(folder: Path, options: ViewOptions) -> Feed:
    facts = read_facts(folder)
    name, place = str(facts.get("lab", "")), str(facts.get("lab_folder", ""))
    lab = _lab(place if place and Path(place).exists() else name, name)
    views = Views(lab, options, str(facts["name"])) if options else None
    return RunFeed(folder, lab, views, clock_reader(lab.name))


def _lab(operand: str, name: str) -> Lab:
    """A lab. If its inventory is not available here, an empty lab: all but the links can be shown."""
    try:
        return load_lab(find_lab(operand))
    except InventoryError:
        raise
    except LabError:
        return Lab(name, "", "", "", (), (), (), (), ())
