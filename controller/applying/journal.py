"""What was done to a lab, durably, before it is done: one JSON line an entry, fsynced.

A journal begins with the state before and every step to come; each send is announced before it happens. So whoever
reads it after a crash knows the last thing that may have been sent. The last line may be torn; nothing that it would
have announced was sent.

A *leg* is one way through steps: leg 0 goes forward, each later one goes back.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from controller.model.state import State, replay
from controller.planning.check import Management
from controller.planning.plan import Step
from lab.errors import JournalFailed, LabError

Outcome = Literal["applied", "taken back", "adopted"]


class _Entry(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="hex", val_json_bytes="hex", ser_json_inf_nan="strings"
    )

    when: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC))


class Begun(_Entry):
    """The head: what the lab was and what is to be done."""

    kind: Literal["begun"] = "begun"
    version: Literal[1] = 1
    lab: str
    digest: str
    actor: str
    command: str
    before: State
    steps: tuple[Step, ...]
    management: Management | None = None
    confirm_s: float | None = None
    save: bool = False


class Guarded(_Entry):
    """A guardian lives, and takes back what nobody confirms."""

    kind: Literal["guarded"] = "guarded"
    pid: int


class Sending(_Entry):
    """A round is about to be sent: by switch, the orders in words."""

    kind: Literal["sending"] = "sending"
    round: int
    orders: dict[str, tuple[str, ...]]


class Taken(BaseModel):
    """One order that a switch took. Times are of the monotonic clock of the machine's present boot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    order: str
    sent_ns: int
    acknowledged_ns: int


class Acknowledged(_Entry):
    """By switch, the orders of a round that it took."""

    kind: Literal["acknowledged"] = "acknowledged"
    round: int
    taken: dict[str, tuple[Taken, ...]]


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
    """A round was read back and is as wanted."""

    kind: Literal["verified"] = "verified"
    round: int


class Reached(_Entry):
    """The whole lab was read back and is as wanted; taken back at the deadline unless confirmed before."""

    kind: Literal["reached"] = "reached"
    deadline: AwareDatetime | None = None


class Confirmed(_Entry):
    """Somebody says that it may stay."""

    kind: Literal["confirmed"] = "confirmed"
    actor: str


class Saved(_Entry):
    """Startup configurations were written."""

    kind: Literal["saved"] = "saved"
    switches: tuple[str, ...]


class TakingBack(_Entry):
    """A way back begins: why, what was found, and the steps from there."""

    kind: Literal["taking back"] = "taking back"
    why: str
    found: State
    steps: tuple[Step, ...]


class Broken(_Entry):
    """The way back failed."""

    kind: Literal["broken"] = "broken"
    why: str


class Adopted(_Entry):
    """Somebody accepted the lab as it was found."""

    kind: Literal["adopted"] = "adopted"
    actor: str
    found: State


class Done(_Entry):
    """The lab is wholly after, wholly before, or accepted as it is."""

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
    | TakingBack
    | Broken
    | Adopted
    | Done,
    Field(discriminator="kind"),
]
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


@dataclass(frozen=True, slots=True)
class Leg:
    """A way through steps. Rounds up to `sent` may have been sent, those up to `verified` were read back; -1: none."""

    start: State
    steps: tuple[Step, ...]
    sent: int = -1
    verified: int = -1


@dataclass(frozen=True, slots=True)
class JournalState:
    """What a journal tells."""

    begun: Begun
    passes: tuple[Leg, ...]
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
        """The state that was to be reached."""
        return replay((step.change for step in self.begun.steps), self.begun.before)

    @property
    def finished(self) -> bool:
        """Nothing is left to be done."""
        return self.outcome is not None

    @property
    def waiting(self) -> bool:
        """Verified, and to be confirmed."""
        return not self.finished and self.reached and len(self.passes) == 1 and not self.broken and not self.confirmed

    @property
    def rest(self) -> State | None:
        """The state that the lab was left in when all was done; None if it is not done."""
        match self.outcome:
            case "applied":
                return self.after
            case "taken back":
                return self.begun.before
            case "adopted":
                return self.adopted
            case None:
                return None


def tell(entries: Sequence[Entry]) -> JournalState:
    """The story of a journal's entries, of which the first is its head."""
    begun = entries[0]
    if not isinstance(begun, Begun):
        raise LabError("it does not begin with a head")
    journaled = JournalState(begun, (Leg(begun.before, begun.steps),), tuple(entries))
    for entry in entries[1:]:
        journaled = _told(journaled, entry)
    return journaled


def _told(journaled: JournalState, entry: Entry) -> JournalState:  # noqa: C901, PLR0911 - one line for each kind of entry
    *passes, leg = journaled.passes
    match entry:
        case Guarded():
            return replace(journaled, guardian=entry.pid)
        case Sending():
            return replace(journaled, passes=(*passes, replace(leg, sent=entry.round)))
        case Verified():
            return replace(journaled, passes=(*passes, replace(leg, verified=entry.round)))
        case Reached():
            return replace(journaled, reached=True, deadline=entry.deadline)
        case Confirmed():
            return replace(journaled, confirmed=True)
        case Saved():
            return replace(journaled, saved=True)
        case TakingBack():
            return replace(journaled, passes=(*journaled.passes, Leg(entry.found, entry.steps)), outcome=None)
        case Broken():
            return replace(journaled, broken=entry.why)
        case Adopted():
            return replace(journaled, adopted=entry.found)
        case Done():
            return replace(journaled, outcome=entry.outcome, broken="")
        case Begun():
            raise LabError("it has two heads")
        case Acknowledged() | LinkSeen():
            return journaled


def _parse(data: bytes) -> tuple[list[Entry], int]:
    """Entries, and the length of what they take; a torn last line is left out."""
    entries: list[Entry] = []
    length_byte = 0
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            break
        try:
            entries.append(_ENTRY.validate_json(line))
        except ValidationError as error:
            raise LabError(f"line {number} is none of this version's ({error.errors()[0]['msg']})") from error
        length_byte += len(line)
    return entries, length_byte


def read_journal(path: Path) -> JournalState | None:
    """What the journal tells; None if there is none, or if it was torn before anything was sent."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LabError(f"{path} cannot be read ({error.strerror}): ask whoever owns it, or root.") from error
    try:
        entries, _ = _parse(data)
        return tell(entries) if entries else None
    except LabError as error:
        raise LabError(
            f"{path} cannot be understood: {error}; look at the switches, then move the file away and run "
            "`eeectl adopt`."
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
    def journaled(self) -> JournalState:
        """What was written so far."""
        return tell(self.entries)

    def write(self, entry: Entry) -> None:
        """Append an entry so that it survives a crash; JournalFailed if it may not have."""
        line = _ENTRY.dump_json(entry) + b"\n"
        try:
            if self._length_byte == 0:
                folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                try:
                    self._sync(folder)
                finally:
                    os.close(folder)
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
        """Append an entry if that can be done; what is not written is remembered here all the same."""
        try:
            self.write(entry)
        except JournalFailed:
            self.entries.append(entry)
