"""The live page as a browser gets it: its files, its events, what it refuses, and how it ends."""

import http.client
import json
import signal
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.live.state.live_state import LiveState
from eee_testbed.measuring.live.state.view import Alarm, LabView
from eee_testbed.measuring.live.web.markup import markup, page_of
from eee_testbed.measuring.live.web.server import Board, PageServer, is_own_host
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.store import Run
from tests.support.labs.toy_view import LAB, T0, ports, watts


def _view(watt: float = 25.0) -> LabView:
    live_state = LiveState(LAB)
    live_state.take(watts(0, watt, 60.0))
    live_state.take(ports("sw1", 0, [0, 0, 0], [True, True, True]))
    return live_state.view(T0)


class _Browser:
    """A client that reads one answer, or a stream of events."""

    def __init__(self, url: str) -> None:
        self._parts = urllib.parse.urlsplit(url)

    def ask(self, path: str, host: str = "", method: str = "GET") -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(str(self._parts.hostname), self._parts.port, timeout=10)
        connection.request(method, path, headers={"Host": host} if host else {})
        return connection.getresponse()

    def events(self, path: str = "/events") -> Iterator[tuple[str, Any]]:
        """Each event's name and content, until the stream ends."""
        answer, name = self.ask(path), ""
        assert answer.headers["Content-Type"] == "text/event-stream"
        while line := answer.readline().decode():
            field, _, value = line.rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, json.loads(value)


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def server(board: Board) -> Iterator[PageServer]:
    made = PageServer(board)
    yield made
    made.close()


def test_a_browser_gets_every_view_and_is_told_the_end(board: Board, server: PageServer) -> None:
    board.show(_view(25.0))
    events = _Browser(server.url).events()
    name, first = next(events)
    assert name == "view"
    assert [one["name"] for one in first["panels"]] == ["power", "devices", "trials", "alarms", "topology", "events"]
    assert "25.0 W" in first["panels"][1]["html"]
    board.show(_view(31.5))
    name, second = next(events)
    assert "31.5 W" in second["panels"][1]["html"]
    server.close("sw1 does not answer")
    assert next(events) == ("ended", "sw1 does not answer")
    assert list(events) == []


def test_a_browser_that_comes_later_gets_the_newest_view(board: Board, server: PageServer) -> None:
    for watt in (25.0, 31.5):
        board.show(_view(watt))
    assert "31.5 W" in next(_Browser(server.url).events())[1]["panels"][1]["html"]


def test_a_page_needs_nothing_from_elsewhere_and_no_site_may_frame_it(server: PageServer) -> None:
    browser = _Browser(server.url)
    for path, kind in (("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript")):
        answer = browser.ask(path)
        text = answer.read().decode()
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith(kind)
        assert "//" not in text.replace("// Shows", "")
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/events", "/page.js"])
def test_a_foreign_host_is_refused(path: str, board: Board, server: PageServer) -> None:
    board.show(_view())
    browser = _Browser(server.url)
    port = urllib.parse.urlsplit(server.url).port
    answer = browser.ask(path, host=f"evil.example:{port}")
    assert answer.status == 421
    assert "25.0" not in answer.read().decode()


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:8043", True),
        ("LOCALHOST:1", True),
        ("[::1]:8043", True),
        ("", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("[::1", False),
        ("evil.example", False),
    ],
)
def test_only_addresses_and_localhost_are_hosts_of_this_machine(host: str, *, own: bool) -> None:
    assert is_own_host(host) == own


def test_nothing_can_be_changed_and_no_other_file_is_served(server: PageServer) -> None:
    browser = _Browser(server.url)
    assert browser.ask("/", method="POST").status == 501
    for path in ("/../server.py", "/server.py", "/page.css/..", "/run.yaml"):
        assert browser.ask(path).status == 404


def test_a_port_that_is_taken_is_an_error_of_one_sentence(board: Board, server: PageServer) -> None:
    port = urllib.parse.urlsplit(server.url).port
    with pytest.raises(LabError, match="choose another port"):
        PageServer(board, port=port or 0)


def test_text_of_others_is_no_markup() -> None:
    assert markup(Text("<script>", style="bold red")) == '<span class="bold red">&lt;script&gt;</span>'
    view = replace(_view(), alarms=(Alarm("bad", "<img src=x onerror=alert(1)>"),))
    assert "<img" not in json.dumps(page_of(view, 80, 160))


@pytest.mark.parametrize(("columns", "widest"), [("40", 40), ("9999999", 80), ("x", 80), ("1", 30), ("99999", 300)])
def test_lines_are_as_wide_as_the_browser_has_room_for(
    columns: str, widest: int, board: Board, server: PageServer
) -> None:
    shown = replace(_view(), alarms=(Alarm("bad", "word " * 100),))
    board.show(shown)
    _, view = next(_Browser(server.url).events(f"/events?columns={columns}"))
    assert view["panels"] == page_of(shown, widest, 160)["panels"]


# -- the command


@pytest.mark.slow
def test_the_command_serves_a_run_until_ctrl_c(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "runs", "toy", {"lab": "toy"}, RunClock())
    run.append(watts(0, 25.0, 60.0))
    run.close()
    argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", "watch", str(run.folder), "--web-at", "0"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            events = _Browser(process.stderr.readline().split()[4].rstrip(";")).events()
            assert "finished" in next(events)[1]["head"]
            process.send_signal(signal.SIGINT)
            assert [name for name, _ in events][-1] == "ended"
            assert process.wait(30) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--web", "--once"], "leave --once"),
        (["--web-at", "nine"], "invalid address 'nine' to serve the page at"),
    ],
)
def test_wrong_options_of_the_page_are_an_error(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert eeectl(["watch", *words]) == 1
    assert expected in capsys.readouterr().err
