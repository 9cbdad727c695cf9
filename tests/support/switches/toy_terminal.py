"""A switch's terminal for tests, as bytes: what it prints is scripted, and no test waits.

Reading from it when it has nothing to say is a time-out at once.
"""

from collections import deque
from collections.abc import Callable, Mapping

Say = bytes | Callable[["ToyTerminal"], None]


class ToyTerminal:
    """Echoes what is typed; at Enter it prints the script's answer to the line, then its prompt."""

    def __init__(self, script: Mapping[str, Say] | None = None, *, prompt: str = "sw1#", greeting: bytes = b"") -> None:
        self.script = dict(script or {})
        self.prompt = prompt
        self.lines: list[str] = []
        self.keys: list[bytes] = []  # what was typed while `on_key` was set
        self.on_key: Callable[[bytes], None] | None = None
        self.closed = False
        self.chunk = 10_000
        self._typed = ""
        self._out: deque[bytes] = deque()
        self.say(greeting or f"\r\n{prompt} ".encode())

    def say(self, data: bytes) -> None:
        """Print, in pieces of `chunk` bytes."""
        self._out.extend(data[at : at + self.chunk] for at in range(0, len(data), self.chunk))

    def say_prompt(self) -> None:
        self.say(f"{self.prompt} ".encode())

    def sendall(self, s: bytes) -> None:
        if self.closed:
            raise OSError("Socket is closed")
        if self.on_key is not None:
            self.keys.append(s)
            self.on_key(s)
            return
        if s == b"\x1a":
            self.prompt = "sw1#"
            self.say(b"\r\n")
            self.say_prompt()
            return
        for character in s.decode():
            if character != "\r":
                self._typed += character
                self.say(character.encode())
                continue
            line, self._typed = self._typed, ""
            self.lines.append(line)
            self.say(b"\r\n")
            self._read_line(line)

    def _read_line(self, line: str) -> None:
        said = self.script.get(line, b"")
        if callable(said):
            said(self)
        else:
            self.say(said)
            self.say_prompt()

    def recv(self, nbytes: int) -> bytes:
        del nbytes
        if self._out:
            return self._out.popleft()
        if self.closed:
            return b""
        raise TimeoutError

    def recv_ready(self) -> bool:
        return bool(self._out)

    def settimeout(self, timeout: float | None) -> None:
        del timeout
