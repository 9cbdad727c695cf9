"""A switch's command line as one conversation: type a line, wait until the switch is ready for the next.

Nothing here sleeps: every wait is a read that ends with the next byte or with a time-out. A line counts as taken when
the switch has echoed it and shows its prompt again; what it prints in between is the answer. Lines are never typed
twice. Works on anything that sends and receives bytes, so tests need no SSH.
"""

import codecs
import re
import time
from collections.abc import Sequence
from typing import Protocol

from eee_testbed.lab.errors import Unreachable, Unreadable
from eee_testbed.lab.plain_text import one_line

PATIENCE_S = 30.0
"""How long a switch may be silent before it counts as hanging; saving a configuration takes real ones ten seconds."""

_PATIENCE_FACTOR = 10  # times the patience for one line, however much the switch talks
_QUIET_S = 1.0  # silence after which a prompt is believed although the line's echo was mangled
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78DEHM])|[\x00\x07]")
_PROMPT = re.compile(r"(?P<base>\S[^\r\n]{0,80}?|)(?P<mode>\s?(?:\([^()\r\n]*\))*)(?P<mark>[>#])\s*")
_PAGER = re.compile(r"(?:-+ ?\(?more\b.*|more: ?<space>.*|press any key to continue.*)\s*", re.IGNORECASE)
_QUESTION = re.compile(r".*(?:\?|\([yn]/[yn]\)|\[confirm\]|:)\s*", re.IGNORECASE)
_LOG = re.compile(r".*%(?!COPY-)[A-Z][A-Z0-9_]*-[A-Z0-7]-[A-Za-z0-9_]+\s*:.*|<\d{1,3}> .*%%.*")
"""A message of the switch's own, which may come at any time: of the ROS and IOS kind, or of FASTPATH's. What ROS says
of copying is the answer to saving, though it looks like one."""

_NAME_CHARACTERS = 16  # that IOS leaves of a long host name in deeper modes; netmiko counts on as many
_CTRL_Z = b"\x1a"


class Channel(Protocol):
    """The part of a paramiko channel that is used here."""

    def sendall(self, s: bytes, /) -> None:
        """Send all of it; OSError if the channel is closed."""

    def recv(self, nbytes: int, /) -> bytes:
        """The next bytes, empty at the end; TimeoutError if none come in time."""

    def settimeout(self, timeout: float | None, /) -> None:
        """For `recv` and `sendall`."""

    def recv_ready(self) -> bool:
        """Whether bytes wait."""


def _row(raw: str) -> str:
    """A row as a terminal shows it: carriage returns and backspaces go back, and what follows overwrites."""
    cells: list[str] = []
    at = 0
    for character in raw:
        if character == "\r":
            at = 0
        elif character == "\b":
            at = max(0, at - 1)
        else:
            cells[at : at + 1] = [character]
            at += 1
    return "".join(cells).rstrip()


def shown(raw: str) -> list[str]:
    """The rows that a terminal would show, safe to print; the last one is unfinished, and empty after a line's end."""
    rows = [row.rstrip("\r") for row in _ESCAPES.sub("", raw).split("\n")]
    return [one_line((_row(row) if "\r" in row or "\b" in row else row).expandtabs()) for row in rows]


def _squeezed(text: str) -> str:
    return "".join(text.split())


class Terminal:
    """One conversation. Raises Unreachable when it breaks or the switch falls silent; then it stays broken."""

    def __init__(self, device: str, channel: Channel, *, enter: str = "\r", patience_s: float = PATIENCE_S) -> None:
        self.device = device
        self.prompt = ""
        self._home = ""
        self._channel = channel
        self._enter = enter
        self._patience_s = patience_s
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._heard = ""
        self._broken = ""
        self._prompts: re.Pattern[str] = _PROMPT

    # -- bytes

    def _fail(self, sentence: str) -> Unreachable:
        self._broken = sentence
        return Unreachable(self.device, sentence)

    def _send(self, data: bytes, doing: str) -> None:
        if self._broken:
            raise Unreachable(self.device, f"the session ended earlier: {self._broken}")
        try:
            self._channel.settimeout(self._patience_s)
            self._channel.sendall(data)
        except (OSError, EOFError) as error:  # EOFError: paramiko's, of a connection that ends at that moment
            reason = str(error) or "it was closed"
            raise self._fail(f"the session broke while {doing} ({reason}): read the switch's state again.") from error

    def _receive(self, timeout_s: float, doing: str) -> bool:
        """Read what comes next; False if nothing did in time."""
        self._channel.settimeout(max(timeout_s, 0.001))
        try:
            data = self._channel.recv(65_536)
        except TimeoutError:
            return False
        except OSError as error:
            raise self._fail(f"the session broke while {doing} ({error}): read the switch's state again.") from error
        if not data:
            raise self._fail(f"the switch closed the session while {doing}: read its state again before any change.")
        self._heard += self._decoder.decode(data)
        return True

    def _drop_unasked(self, doing: str) -> None:
        """Forget what came since the last prompt: log messages of the switch."""
        self._heard = ""
        while not self._broken and self._channel.recv_ready():
            self._receive(0.0, doing)
        self._heard = ""

    # -- login

    def expect(self, patterns: Sequence[str], *, doing: str, timeout_s: float | None = None) -> int | None:
        """Wait until the unfinished row matches a pattern; its index, or None after `timeout_s`.

        Without `timeout_s` Unreachable is raised instead, after the session's patience.
        """
        compiled = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
        while True:
            tail = shown(self._heard)[-1]
            for index, pattern in enumerate(compiled):
                if pattern.search(tail):
                    return index
            if not self._receive(self._patience_s if timeout_s is None else timeout_s, doing):
                if timeout_s is not None:
                    return None
                last_rows = " / ".join(row for row in shown(self._heard)[-3:] if row.strip())
                raise self._fail(
                    f"it was silent for {self._patience_s:g} s while {doing}; its last output was '{last_rows}'."
                )

    def heard(self) -> str:
        """What the switch printed since the last answer, as a terminal shows it."""
        return "\n".join(shown(self._heard))

    def answer(self, text: str, *, doing: str, enter: bool = True) -> None:
        """Type an answer to a question; `doing` says which, without the answer."""
        self._heard = ""
        self._send((text + (self._enter if enter else "")).encode(), doing)

    def settle(self, doing: str) -> str:
        """Learn the prompt: the row that an empty line is answered with, twice the same; returns it.

        A banner may contain rows that look like a prompt, and end in the middle of one.
        """
        before = None
        while True:
            self.expect([r"[>#]\s*$"], doing=doing)
            prompt = shown(self._heard)[-1].strip()
            if prompt == before:
                break
            before = prompt
            self.answer("", doing=doing)
        parts = _PROMPT.fullmatch(prompt)
        base = parts["base"].strip() if parts else ""
        more = r"[^\s()>#]*" if len(base) > _NAME_CHARACTERS else ""
        self._prompts = re.compile(rf"{re.escape(base[:_NAME_CHARACTERS])}{more}(?:\s?\([^()\r\n]*\))*\s?[>#]\s*")
        self.prompt = self._home = prompt
        return prompt

    # -- lines

    def is_at(self, pattern: str) -> bool:
        """Whether the prompt matches a pattern; any does if it is empty."""
        return re.search(pattern, self.prompt) is not None

    def home(self) -> None:
        """Return to the mode that `settle` found, from wherever a refused line left the session."""
        if self.prompt == self._home:
            return
        doing = "returning to privileged mode"
        self._drop_unasked(doing)
        self._send(_CTRL_Z, doing)
        self.expect([rf"^{re.escape(self._home)}\s*$"], doing=doing)
        self.prompt = self._home

    def type_line(self, text: str, replies: Sequence[tuple[str, str]] = ()) -> str:
        """Type a line and return what the switch printed until its next prompt, which is in `prompt` then.

        `replies` are patterns of questions and what is typed at them, a newline being the Enter key. Pages are turned.
        Unreadable if the switch asks an unknown question; the session takes no further lines then.
        """
        doing = f"it was executing '{text}'"
        self._drop_unasked(doing)
        self._send((text + self._enter).encode(), doing)
        started = time.monotonic()
        asked_from = 0  # what came before was answered
        while True:
            rows = shown(self._heard)
            after = self._echo_end(rows, text)
            if after is not None and self._at_prompt(rows[after:]):
                return self._output(rows[after:])
            asked_from = self._react(asked_from, replies, doing)
            left_s = started + _PATIENCE_FACTOR * self._patience_s - time.monotonic()
            mangled = after is None and self._at_prompt(rows[1:])
            if left_s > 0 and self._receive(min(_QUIET_S if mangled else self._patience_s, left_s), doing):
                continue
            if mangled:
                return self._output(rows[1:])
            self._give_up(text, rows[-1])

    def _echo_end(self, rows: list[str], text: str) -> int | None:
        """Index of the row after the line's echo; None if it has not come. Narrow terminals break it into rows."""
        echo = _squeezed(text)
        seen = ""
        for index, row in enumerate(rows[:-1]):
            seen += _squeezed(row)
            if seen.endswith(echo):
                return index + 1
        return None

    def _at_prompt(self, rows: Sequence[str]) -> bool:
        """Whether the rows end at a prompt, perhaps with messages behind it; notes the prompt."""
        kept = list(rows)
        while kept and len(kept) > 1 and (not kept[-1].strip() or _LOG.fullmatch(kept[-1])):
            kept.pop()
        interrupted = any(_LOG.fullmatch(row) for row in rows[len(kept) :])
        if not kept or (len(kept) < len(rows) and not interrupted) or not self._prompts.fullmatch(kept[-1]):
            return False
        self.prompt = kept[-1].strip()
        return True

    def _output(self, rows: Sequence[str]) -> str:
        kept = [row for row in rows if not _LOG.fullmatch(row)]
        while kept and (not kept[-1].strip() or self._prompts.fullmatch(kept[-1])):
            kept.pop()
        return "\n".join(kept)

    def _react(self, asked_from: int, replies: Sequence[tuple[str, str]], doing: str) -> int:
        """Turn a page or answer a question, if there is one; returns from where on nothing is answered yet."""
        unanswered = shown(self._heard[asked_from:])
        if not unanswered[-1].strip():
            return asked_from
        if _PAGER.fullmatch(unanswered[-1]):
            self._send(b" ", doing)
            return len(self._heard)
        for pattern, reply in replies:
            if re.search(pattern, "\n".join(unanswered), re.IGNORECASE):
                self._send(reply.replace("\n", self._enter).encode(), doing)
                return len(self._heard)
        return asked_from

    def _give_up(self, text: str, tail: str) -> None:
        sentence = (
            f"it said nothing for {self._patience_s:g} s after '{text}': check the switch, then read its state again."
        )
        failed = self._fail(sentence)
        if _QUESTION.fullmatch(tail):
            raise Unreadable(self.device, text, tail)
        raise failed
