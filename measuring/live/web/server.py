"""The server of the live page: the page's files, and a stream of events to each browser. Nothing can be changed.

A request whose Host is a name other than localhost is refused: a foreign page could reach this server under a name
of its own (DNS rebinding). Other pages cannot read the answers, as they have no header that allows it.
"""

import ipaddress
import json
import threading
import time
import urllib.parse
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.live.state.view import LabView
from eee_testbed.measuring.live.web.markup import page_of

_HERE: Final = Path(__file__).parent
_FILES: Final[Mapping[str, tuple[str, str]]] = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
_MOST_STREAMS: Final = 16
_QUIET_S: Final = 10.0
"""A stream without news gets a comment so often, which shows whether the browser is still there."""

_FAREWELL_S: Final = 1.0
"""How long to wait at the end until every browser is told why."""


class Board:
    """The newest view, for streams that wait for it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._view: LabView | None = None
        self._number = 0
        self.ended = ""
        """Why there will be no more views; empty while there will."""

    def show(self, view: LabView) -> None:
        """Put up a view."""
        with self._changed:
            self._view, self._number = view, self._number + 1
            self._changed.notify_all()

    def end(self, why: str) -> None:
        """Put up no more views."""
        with self._changed:
            self.ended = why
            self._changed.notify_all()

    def after(self, number: int, longest_s: float) -> tuple[int, LabView | None]:
        """The newest view and its number, as soon as that is above `number`; the same number if nothing came."""
        with self._changed:
            self._changed.wait_for(lambda: self._number > number or bool(self.ended), longest_s)
            return self._number, self._view


class PageServer:
    """Serves the page until `close`. LabError if the port is taken."""

    def __init__(self, board: Board, address: str = "127.0.0.1", port: int = 0) -> None:
        self._board = board
        self._streams = threading.BoundedSemaphore(_MOST_STREAMS)
        try:
            self._server = ThreadingHTTPServer((address, port), partial(_Handler, board, self._streams))
        except OSError as error:
            raise LabError(
                f"the page cannot be served at {address}:{port} ({error.strerror}): choose another port."
            ) from error
        self._ended = 0
        self.url = f"http://{address}:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, name="live page", daemon=True)
        self._thread.start()

    def close(self, why: str = "the live view has ended") -> None:
        """End the streams, saying why, and stop serving."""
        self._board.end(why)
        until_s = time.monotonic() + _FAREWELL_S
        while self._ended < _MOST_STREAMS and self._streams.acquire(timeout=max(0.0, until_s - time.monotonic())):
            self._ended += 1
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def is_own_host(host: str) -> bool:
    """Whether a request's Host is an address or localhost, with or without a port, and no other name.

    >>> is_own_host("127.0.0.1:8043"), is_own_host("[::1]"), is_own_host("localhost"), is_own_host("evil.example:8043")
    (True, True, True, False)
    """
    try:
        name = urllib.parse.urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost":
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server_version = "eeectl"
    sys_version = ""

    def __init__(self, board: Board, streams: threading.BoundedSemaphore, *rest: Any) -> None:
        self._board = board
        self._streams = streams
        super().__init__(*rest)

    def do_GET(self) -> None:
        """A file of the page, or the stream of events."""
        target = urllib.parse.urlsplit(self.path)
        if not is_own_host(self.headers.get("Host", "")):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "open the page by its address, or as localhost")
        elif target.path in _FILES:
            name, kind = _FILES[target.path]
            content = (_HERE / name).read_bytes()
            self._begin(kind, len(content))
            self.wfile.write(content)
        elif target.path == "/events":
            self._stream(urllib.parse.parse_qs(target.query))
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Do not log: the terminal is a person's."""

    def _begin(self, kind: str, length: int | None = None) -> None:
        self.send_response(HTTPStatus.OK)
        for name, value in {"Content-Type": kind, **_HEADERS}.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _stream(self, query: Mapping[str, list[str]]) -> None:
        if not self._streams.acquire(blocking=False):
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, "too many browsers watch")
            return
        try:
            self._begin("text/event-stream")
            self._send_views(_columns(query, "columns", 80), _columns(query, "wide", 160))
        except (BrokenPipeError, ConnectionResetError):
            return  # the browser has gone
        finally:
            self._streams.release()

    def _send_views(self, columns: int, wide: int) -> None:
        number = 0
        while not self._board.ended:
            newest, view = self._board.after(number, _QUIET_S)
            if newest == number or view is None:
                self.wfile.write(b": nothing new\n\n")
                continue
            number = newest
            self._event("view", page_of(view, columns, wide))
        self._event("ended", self._board.ended)

    def _event(self, name: str, content: object) -> None:
        self.wfile.write(f"event: {name}\ndata: {json.dumps(content)}\n\n".encode())


def _columns(query: Mapping[str, list[str]], name: str, usual: int) -> int:
    """Characters of a line that a browser has room for."""
    text = query.get(name, [""])[0]
    return min(max(int(text), 30), 300) if text.isascii() and text.isdecimal() and len(text) < 6 else usual
