"""One request to a server of InfluxDB's write API: what is sent, and what its answers and its silence mean."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from eee_testbed.lab.model import Secret
from eee_testbed.measuring.live.export.influx_server import InfluxServer, InfluxTarget
from tests.support import ROOT

_LINES = b"eee_watts,outlet=1 power_watt=1.5 1\neee_watts,outlet=2 power_watt=2.5 1"
_WITHOUT = """\
import sys
sys.modules["influxdb_client"] = None
from eee_testbed.measuring.live.export.influx_server import InfluxServer, InfluxTarget
from eee_testbed.lab.errors import LabError
try:
    InfluxServer(InfluxTarget("http://127.0.0.1:1", "b"))
except LabError as error:
    print(error)
"""
_ONLY_PROMETHEUS = """\
import sys
from eee_testbed.measuring.live.export.attach import Views
from eee_testbed.measuring.live.export.view_options import ViewOptions
from tests.support.labs.toy_view import LAB
Views(LAB, ViewOptions(prometheus="127.0.0.1:0")).close()
print("influxdb_client" in sys.modules)
Views(LAB, ViewOptions(influx="http://127.0.0.1:1")).close()
print("influxdb_client" in sys.modules)
"""


class _Stub(HTTPServer):
    """Answers each request with `answer`, and keeps the last."""

    answer: tuple[int, bytes] = 204, b""
    path = ""
    token: str | None = None
    body = b""


class _Handler(BaseHTTPRequestHandler):
    server: _Stub

    def do_POST(self) -> None:
        self.server.path, self.server.token = self.path, self.headers["Authorization"]
        self.server.body = self.rfile.read(int(self.headers["Content-Length"]))
        status, text = self.server.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def stub() -> Iterator[_Stub]:
    with _Stub(("127.0.0.1", 0), _Handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def _url(stub: _Stub) -> str:
    return f"http://127.0.0.1:{stub.server_address[1]}"


def _printed(program: str) -> list[str]:
    words = [sys.executable, "-c", program]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout.splitlines()


def test_lines_bucket_organisation_and_token_arrive_as_they_are(stub: _Stub, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("abc\n", encoding="utf-8")
    token.chmod(0o600)
    server = InfluxServer(InfluxTarget(f"{_url(stub)}/behind/", "my bucket", "org", Secret(file=str(token))))
    assert server.send(_LINES) == ("", False)
    server.close()
    parts = urlsplit(stub.path)
    assert parts.path == "/behind/api/v2/write"
    assert parse_qs(parts.query) == {"org": ["org"], "bucket": ["my bucket"], "precision": ["ns"]}
    assert (stub.body, stub.token) == (_LINES, "Token abc")


@pytest.mark.parametrize(
    ("status", "text", "reason", "invalid"),
    [
        (400, b"cannot parse", "refuses samples with 400: cannot parse", True),
        (401, b"no", "refuses samples with 401: no; correct --influx-token-file", False),
        (404, b"no", "refuses samples with 404: no; correct --influx-bucket or the address", False),
        (302, b"elsewhere", "refuses samples with 302: elsewhere", False),
        (503, "schl\u00e4ft".encode("latin-1"), "does not answer", False),
    ],
)
def test_an_answer_says_whether_the_request_was_wrong(
    stub: _Stub, status: int, text: bytes, reason: str, *, invalid: bool
) -> None:
    stub.answer = status, text
    server = InfluxServer(InfluxTarget(_url(stub), "b"))
    said, was_invalid = server.send(_LINES)
    server.close()
    assert reason in said
    assert was_invalid is invalid


def test_a_server_without_tls_does_not_answer_https(stub: _Stub) -> None:
    server = InfluxServer(InfluxTarget(_url(stub).replace("http:", "https:"), "b"))
    reason, invalid = server.send(_LINES)
    server.close()
    assert "does not answer (SSLError" in reason
    assert not invalid


def test_a_server_that_says_nothing_costs_the_time_out_and_no_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = InfluxServer(InfluxTarget(f"http://127.0.0.1:{silent.getsockname()[1]}", "b"), timeout_s=0.05)
        reason, invalid = server.send(_LINES)
        server.close()
    assert "does not answer" in reason
    assert "timed out" in reason
    assert not invalid


def test_without_the_package_the_error_says_how_to_install_it() -> None:
    assert _printed(_WITHOUT) == [
        "--influx needs the package influxdb-client: run `pip install 'eee-testbed[influx]'`."
    ]


def test_the_package_is_loaded_for_influx_alone() -> None:
    assert _printed(_ONLY_PROMETHEUS) == ["False", "True"]
