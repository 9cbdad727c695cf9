"""The journal of an apply: each action is written, one JSON line an entry, and fsynced before it is done.

A journal begins with the state before and every step to come; each send is announced before it happens. So a reader
knows after a crash the last order that may have been sent. The last line may be torn; nothing that it would have
announced was sent.

A *pass* executes a list of steps: the first one is the forward pass, each later one a rollback pass.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from eee_testbed.controller.applying.stored import Stored
from eee_testbed.controller.model.state import State, replay
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.steps import Step
from eee_testbed.controller.planning.wishes import Wish
from eee_testbed.lab.durable import sync_folder
from eee_testbed.lab.errors import JournalFailed, LabError
from eee_testbed.lab.plain_text import one_line

Outcome = Literal["applied", "taken back", "adopted"]
Standing = Literal["applied", "taken back", "adopted", "broken", "to be confirmed", "unfinished"]


class _Entry(Stored):
    when: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC))


class Begun(_Entry):
    """The head: the state before, and the steps to be executed.

    `number` counts a lab's changes from 1; `run` is the folder of the run that makes the change, empty for a person's.
    `wish` is what the steps lead to; None if they lead back, or if an earlier version wrote the journal.
    """

    kind: Literal["begun"] = "begun"
    version: Literal[1] = 1
    number: int = 0
    run: str = ""
    lab: str
    digest: str
    actor: str
    command: str
    before: State
    steps: tuple[Step, ...]
    management: Management | None = None
    confirm_s: float | None = None
    save: bool = False
    wish: Annotated[Wish, Field(discriminator="kind")] | None = None


class Guarded(_Entry):
    """A guardian was started; it rolls back unless the apply is confirmed."""

    kind: Literal["guarded"] = "guarded"
    pid: int


class Sending(_Entry):
    """A round is about to be sent: by switch, the orders in words."""

    kind: Literal["sending"] = "sending"
    round: int
    orders: dict[str, tuple[str, ...]]


class AcceptedOrder(Stored):
    """One order that a switch accepted. Times are of the monotonic clock of the machine's present boot."""

    order: str
    sent_ns: int
    acknowledged_ns: int


class Acknowledged(_Entry):
    """By switch, the orders of a round that it accepted."""

    kind: Literal["acknowledged"] = "acknowledged"
    round: int
    taken: dict[str, tuple[AcceptedOrder, ...]]


class LinkSeen(_Entry):
    """A port's link changed between two moments of the monotonic clock."""

    kind: Literal["link seen"] = "link seen"
    round: int
    switch: str
    port: str
    up: bool
    before_ns: int
    seen_ns: int


class Verified(_Entry):
    """A round was read back and has the desired settings."""

    kind: Literal["verified"] = "verified"
    round: int


class Reached(_Entry):
    """The whole lab was read back and has the desired settings; rolled back at the deadline unless confirmed."""

    kind: Literal["reached"] = "reached"
    deadline: AwareDatetime | None = None


class Confirmed(_Entry):
    """A person confirmed the apply."""

    kind: Literal["confirmed"] = "confirmed"
    actor: str


class Saved(_Entry):
    """Startup configurations were written."""

    kind: Literal["saved"] = "saved"
    switches: tuple[str, ...]


class RollingBack(_Entry):
    """A rollback pass begins: the reason, the state found, and the steps from there."""

    kind: Literal["taking back"] = "taking back"
    why: str
    actor: str = ""
    found: State
    steps: tuple[Step, ...]


class PuttingBack(_Entry):
    """Lines of configurations that no setting holds are about to be typed: by switch, the orders in words."""

    kind: Literal["putting back"] = "putting back"
    orders: dict[str, tuple[str, ...]]


class Broken(_Entry):
    """The rollback failed."""

    kind: Literal["broken"] = "broken"
    why: str


class Adopted(_Entry):
    """A person accepted the lab's present state."""

    kind: Literal["adopted"] = "adopted"
    actor: str
    found: State


class Done(_Entry):
    """The lab is fully applied, fully rolled back, or accepted as it is."""

    kind: Literal["done"] = "done"
    outcome: Outcome


Entry = Annotated[
    Begun
    | Guarded
    | Sending
    | Acknowledged
    | LinkSeen
    | Verified
    | Reached
    | Confirmed
    | Saved
    | RollingBack
    | PuttingBack
    | Broken
    | Adopted
    | Done,
    Field(discriminator="kind"),
]
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


@dataclass(frozen=True, slots=True)
class Pass:
    """Steps being executed. Rounds up to `sent` may have been sent, those up to `verified` were read back; -1: none."""

    start: State
    steps: tuple[Step, ...]
    sent: int = -1
    verified: int = -1


@dataclass(frozen=True, slots=True)
class JournalState:
    """What a journal's entries add up to."""

    begun: Begun
    passes: tuple[Pass, ...]
    entries: tuple[Entry, ...]
    reached: bool = False
    deadline: datetime | None = None
    guardian: int | None = None
    confirmed: bool = False
    saved: bool = False
    broken: str = ""
    adopted: State | None = None
    outcome: Outcome | None = None

    @property
    def after(self) -> State:
        """The state that the forward pass leads to."""
        return replay((step.change for step in self.begun.steps), self.begun.before)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be done."""
        return self.outcome is not None

    @property
    def waiting(self) -> bool:
        """Whether it is verified and waits to be confirmed."""
        return not self.finished and self.reached and len(self.passes) == 1 and not self.broken and not self.confirmed

    @property
    def described(self) -> str:
        """The command, when and by whom, in words."""
        who = self.begun.actor.partition(" (")[0]
        return f"`{self.begun.command}` of {self.begun.when:%Y-%m-%d %H:%M:%S} UTC by {who}"

    @property
    def standing(self) -> Standing:
        """How the change stands now."""
        return self.outcome or ("broken" if self.broken else "to be confirmed" if self.waiting else "unfinished")

    @property
    def rest(self) -> State | None:
        """The state that the finished apply left the lab in; None if it is not finished."""
        match self.outcome:
            case "applied":
                return self.after
            case "taken back":
                return self.begun.before
            case "adopted":
                return self.adopted
            case None:
                return None


def state_of(entries: Sequence[Entry]) -> JournalState:
    """The state after all entries of a journal; the first entry is its head."""
    begun = entries[0]
    if not isinstance(begun, Begun):
        raise LabError("its first line is not a journal header")
    record = JournalState(begun, (Pass(begun.before, begun.steps),), tuple(entries))
    for entry in entries[1:]:
        record = _after(record, entry)
    return record


def _after(record: JournalState, entry: Entry) -> JournalState:  # noqa: C901, PLR0911 - one line for each kind of entry
    *passes, last = record.passes
    match entry:
        case Guarded():
            return replace(record, guardian=entry.pid)
        case Sending():
            return replace(record, passes=(*passes, replace(last, sent=entry.round)))
        case Verified():
            return replace(record, passes=(*passes, replace(last, verified=entry.round)))
        case Reached():
            return replace(record, reached=True, deadline=entry.deadline)
        case Confirmed():
            return replace(record, confirmed=True)
        case Saved():
            return replace(record, saved=True)
        case RollingBack():
            return replace(record, passes=(*record.passes, Pass(entry.found, entry.steps)), outcome=None)
        case Broken():
            return replace(record, broken=entry.why)
        case Adopted():
            return replace(record, adopted=entry.found)
        case Done():
            return replace(record, outcome=entry.outcome, broken="")
        case Begun():
            raise LabError("it has two journal headers")
        case Acknowledged() | LinkSeen() | PuttingBack():
            return record


def _checked(found: JournalState) -> JournalState:
    """What was read; LabError if a pass changes what its state does not have."""
    try:
        for one in found.passes:
            replay((step.change for step in one.steps), one.start)
    except (LookupError, ValueError) as error:
        raise LabError(f"its steps do not fit its states ({one_line(str(error))})") from error
    return found


def _parse(data: bytes) -> tuple[list[Entry], int]:
    """Entries, and the length of what they take; a torn last line does not count."""
    entries: list[Entry] = []
    length_byte = 0
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            break
        try:
            entries.append(_ENTRY.validate_json(line))
        except ValidationError as error:
            said = one_line(error.errors()[0]["msg"])
            raise LabError(f"line {number} is not an entry that this version knows ({said})") from error
        length_byte += len(line)
    return entries, length_byte


def read_journal(path: Path, operand: str = "LAB") -> JournalState | None:
    """What the journal says; None if the lab has none, or if it was torn before anything was sent.

    `operand` names the lab in the hint of an error.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LabError(f"{path} cannot be read ({error.strerror}): run this as its owner, or as root.") from error
    try:
        entries, _ = _parse(data)
        return _checked(state_of(entries)) if entries else None
    except LabError as error:
        raise LabError(
            f"{path} cannot be parsed: {error}; check the switches, then move the file away and run "
            f"`eeectl adopt {operand}`."
        ) from error


class Journal:
    """A journal that is being written. Not to be shared between threads."""

    def __init__(self, path: Path, *, sync: Callable[[int], None] = os.fsync) -> None:
        self._path = path
        self._sync = sync
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        entries, self._length_byte = _parse(path.read_bytes())
        self.entries: list[Entry] = entries
        self.failure: JournalFailed | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    @property
    def record(self) -> JournalState:
        """What was written so far."""
        return state_of(self.entries)

    def write(self, entry: Entry) -> None:
        """Append an entry so that it survives a crash; JournalFailed if it may not have."""
        line = entry.model_dump_json().encode() + b"\n"  # a TypeAdapter would write infinite times as null
        try:
            if self._length_byte == 0:
                sync_folder(self._path.parent)
            os.ftruncate(self._descriptor, self._length_byte)
            done = 0
            while done < len(line):
                done += os.pwrite(self._descriptor, line[done:], self._length_byte + done)
            self._sync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._length_byte)
            self.failure = JournalFailed(str(self._path), error.strerror or str(error))
            raise self.failure from error
        self._length_byte += len(line)
        self.entries.append(entry)

    def note(self, entry: Entry) -> None:
        """Append an entry if that can be done; one that cannot be written is kept in `entries` all the same."""
        try:
            self.write(entry)
        except JournalFailed:
            self.entries.append(entry)
