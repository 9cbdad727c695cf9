"""A copy of the checkout in which one line at a time is another."""

import importlib.util
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.mutants.table import Mutant, mutated

_REGRESSIONS = "*.proptest-regressions"


def files_of(root: Path) -> tuple[str, ...]:
    """The files of a checkout, as they are in its work tree: tracked ones and new ones, without what is ignored."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return tuple(name for name in listed.split("\0") if name and (root / name).exists())


class Checkout:
    """A copy of the checkout at `root` in a folder that does not exist yet."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self._root = root
        self._files = files_of(root)
        for name in self._files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name, follow_symlinks=False)

    @contextmanager
    def having(self, mutant: Mutant) -> Iterator[None]:
        """The mutant's line stands in the copy within the context. TableError if its old line is not there."""
        path = self.folder / mutant.file
        text = path.read_text(encoding="utf-8")
        self._write(path, mutated(text, mutant))
        try:
            yield
        finally:
            self._write(path, text)
            self._forget()

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        # A cached file counts as fresh if size and second are the same, as they may be for a mutant.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)

    def _forget(self) -> None:
        """Remove the failing examples that property tests keep: no mutant is to be killed by those of another."""
        for path in (self.folder / "engine").rglob(_REGRESSIONS):
            name = str(path.relative_to(self.folder))
            if name in self._files:
                shutil.copy2(self._root / name, path)
            else:
                path.unlink()
