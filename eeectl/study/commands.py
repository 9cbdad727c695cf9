"""Run `eeectl` as a subprocess at this terminal."""

import signal
import subprocess
import sys
from types import FrameType

from eeectl.exit_status import INTERRUPTED
from lab.errors import LabError


def run_eeectl(*arguments: str) -> int:
    """Run `eeectl` with these arguments and return its exit status; the subprocess handles Ctrl-C."""
    before = signal.signal(signal.SIGINT, _leave_to_subprocess)
    try:
        status = subprocess.run([sys.executable, "-m", "eeectl.cli", *arguments], check=False).returncode
    except OSError as error:
        raise LabError(
            f"eeectl cannot start a subprocess ({error.strerror}): check this machine's memory and process limit."
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return INTERRUPTED if status < 0 else status


def _leave_to_subprocess(number: int, frame: FrameType | None) -> None:
    """Do nothing. SIG_IGN would be inherited by the subprocess."""
