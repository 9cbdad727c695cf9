"""Batches to export, and servers that are started for a test."""

import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.needs import needs
from tests.support.ports import reserved_ports
from tests.support.waiting import eventually

StartServer = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def port() -> Iterator[int]:
    with reserved_ports() as (number,):
        yield number


@pytest.fixture
def start(tmp_path: Path) -> Iterator[StartServer]:
    """Start a server (program, a URL that answers when it is ready, arguments); it is ended with the test."""
    running: list[subprocess.Popen[Any]] = []

    def begin(program: str, ready: str, *arguments: str) -> "subprocess.Popen[bytes]":
        needs(program)
        log_path = tmp_path / f"{Path(program).name}.log"
        with log_path.open("wb") as log:
            server = subprocess.Popen([program, *arguments], stdout=log, stderr=log)
        running.append(server)

        def answers() -> bool:
            assert server.poll() is None, log_path.read_text()
            try:
                urllib.request.urlopen(ready, timeout=1).close()  # noqa: S310 - ours
            except OSError:
                return False
            return True

        eventually(f"{program} answers", answers)
        return server

    yield begin
    for server in running:
        server.terminate()
        server.wait(20)
