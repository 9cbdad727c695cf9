"""The commit of the checkout that this program runs from, for `run.yaml` and `eeectl --version`."""

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_LONGEST_S: Final = 5.0


def described(root: Path = ROOT) -> str:
    """What `git describe` says, ending in "-dirty" with changes that are not committed; "" if it is no checkout.

    "" too where git is missing or refuses, as in another user's checkout. Nothing is written there.
    """
    if not (root / ".git").exists():
        return ""
    words = ("git", "--no-optional-locks", "-C", str(root), "describe", "--tags", "--always", "--dirty", "--abbrev=12")
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
