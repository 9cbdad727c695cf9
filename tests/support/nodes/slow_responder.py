"""Answers echoes in place of the kernel, each after a delay that depends on its number. Runs in a node's namespace.

``slow_responder.py DELAY_MS...``: echo n is answered after delay n modulo their number; a negative one is not answered.
Prints "ready" once it listens.
"""

import heapq
import select
import socket
import struct
import sys
import time


def main() -> None:
    delays_s = [float(word) / 1e3 for word in sys.argv[1:]]
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    print("ready", flush=True)
    waiting: list[tuple[float, bytes, str]] = []
    while True:
        left_s = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        if select.select([raw], [], [], left_s)[0]:
            data, (source, _) = raw.recvfrom(2048)
            icmp = data[(data[0] & 15) * 4 :]
            kind, _, check, identifier, number = struct.unpack_from("!BBHHH", icmp)
            delay_s = delays_s[number % len(delays_s)]
            if kind == 8 and delay_s >= 0:
                total = check + 0x0800  # RFC 1624: the type falls from 8 to 0
                head = struct.pack("!BBHHH", 0, 0, (total & 0xFFFF) + (total >> 16), identifier, number)
                heapq.heappush(waiting, (time.monotonic() + delay_s, head + icmp[8:], source))
        while waiting and waiting[0][0] <= time.monotonic():
            _, answer, source = heapq.heappop(waiting)
            raw.sendto(answer, (source, 0))


main()
