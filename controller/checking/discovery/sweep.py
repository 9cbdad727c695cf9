"""Ask every address of a management network, a few a second, who it is. Nothing is written on any device.

An address that does not answer costs two questions of half a second; so many addresses are asked at once that the
rate is kept. A device with other credentials is as silent as an empty address.
"""

import ipaddress
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from eee_testbed.lab.errors import LabError

PREFIX_LEAST: Final = 20
PER_S: Final = 50.0
"""Addresses a second."""

PATIENCE: Final = ((0.5, 2),)
"""(seconds, tries) of the first question to an address."""

SILENT_S: Final = sum(seconds * tries for seconds, tries in PATIENCE)

_Found = TypeVar("_Found")


def addresses_of(network: str) -> tuple[str, ...]:
    """The host addresses of a network in CIDR form; LabError if it is none, or larger than a /20."""
    try:
        parsed = ipaddress.IPv4Network(network)
    except ValueError as error:
        raise LabError(f"'{network}' is not a network ({error}): write it as 192.0.2.0/24.") from error
    if parsed.prefixlen < PREFIX_LEAST:
        raise LabError(
            f"{network} has {parsed.num_addresses} addresses, and at most {2 ** (32 - PREFIX_LEAST)} are asked: name "
            f"a /{PREFIX_LEAST} or smaller, such as {parsed.network_address}/{PREFIX_LEAST}."
        )
    return tuple(str(address) for address in parsed.hosts())


def longest_s(count: int, per_s: float = PER_S) -> float:
    """Seconds that a sweep of `count` addresses takes if none answers."""
    return count / per_s + SILENT_S


def sweep(addresses: Sequence[str], ask: Callable[[str], _Found | None], per_s: float = PER_S) -> tuple[_Found, ...]:
    """Ask all addresses; what was found, in their order. A Ctrl-C ends it before the next address."""
    end = threading.Event()
    start_s = time.monotonic()

    def paced(turn: tuple[int, str]) -> _Found | None:
        place, address = turn
        if end.wait(max(0.0, start_s + place / per_s - time.monotonic())):
            return None
        return ask(address)

    with ThreadPoolExecutor(max_workers=max(1, round(2 * per_s * SILENT_S))) as pool:
        try:
            answers = list(pool.map(paced, enumerate(addresses)))
        except BaseException:
            end.set()
            raise
    return tuple(answer for answer in answers if answer is not None)
