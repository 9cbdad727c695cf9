"""The daemon's control socket: one JSON object per line, answered by one JSON object per line.

A request is ``{"do": NAME, ...}`` with the request's arguments; the answer ``{"ok": VALUE}`` or ``{"error":
SENTENCE}``. A request may carry one descriptor (SCM_RIGHTS), which its handler takes over. Only root may open the
socket.
"""

import asyncio
import json
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eee_testbed.lab.errors import LabError

Handler = Callable[[Mapping[str, Any], int], Any]
"""Takes the request and a descriptor (-1 without) and returns what JSON can hold; LabError refuses the request."""

_LONGEST_BYTE = 1 << 20
_SEND_TIMEOUT_S = 5.0  # with a client that does not read its answer


class ControlServer:
    """Answers requests in the asyncio loop. Handlers must not block."""

    def __init__(self, path: Path, handlers: Mapping[str, Handler]) -> None:
        self._path = path
        self._handlers = handlers
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self._clients: set[socket.socket] = set()

    def start(self) -> None:
        """Listen; call it in the running loop."""
        mask = os.umask(0o177)
        try:
            self._listener.bind(str(self._path))
        finally:
            os.umask(mask)
        self._listener.listen(16)
        asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def stop(self) -> None:
        """Close the socket and every connection."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        self._listener.close()
        self._path.unlink(missing_ok=True)
        for client in tuple(self._clients):
            self._drop(client)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        client.setblocking(False)
        self._clients.add(client)
        buffered = bytearray()
        descriptors: list[int] = []
        asyncio.get_running_loop().add_reader(client, self._read, client, buffered, descriptors)

    def _drop(self, client: socket.socket) -> None:
        asyncio.get_running_loop().remove_reader(client)
        self._clients.discard(client)
        client.close()

    def _read(self, client: socket.socket, buffered: bytearray, descriptors: list[int]) -> None:
        try:
            data, passed, _, _ = socket.recv_fds(client, 65_536, 4)
        except BlockingIOError:
            return
        except ConnectionError:
            data, passed = b"", []
        descriptors += passed
        buffered += data
        while b"\n" in buffered:
            line, _, rest = bytes(buffered).partition(b"\n")
            buffered[:] = rest
            descriptor = descriptors.pop(0) if descriptors else -1
            answer = json.dumps(self._answer(line, descriptor)).encode() + b"\n"
            try:
                client.settimeout(_SEND_TIMEOUT_S)
                client.sendall(answer)
                client.setblocking(False)
            except OSError:
                data = b""
                break
        if not data or len(buffered) > _LONGEST_BYTE:
            for descriptor in descriptors:
                os.close(descriptor)
            descriptors.clear()
            self._drop(client)

    def _answer(self, line: bytes, descriptor: int) -> dict[str, Any]:
        try:
            request = json.loads(line)
            handler = self._handlers[request["do"]]
        except (ValueError, KeyError, TypeError):
            return {"error": f"unknown request to the lab's daemon: use one of {', '.join(sorted(self._handlers))}."}
        try:
            return {"ok": handler(request, descriptor)}
        except LabError as error:
            return {"error": str(error)}
        except (KeyError, TypeError, ValueError) as error:
            return {"error": f"the request {request['do']} has wrong arguments: {error}."}
