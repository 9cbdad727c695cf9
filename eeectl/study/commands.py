"""eeectl as a command of its own, at this terminal."""

import signal
import subprocess
import sys
from types import FrameType

from eeectl.exit_status import INTERRUPTED
from lab.errors import LabError


def run_eeectl(*words: str) -> int:
    """Run `eeectl` with these words and return its exit status; a Ctrl-C at the terminal is that command's to obey."""
    before = signal.signal(signal.SIGINT, _left_to_the_command)
    try:
        status = subprocess.run([sys.executable, "-m", "eeectl.cli", *words], check=False).returncode
    except OSError as error:
        raise LabError(f"eeectl cannot be started anew ({error.strerror}): is this machine out of room?") from error
    finally:
        signal.signal(signal.SIGINT, before)
    return INTERRUPTED if status < 0 else status


def _left_to_the_command(number: int, frame: FrameType | None) -> None:
    """Nothing: not ignored, as a command would inherit that."""
