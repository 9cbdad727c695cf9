"""The last sample for Prometheus: text format 0.0.4 over HTTP at /metrics, on loopback unless an address is given."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Sequence

from eee_testbed.agents.metrics import PREFIX, Series, Value
from eee_testbed.agents.stream import AgentError

_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(series: Sequence[Series], values: Sequence[Value]) -> str:
    """The text format: one family a name, each with HELP and TYPE once; what has no value is left out."""
    families: dict[str, list[str]] = {}
    for metric, value in zip(series, values):
        name = PREFIX + metric.name
        if name not in families:
            families[name] = [f"# HELP {name} {_escaped(metric.means, quote=False)}", f"# TYPE {name} {metric.kind}"]
        if value is not None:
            labels = ",".join(f'{key}="{_escaped(text, quote=True)}"' for key, text in sorted(metric.labels.items()))
            families[name].append(f"{name}{{{labels}}} {value!r}" if labels else f"{name} {value!r}")
    return "".join(f"{line}\n" for lines in families.values() if len(lines) > 2 for line in lines)


def _escaped(text: str, *, quote: bool) -> str:
    text = text.replace("\\", r"\\").replace("\n", r"\n")
    return text.replace('"', r"\"") if quote else text


class Exporter:
    """Serves the text that it was given last."""

    def __init__(self, listen: str) -> None:
        host, _, port = listen.rpartition(":")
        host = host or "127.0.0.1"
        if not port.isdecimal() or int(port) > 65_535:
            raise AgentError(f"'{listen}' is not an address to listen on: write PORT or ADDRESS:PORT, as in 9105.", 2)
        try:
            self._server = http.server.ThreadingHTTPServer((host, int(port)), _Handler)
        except OSError as error:
            raise AgentError(f"cannot listen on {host}:{port}: {error.strerror}; choose another --listen.") from None
        self._server.daemon_threads = True
        self.address = "{}:{}".format(*self._server.server_address[:2])
        threading.Thread(target=self._server.serve_forever, name="exporter", daemon=True).start()

    def show(self, text: str) -> None:
        """What is served from now on."""
        _Handler.text = text.encode()

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    text = b""

    def do_GET(self) -> None:
        """Answer a scrape."""
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404, "only /metrics is served here")
            return
        self.send_response(200)
        self.send_header("Content-Type", _TYPE)
        self.send_header("Content-Length", str(len(self.text)))
        self.end_headers()
        self.wfile.write(self.text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Scrapes are not logged."""
