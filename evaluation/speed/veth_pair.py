"""Two network namespaces joined by a veth pair, for measurements that need no switch."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

ADDRESSES = ("198.19.252.1", "198.19.252.2")
INTERFACES = ("veth-a", "veth-b")


@contextmanager
def veth_pair() -> Iterator[tuple[str, str]]:
    """Names of the namespaces; both are deleted afterwards."""
    names = (f"eeebench{os.getpid()}a", f"eeebench{os.getpid()}b")
    made: list[str] = []
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            made.append(name)
        subprocess.run(
            ["ip", "link", "add", INTERFACES[0], "netns", names[0], "type", "veth",
             "peer", "name", INTERFACES[1], "netns", names[1]],
            check=True,
        )  # fmt: skip
        for name, interface, address in zip(names, INTERFACES, ADDRESSES, strict=True):
            subprocess.run(["ip", "-n", name, "address", "add", f"{address}/24", "dev", interface], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", interface, "up"], check=True)
        subprocess.run(
            inside(names[0], "ping", "-q", "-c", "1", "-w", "20", ADDRESSES[1]), check=True, stdout=subprocess.DEVNULL
        )
        yield names
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=True)


def inside(namespace: str, *argv: str) -> list[str]:
    """The argv that runs something in a namespace."""
    return ["ip", "netns", "exec", namespace, *argv]
