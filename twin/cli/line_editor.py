"""Edits one line over a raw terminal, as switches do: the switch echoes, and every key acts at once.

Why not asyncssh's line editor: it has no masked echo (a PowerConnect prints stars for a password), treats ^C and ^D as
break and end of file instead of as vendor keys, and works inside an SSH channel only, so that a `Shell` could not be
tested without a socket.

`LineEditor.key` takes one character and returns the request that it makes, if any. Output goes to the `emit` given at
construction. Keys: Enter (CR, LF or CR LF), Backspace and Delete, ^A ^E ^B ^F, arrows, Home, End, ^D (delete), ^K, ^U
and ^X (whole line), ^W (word), ^P and ^N and arrows up and down (history), ^L and ^R (draw again), Tab, `?`, ^C and ^Z.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Key = Literal["enter", "help", "tab", "interrupt", "end"]

BELL = "\a"
LINE_MAX_CHARACTERS = 512

_REQUESTS: dict[str, Key] = {"\x03": "interrupt", "\x1a": "end", "\t": "tab", "?": "help"}
_ESCAPES = {
    "[A": "\x10",
    "[B": "\x0e",
    "[C": "\x06",
    "[D": "\x02",
    "[H": "\x01",
    "[F": "\x05",
    "[1~": "\x01",
    "[4~": "\x05",
    "[3~": "\x04",
}

_HISTORY_LINES = 10


class LineEditor:
    """A line, a cursor and a history. `mask` None echoes, "" echoes nothing, "*" echoes stars."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self.prompt = ""
        self.mask: str | None = None
        self.text = ""
        self._cursor = 0
        self.history: list[str] = []
        self._recalled = 0  # how far back; 0: the line being typed
        self._draft = ""
        self._escape = ""
        self._after_cr = False

    def begin(self, prompt: str, *, mask: str | None = None, text: str = "") -> None:
        """Draw the prompt and start a line behind it, with this text in it."""
        self.prompt = prompt
        self.mask = mask
        self.text = text
        self._cursor = len(text)
        self._recalled = 0
        self._escape = ""
        self._emit(prompt + self._shown(text))

    def remember(self, line: str) -> None:
        """Put a line into the history, unless it is empty or repeats the last."""
        if line.strip() and (not self.history or self.history[-1] != line):
            self.history.append(line)
            del self.history[:-_HISTORY_LINES]

    def swallow(self, character: str) -> bool:
        """Return True for the rest of an Enter already taken (LF or NUL after CR); for callers that read keys."""
        after_cr, self._after_cr = self._after_cr, character == "\r"
        return after_cr and character in "\n\0"

    def insert(self, text: str) -> None:
        """Insert text at the cursor and echo it; ring the bell beyond `LINE_MAX_CHARACTERS`."""
        if len(self.text) + len(text) > LINE_MAX_CHARACTERS:
            self._emit(BELL)
            return
        tail = self.text[self._cursor :]
        self.text = self.text[: self._cursor] + text + tail
        self._cursor += len(text)
        self._emit(self._shown(text) + self._shown(tail) + "\b" * len(self._shown(tail)))

    def key(self, character: str) -> Key | None:
        """Take one character; return the request for the caller, or None if the editor handled it."""
        if self.swallow(character):
            return None
        if self._escape:
            self._escape_key(character)
            return None
        if character in "\r\n":
            self._emit("\r\n")
            return "enter"
        if character in _REQUESTS and (self.mask is None or character not in "\t?"):
            return _REQUESTS[character]
        if character == "\x1b":
            self._escape = character
        else:
            self._edit(character)
        return None

    def redraw(self) -> None:
        """Draw prompt and line again on the present row."""
        tail = self._shown(self.text[self._cursor :])
        self._emit(self.prompt + self._shown(self.text) + "\b" * len(tail))

    def _escape_key(self, character: str) -> None:
        self._escape += character
        sequence = self._escape[1:].replace("O", "[", 1)
        if sequence in _ESCAPES:
            self._escape = ""
            self._edit(_ESCAPES[sequence])
        elif sequence[0] != "[" or (len(sequence) > 1 and (character.isalpha() or character == "~")):
            self._escape = ""

    def _edit(self, character: str) -> None:
        end = len(self.text)
        if character in "\x08\x7f":
            self._remove(self._cursor - 1, self._cursor)
        elif character == "\x04":
            self._remove(self._cursor, self._cursor + 1)
        elif character in "\x15\x18":
            self._replace("")
        elif character == "\x0b":
            self._remove(self._cursor, end)
        elif character == "\x17":
            self._remove(self.text[: self._cursor].rstrip(" ").rfind(" ") + 1, self._cursor)
        elif character in "\x01\x02\x05\x06":
            self._move({"\x01": 0, "\x02": self._cursor - 1, "\x05": end, "\x06": self._cursor + 1}[character])
        elif character in "\x10\x0e":
            self._recall(1 if character == "\x10" else -1)
        elif character in "\x0c\x12":
            self._emit("\r\n")
            self.redraw()
        elif character.isprintable():
            self.insert(character)

    def _shown(self, text: str) -> str:
        return text if self.mask is None else self.mask * len(text)

    def _move(self, to: int) -> None:
        if not 0 <= to <= len(self.text):
            self._emit(BELL)
            return
        if to < self._cursor:
            self._emit("\b" * len(self._shown(self.text[to : self._cursor])))
        else:
            self._emit(self._shown(self.text[self._cursor : to]))
        self._cursor = to

    def _remove(self, start: int, end: int) -> None:
        if not 0 <= start < end <= len(self.text):
            self._emit(BELL)
            return
        self._move(start)
        tail = self._shown(self.text[end:])
        gone = len(self._shown(self.text[start:end]))
        self.text = self.text[:start] + self.text[end:]
        self._emit(tail + " " * gone + "\b" * (len(tail) + gone))

    def _replace(self, text: str) -> None:
        self._move(0)
        shown, old = self._shown(text), len(self._shown(self.text))
        spare = max(0, old - len(shown))
        self._emit(shown + " " * spare + "\b" * spare)
        self.text = text
        self._cursor = len(text)

    def _recall(self, step: int) -> None:
        index = self._recalled + step
        if self.mask is not None or not 0 <= index <= len(self.history):
            self._emit(BELL)
            return
        if self._recalled == 0:
            self._draft = self.text
        self._recalled = index
        self._replace(self._draft if index == 0 else self.history[-index])
