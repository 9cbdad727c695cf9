"""Parts of ranks' files, as keepers send them, in a trial's folder."""

import base64
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Host
from eee_testbed.measuring.experiments.mpi_trace import clear_traces, recorded_ranks, recorder, take_part

RECORDER = recorder(("mpicc",))
_HOST = Host("n01", "lab", "127.0.0.1", 22, "198.18.0.1", bytes(6), "eth0", 1000, 1500)


def _part(name: str, data: bytes) -> dict[str, Any]:
    return {"part": name, "data": base64.b64encode(zlib.compress(data)).decode()}


def test_parts_of_a_file_follow_each_other_and_replace_those_of_before(tmp_path: Path) -> None:
    for data in (b"one ", b"two"):
        take_part(_HOST, tmp_path, _part("rank.12", data))
    take_part(replace(_HOST, name="n02"), tmp_path, _part("rank.0", b"x"))
    assert (tmp_path / "traces" / "rank.12").read_bytes() == b"one two"
    assert recorded_ranks(tmp_path) == 2
    clear_traces(tmp_path)
    assert recorded_ranks(tmp_path) == 0


@pytest.mark.parametrize(
    "answer",
    [
        _part("../rank.1", b""),
        _part("rank.x", b""),
        {"part": 1},
        {"part": "rank.1"},
        {"part": "rank.1", "data": "?"},
        {"part": "rank.1", "data": base64.b64encode(zlib.compress(bytes(10))[:-3]).decode()},
        _part("rank.1", bytes(5 << 20)),
    ],
)
def test_what_is_no_part_is_refused(tmp_path: Path, answer: dict[str, Any]) -> None:
    with pytest.raises(Unreadable, match="the trace of its ranks"):
        take_part(_HOST, tmp_path, answer)
    assert recorded_ranks(tmp_path) == 0


def test_nodes_need_mpi_and_nothing_else() -> None:
    assert set(RECORDER.sources()) == {"record_calls.c", "record_wrappers.h"}
    assert RECORDER.compile[0] == "mpicc"


def test_the_recorder_is_made_by_the_first_compiler_that_a_node_has(tmp_path: Path) -> None:
    (tmp_path / "second").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "second").chmod(0o700)
    words = recorder(("no-such-mpicc", "second")).compile
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(words, env=path, capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.split() == [*RECORDER.compile[1:]]
