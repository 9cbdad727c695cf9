"""What git says of a checkout, such as the commit that this program runs from: for `run.yaml` and `--version`."""

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
    arguments = ("describe", "--tags", "--always", "--dirty", "--abbrev=12")
    return git(root, *arguments, longest_s=_LONGEST_S)[0].strip()


def git(root: Path, *arguments: str, longest_s: float | None = None) -> tuple[str, str]:
    """What git prints about a checkout, and why it printed nothing; nothing is written there."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            timeout=longest_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    return ("", done.stderr.strip() or "git failed") if done.returncode else (done.stdout, "")
