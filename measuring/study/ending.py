"""How a command ends that a study starts: its exit status, and the variable by which it ends with the study."""

from typing import Final

DONE: Final = 0
PENDING: Final = 3
"""Something is still to be done: changes were found, or trials are missing."""

INTERRUPTED: Final = 130
"""After Ctrl-C."""

OUT_OF_TIME: Final = 124
"""It was stopped, as the study's time is over; what it had measured is kept."""

PARENT: Final = "EEE_PARENT"
"""The variable that names the process to end with."""
