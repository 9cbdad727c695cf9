"""What a command line is to a session with a switch, whatever carries it."""

from typing import Protocol

from controller.drivers.driver import Line


class CommandLine(Protocol):
    """A command line that is open."""

    def show(self, command: str) -> str:
        """What the switch prints; Rejected if it does not take the command."""

    def obey(self, line: Line) -> tuple[int, int]:
        """Type a line once; when it was sent and when it was taken, in monotonic nanoseconds."""

    def close(self) -> None:
        """End it; harmless when it is over already."""
