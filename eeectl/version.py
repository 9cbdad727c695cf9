"""The version that `eeectl --version` shows: the package's and, in a checkout, the commit."""

import subprocess
from importlib import metadata
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[1]


def version_text(root: Path = _ROOT) -> str:
    """The program and its version; `(v0.2.0-3-g1234567)` behind it where `root` is a checkout and git is installed."""
    number = metadata.version("eee-testbed")
    described = _described(root) if (root / ".git").exists() else ""
    return f"eeectl {number} ({described})" if described else f"eeectl {number}"


def _described(root: Path) -> str:
    """The commit by the nearest tag, with `-dirty` if files differ from it; empty if git cannot say."""
    argv = ["git", "-C", str(root), "describe", "--tags", "--always", "--dirty"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
