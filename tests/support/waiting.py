"""Waiting for what nothing reports: the one place where tests sleep."""

import asyncio
import contextlib
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_S = 60.0
"""Time limit of a wait for an event on a busy machine; never the value under test."""

EVERY_S = 0.1


def eventually(
    what: str,
    poll: Callable[[], T],
    *,
    patience_s: float = PATIENCE_S,
    every_s: float = EVERY_S,
    shown: Callable[[], object] | None = None,
) -> T:
    """Poll until the result is true and return it.

    After `patience_s` it fails with `what` and the last result, or with what `shown` returns then.
    """
    deadline_s = time.monotonic() + patience_s
    while True:
        result = poll()
        if result:
            return result
        _require_time(what, deadline_s, patience_s, result, shown)
        time.sleep(every_s)


async def eventually_in_loop(what: str, poll: Callable[[], T], *, patience_s: float = PATIENCE_S) -> T:
    """The same in an event loop, whose tasks go on meanwhile."""
    deadline_s = time.monotonic() + patience_s
    while True:
        result = poll()
        if result:
            return result
        _require_time(what, deadline_s, patience_s, result)
        await asyncio.sleep(EVERY_S)


def _require_time(
    what: str, deadline_s: float, patience_s: float, result: object, shown: Callable[[], object] | None = None
) -> None:
    if time.monotonic() >= deadline_s:
        seen = result if shown is None else shown()
        raise AssertionError(f"{what}: not within {patience_s:g} s; last seen: {seen!r}")


def ended_within(process: "subprocess.Popen[Any]", wait_s: float) -> bool:
    """Whether a process ends within a time, or has ended."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(wait_s)
    return process.returncode is not None
