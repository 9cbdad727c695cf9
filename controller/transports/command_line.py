"""The interface of a switch's command line to a session, independent of its transport."""

from typing import Protocol

from eee_testbed.controller.drivers.driver import Line


class CommandLine(Protocol):
    """An open command line."""

    def show(self, command: str) -> str:
        """What the switch prints; Rejected if it does not take the command."""

    def execute(self, line: Line) -> tuple[int, int]:
        """Type a line once; when it was sent and when it was taken, in monotonic nanoseconds."""

    def close(self) -> None:
        """End it; harmless when it is over already."""
