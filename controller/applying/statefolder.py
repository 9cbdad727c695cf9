"""The folder of a lab's journal, lock and guardian.

``EEE_CONTROLLER_DIR/LAB`` if that variable is set; else ``/var/lib/eee-testbed/LAB`` for root, and for anybody who may
write there (an administrator can give a group the folder); else ``$XDG_STATE_HOME/eee-testbed/LAB``. The lock is where
every user of the machine sees it, in ``/run/lock``, unless EEE_CONTROLLER_DIR says otherwise.
"""

import hashlib
import os
import time
from pathlib import Path

from lab import durable
from lab.errors import LabError
from lab.model import Lab

_SYSTEM = Path("/var/lib/eee-testbed")
_LOCKS = Path("/run/lock")
_KEPT = 20  # journals of the past


def _root() -> Path:
    named = os.environ.get("EEE_CONTROLLER_DIR")
    if named:
        return Path(named)
    if os.geteuid() == 0 or os.access(_SYSTEM, os.W_OK):
        return _SYSTEM
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "eee-testbed"


class StateFolder:
    """The folder of one lab; made, for its owner alone, when something is to be written there."""

    def __init__(self, lab: str) -> None:
        self.lab = lab
        self.path = _root() / lab
        shared = not os.environ.get("EEE_CONTROLLER_DIR") and os.access(_LOCKS, os.W_OK)
        self.lock = _LOCKS / f"eee-testbed-{lab}.lock" if shared else self.path / "lock"

    @property
    def journal(self) -> Path:
        """The journal of the last apply."""
        return self.path / "journal.jsonl"

    @property
    def doorbell(self) -> Path:
        """The FIFO that wakes a guardian to read the journal again."""
        return self.path / "guardian.fifo"

    @property
    def guardian_log(self) -> Path:
        """The log of the last guardian."""
        return self.path / "guardian.log"

    @property
    def port_proofs(self) -> Path:
        """Which ports were proved to be the same on the command line and over SNMP."""
        return self.path / "ports.json"

    def make(self) -> None:
        """Make the folder; LabError if that cannot be done."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise LabError(
                f"the journal of lab {self.lab} cannot be kept in {self.path} ({error.strerror}): make that folder "
                "writable, or set EEE_CONTROLLER_DIR to one that is."
            ) from error

    def new_journal(self) -> Path:
        """The file of the next journal; one that an earlier apply left there without a head is removed."""
        fresh = self.path / "journal.new"
        fresh.unlink(missing_ok=True)
        return fresh

    def begin(self) -> None:
        """Make the new journal, which has its head by now, the last one; keep the one before it in `past`."""
        if self.journal.exists():
            past = self.path / "past"
            past.mkdir(exist_ok=True, mode=0o700)
            os.link(self.journal, past / f"{time.time_ns()}.jsonl")
            for old in sorted(past.glob("*.jsonl"))[:-_KEPT]:
                old.unlink()
        durable.rename(self.path / "journal.new", self.journal)


def digest_of(lab: Lab) -> str:
    """A hash of the files that define switches and cables; it differs between inventories."""
    made = hashlib.sha256()
    for name in ("hosts.yml", "cables.csv"):
        made.update((Path(lab.folder) / name).read_bytes())
    return made.hexdigest()
