"""Paths in a description, seen from the folder of its file. Pure but for asking what is there."""

from pathlib import Path

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.networks import OfLab
from eee_testbed.simulation.replay.jobs import FileProgram, Job


def relative_to(description: Description, folder: Path) -> Description:
    """The description with the paths in it seen from the file's folder, where they exist there."""
    network, use, programs = description.network, description.calibration, description.programs
    if isinstance(network, OfLab) and (folder / network.lab).is_dir():
        moved = network.model_copy(update={"lab": str((folder / network.lab).resolve())})
        description = description.model_copy(update={"network": moved})
    if use is not None and (folder / use.file).is_file():
        absolute = use.model_copy(update={"file": str((folder / use.file).resolve())})
        description = description.model_copy(update={"calibration": absolute})
    if programs is not None:
        jobs = [_relative_job(job, folder) for job in programs.jobs]
        description = description.model_copy(update={"programs": programs.model_copy(update={"jobs": jobs})})
    return description


def _relative_job(job: Job, folder: Path) -> Job:
    program = job.program
    if not isinstance(program, FileProgram) or not (folder / program.path).is_file():
        return job
    moved = program.model_copy(update={"path": str((folder / program.path).resolve())})
    return job.model_copy(update={"program": moved})
