"""The control socket: one line in, one line out, and a descriptor beside it."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.machine.asking import ask
from eee_testbed.twin.machine.control import ControlServer


def _refuse(_request: Mapping[str, Any], _descriptor: int) -> None:
    raise LabError("not today.")


def _write(request: Mapping[str, Any], descriptor: int) -> int:
    with os.fdopen(descriptor, "wb") as stream:
        return stream.write(str(request["text"]).encode())


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """A server in a thread of its own."""
    socket_path = tmp_path / "control.sock"
    loop = asyncio.new_event_loop()
    handlers = {"echo": lambda request, _fd: request["text"], "refuse": _refuse, "write": _write}
    server = ControlServer(socket_path, handlers)

    async def start() -> None:
        server.start()

    async def stop() -> None:
        server.stop()

    loop.run_until_complete(start())
    thread = Thread(target=loop.run_forever)
    thread.start()
    yield socket_path
    asyncio.run_coroutine_threadsafe(stop(), loop).result(5)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    assert not socket_path.exists()


def test_answers_refusals_and_unknown_requests(path: Path) -> None:
    assert ask(path, "echo", text="a\nb") == "a\nb"
    with pytest.raises(LabError, match=r"^not today\.$"):
        ask(path, "refuse")
    with pytest.raises(LabError, match="unknown request to the lab's daemon: use one of echo, refuse, write"):
        ask(path, "sing")
    with pytest.raises(LabError, match="the request echo has wrong arguments"):
        ask(path, "echo")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_descriptor_passes(path: Path, tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as stream:
        assert ask(path, "write", descriptor=stream.fileno(), text="said") == 4
    assert (tmp_path / "file").read_bytes() == b"said"


def test_lines_in_pieces_and_several_at_once(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(str(path))
        both = b"".join(json.dumps({"do": "echo", "text": text}).encode() + b"\n" for text in ("one", "two"))
        client.sendall(both[:10])
        client.sendall(both[10:] + b"not json\n")
        with client.makefile("rb") as stream:
            answers = [json.loads(stream.readline()) for _ in range(3)]
    assert answers[:2] == [{"ok": "one"}, {"ok": "two"}]
    assert "error" in answers[2]


def test_a_missing_daemon_is_reported_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="does not answer at"):
        ask(tmp_path / "none.sock", "status")
