"""A command-line session as a family sees it: modes and user, the replies of a handler, what a family must provide.

A command's handler is

    def handler(session: Session, match: Match[Handler]) -> Reply

and returns text (lines end in a newline; it is paged; empty text shows nothing), or an `Ask` (a question whose answer
goes to `then`, which returns a Reply again), or a `Pause`. It changes the configuration inside
`session.device.change()`, and moves between modes with `session.enter`, `session.leave`, `session.return_to` and
`session.end`. The family translates a `Refused` that it raises into its own words. Handlers run with the device's
lock held.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from eee_testbed.twin.cli.grammar import Fault, Grammar, HelpItem, Match
    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.personality import Refused, User

SshMethod = Literal["none", "password", "publickey"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question. `kind` "key": one keypress answers; "line": Enter ends it; "secret": Enter ends it, echoed as `mask`.

    `prompt` is printed as it is. ^C answers with "" on every kind. A key is echoed and ends the row, unless `echo` is
    off.
    """

    prompt: str
    then: Callable[[str], Reply]
    kind: Literal["key", "line", "secret"] = "key"
    mask: str = ""
    echo: bool = True


@dataclass(frozen=True, slots=True)
class Pause:
    """Print `text`, keep the terminal busy for `seconds`, then go on with `then()`.

    Simplification: `then` runs at once and only what it prints waits. Another session could see the effect
    before this one sees the acknowledgement.
    """

    text: str
    seconds: float
    then: Callable[[], Reply]


Reply: TypeAlias = "str | Ask | Pause"
Handler: TypeAlias = "Callable[[Session, Match[Any]], Reply]"


@dataclass(frozen=True, slots=True)
class Mode:
    """Where a session is: the grammar's mode, and its subject (`{"ports": (3, 4)}`)."""

    name: str
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Something to print after waiting `delay_s`."""

    text: str
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class More:
    """How a family pages: `rows` output rows, then `prompt`. `quit_keys` end it, Enter shows a row, space a page."""

    prompt: str
    rows: int = 24
    quit_keys: str = "qQ\x03\x1a"


class Session:
    """One login. `modes[-1]` is where it is; `page_rows` 0 means no paging; `info` is for the family's own data."""

    def __init__(self, device: SwitchDevice, first: Mode, *, peer: str, number: int, page_rows: int) -> None:
        self.device = device
        self.modes: list[Mode] = [first]
        self.peer = peer
        self.number = number
        self.page_rows = page_rows
        self.columns = 80
        self.user: User | None = None
        self.closing = False
        self.stuck = False  # hangs because of a fault
        self.history: list[str] = []
        self.info: dict[str, Any] = {}

    @property
    def mode(self) -> Mode:
        """Where the session is."""
        return self.modes[-1]

    def enter(self, name: str, **about: Any) -> None:
        """Go one mode deeper."""
        self.modes.append(Mode(name, about))

    def leave(self) -> None:
        """Go back one mode; from the outermost: end the session."""
        if len(self.modes) > 1:
            self.modes.pop()
        else:
            self.closing = True

    def return_to(self, name: str) -> None:
        """Go back to the innermost mode of this name; stay here if the session is in no such mode."""
        if any(m.name == name for m in self.modes):
            while self.mode.name != name:
                self.modes.pop()

    def end(self) -> None:
        """Log out once the present output is printed."""
        self.closing = True


class Cli(Protocol):
    """A family's command line: made once per device (its grammar knows the device's ports)."""

    grammar: Grammar[Handler]
    more: More
    session_limit: int

    def ssh_methods(self, user: str) -> frozenset[SshMethod]:
        """Return the SSH methods offered to this user. With "none", `login_prompts` are used inside the session."""

    def login_prompts(self) -> tuple[str, str, str]:
        """Return (user prompt, password prompt, mask) of a login inside the session."""

    def login_failed(self) -> str:
        """Return the words for a wrong login inside the session, which then asks again (three times in all)."""

    def begin(self, session: Session) -> str:
        """Set the first modes by the privilege of `session.user`, who just logged in; return the greeting."""

    def first_mode(self) -> Mode:
        """Return the outermost mode."""

    def prompt(self, session: Session) -> str:
        """Return the prompt, with its trailing blank if the family has one."""

    def modes(self, session: Session) -> tuple[str, ...]:
        """Return the grammar modes in which a line is looked up, in order; the session goes to the one that has it."""

    def rewrite(self, session: Session, line: str) -> tuple[str | None, str]:
        """Return (mode, line) for prefixes such as `do`: look up in that mode only and stay; mode None: no prefix."""

    def fault(self, session: Session, fault: Fault, line: str) -> str:
        """Return the words for a line that is not a command, ending in a newline; "" for silence."""

    def refused(self, session: Session, refused: Refused) -> str:
        """Return the words for a change that the switch refuses."""

    def help(self, session: Session, items: list[HelpItem], line: str) -> str:
        """Return the page that `?` prints."""

    def ctrl_z(self, session: Session) -> None:
        """Do what ^Z does: usually return to privileged exec."""

    def idle_timeout_s(self, session: Session) -> float:
        """Return the seconds without a key after which to log out; 0: never."""

    def timed_out(self) -> str:
        """Return the words at an idle time-out."""
