"""Small MPI programs, run here with the recorder loaded before them, as a node does it."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eee_testbed.measuring.experiments.preloads import Preload, preloading
from tests.support import ROOT
from tests.support.needs import needs

SOURCES: Final = ROOT / "tests" / "simulation" / "replay" / "readers" / "recorded"
PYTHON: Final = "/usr/bin/python3"
"""The one that has Debian's mpi4py."""


class MpiPrograms:
    """Compiles a program and the libraries once, in `folder`; each run has a folder of its own below."""

    def __init__(self, folder: Path, *preloads: Preload) -> None:
        needs("mpicc", "mpirun")
        self.folder, self.preloads = folder, preloads
        for one in self.preloads:
            for name, data in one.sources().items():
                (folder / name).write_bytes(data)
            subprocess.run(one.compile, cwd=folder, check=True)
        subprocess.run(["mpicc", "-w", "-o", "program", SOURCES / "program.c", "-lpthread"], cwd=folder, check=True)

    def fortran(self) -> Path:
        """The program in Fortran."""
        needs("mpif90")
        subprocess.run(["mpif90", "-o", "fortran", SOURCES / "program.f90"], cwd=self.folder, check=True)
        return self.folder / "fortran"

    def run(
        self,
        words: Sequence[str | Path],
        ranks: int = 4,
        *,
        status: int | None = 0,
        options: Sequence[str] = (),
        environment: dict[str, str] | None = None,
    ) -> Path:
        """Run it; the folder with the files of its ranks. `status` None: any."""
        own = self.folder / f"run-{len(list(self.folder.glob('run-*')))}"
        own.mkdir()
        for one in self.preloads:
            (own / one.library).symlink_to(self.folder / one.library)
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **(environment or {})}
        argv = ["mpirun", "--oversubscribe", "--mca", "btl", "self,vader", *options, "-np", str(ranks)]
        argv += [str(word) for word in preloading([str(word) for word in words], self.preloads)]
        done = subprocess.run(
            argv, cwd=own, env={**os.environ, **allowed}, capture_output=True, text=True, check=False, timeout=120
        )
        assert status is None or done.returncode == status, done.stderr
        return own

    def c(self, name: str, ranks: int = 4, **rest: object) -> Path:
        """Run a part of the program in C."""
        return self.run([self.folder / "program", name], ranks, **rest)  # type: ignore[arg-type]
