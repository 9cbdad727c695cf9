"""Which nodes a node can no longer log in to."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Final

from eee_testbed.controller.transports.node_session import stream_from
from eee_testbed.lab.errors import Unreachable
from eee_testbed.lab.model import Host
from eee_testbed.lab.plain_text import decoded

_LOGIN_CHECK_S: Final = 12.0
_LOGIN_CHECK: Final = """
for host; do
    (ssh -o BatchMode=yes -o ConnectTimeout=4 "$host" true </dev/null >/dev/null 2>&1 || echo "$host") &
done
wait"""
"""Prints the hosts that do not accept an SSH login from the node on which it runs."""


async def refusing(first: Host, names: Sequence[str]) -> set[str]:
    """The hosts of these that do not accept an SSH login from the first; none if it cannot be asked itself."""
    printed: list[bytes] = []
    with contextlib.suppress(TimeoutError, Unreachable):
        async with asyncio.timeout(_LOGIN_CHECK_S):
            await stream_from(first, ["sh", "-c", _LOGIN_CHECK, "sh", *names], printed.append, lambda _: None)
    return set(decoded(b"".join(printed)).split())
