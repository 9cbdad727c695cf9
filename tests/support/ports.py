"""Ports and addresses of loopback for servers that are told which one to take."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


def own_address() -> str:
    """An address of loopback that no other process of a test run has."""
    high, low = divmod(os.getpid(), 250)
    return f"127.99.{high % 250}.{low + 1}"


@contextmanager
def reserved_ports(count: int = 1) -> Iterator[list[int]]:
    """Free TCP ports of 127.0.0.1 that nobody is given who asks for any, as long as this lasts.

    They are bound, not listened at: a server that sets SO_REUSEADDR, as most do, can take one.
    """
    with ExitStack() as held:
        ports = []
        for _ in range(count):
            one = held.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", 0))
            ports.append(int(one.getsockname()[1]))
        yield ports
