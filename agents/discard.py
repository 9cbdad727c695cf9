"""Frames that nobody wants: UDP to the discard port (RFC 863)."""

from __future__ import annotations

import socket

from eee_testbed.agents.stream import AgentError

_PORT = 9


class Discard:
    """A socket that never blocks. It is not connected, so ICMP port unreachable is not reported."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def target(self, name: str) -> tuple[str, int]:
        """Where frames to a host go; AgentError if its name does not resolve."""
        try:
            return socket.gethostbyname(name), _PORT
        except OSError:
            raise AgentError(f"'{name}' does not resolve to an address: give one in dotted form.") from None

    def send(self, payload: bytes, where: tuple[str, int]) -> bool:
        """Whether the kernel accepted it."""
        try:
            self._socket.sendto(payload, where)
        except OSError:
            return False
        return True
