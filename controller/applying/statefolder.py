"""The folder of a lab's journal, lock and guardian, and of what restores it after runs (`run_notes.py`).

``EEE_CONTROLLER_DIR/LAB`` if that variable is set; else ``/var/lib/eee-testbed/LAB`` for root, and for anybody who may
write there (an administrator can give a group the folder); else ``$XDG_STATE_HOME/eee-testbed/LAB``. The lock is where
every user of the machine sees it, in ``/run/lock``, unless EEE_CONTROLLER_DIR says otherwise.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Self

from eee_testbed.lab import durable
from eee_testbed.lab.errors import JournalFailed, LabError
from eee_testbed.lab.folder import operand_of
from eee_testbed.lab.model import Host, Lab
from eee_testbed.lab.plain_text import one_line

_SYSTEM = Path("/var/lib/eee-testbed")
_LOCKS = Path("/run/lock")
_RUN = "-run"  # in the name of a journal that a run wrote
_KEPT_CHANGES = 50
"""Changes that the history keeps, and as many again of runs, which make many."""


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK)


@dataclass(frozen=True, slots=True)
class Rights:
    """What the user of this process is and may write, which decides where a lab's state is."""

    root: bool = field(default_factory=lambda: os.geteuid() == 0)
    may_write: Callable[[Path], bool] = _may_write


def state_root(rights: Rights | None = None) -> Path:
    """The folder that has one for each lab; of this process's user, if no rights are given."""
    rights = Rights() if rights is None else rights
    named = os.environ.get("EEE_CONTROLLER_DIR")
    if named:
        return Path(named)
    if rights.root or rights.may_write(_SYSTEM):
        return _SYSTEM
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "eee-testbed"


class StateFolder:
    """The folder of one lab; made, for its owner alone, when something is to be written there.

    Labs of one name in several folders have state folders of their own: the first of them that is worked on has that by
    the name, and `lab` in it says which folder's lab that is; the others have a hash behind the name. A lab whose
    folder is gone was moved: it leaves its state to the next of its name. All labs of one name share a lock, as a copy
    of an inventory has the same switches.
    """

    def __init__(self, lab: str, folder: str = "", operand: str = "", rights: Rights | None = None) -> None:
        rights = rights or Rights()
        self.lab = lab
        self.operand = operand or lab
        self._of = str(Path(folder).resolve()) if folder else ""
        self.path = self._chosen(state_root(rights) / lab)
        shared = not os.environ.get("EEE_CONTROLLER_DIR") and rights.may_write(_LOCKS)
        self.lock = _LOCKS / f"eee-testbed-{lab}.lock" if shared else state_root(rights) / lab / "lock"

    @classmethod
    def of(cls, lab: Lab) -> Self:
        """The folder of a lab of the inventory."""
        return cls(lab.name, lab.folder, operand_of(lab))

    def _chosen(self, by_name: Path) -> Path:
        owner = _owner(by_name)
        if not self._of or owner in ("", self._of) or not Path(owner).is_dir():
            return by_name
        return by_name.with_name(f"{by_name.name}-{hashlib.sha256(self._of.encode()).hexdigest()[:8]}")

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
            self.lock.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._of and _owner(self.path) != self._of:
                with contextlib.suppress(OSError):  # a full disk is said of the journal, which matters more
                    durable.replace(self.path / "lab", f"{self._of}\n")
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

    def begin(self, number: int, *, of_run: bool = False) -> None:
        """Make the new journal, which has its head by now, the last one, and that of a change of the history.

        JournalFailed if that cannot be done.
        """
        fresh, kept = self.path / "journal.new", self._past / f"{number}{_RUN if of_run else ''}.jsonl"
        try:
            self._past.mkdir(exist_ok=True, mode=0o700)
            kept.unlink(missing_ok=True)  # what a crash left of a change that never began
            os.link(fresh, kept)
            durable.rename(fresh, self.journal)
        except OSError as error:
            raise JournalFailed(str(kept), error.strerror or str(error)) from error
        for kind in (False, True):
            alike = [path for path in self.changes().values() if path.stem.endswith(_RUN) == kind]
            for old in alike[:-_KEPT_CHANGES]:
                old.unlink()

    @property
    def _past(self) -> Path:
        return self.path / "past"

    def changes(self) -> dict[int, Path]:
        """Journals of the history by number, the oldest first; that of the last change is among them."""
        journals = ((path.stem.removesuffix(_RUN), path) for path in self._past.glob("*.jsonl"))
        return dict(sorted((int(stem), path) for stem, path in journals if stem.isascii() and stem.isdecimal()))

    def reopen(self, number: int) -> None:
        """Make the journal of a change of the past the last one again, as it is about to be written."""
        path = self.changes()[number]
        if not path.samefile(self.journal):
            fresh = self.new_journal()
            os.link(path, fresh)
            durable.rename(fresh, self.journal)


def _owner(folder: Path) -> str:
    """The lab's folder that a state folder belongs to; empty if it does not say."""
    try:
        return one_line((folder / "lab").read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        return ""


def digest_of(lab: Lab) -> str:
    """A hash of what plans and runs rest on: networks, switches, nodes' cards, cables.

    How somebody logs in, agents' Python, strips, outlets and comments may change meanwhile.
    """
    plain = {
        "networks": [lab.management_network, lab.data_network],
        "way_in": lab.way_in,
        "switches": [
            [
                switch.name,
                switch.family,
                switch.model,
                switch.address,
                [astuple(port) for port in switch.ports],
                dict(switch.quirks),
            ]
            for switch in lab.switches
        ],
        "hosts": [
            [host.name, host.management_address, host.data_address, host.mac.hex(), *_card(host)] for host in lab.hosts
        ],
        "links": [astuple(link) for link in lab.links],
        "lags": [astuple(lag) for lag in lab.lags],
    }
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode("ascii")).hexdigest()


def _card(host: Host) -> tuple[str, int, int, bool]:
    return host.interface, host.rate_mbps, host.mtu_byte, host.pops_tags
