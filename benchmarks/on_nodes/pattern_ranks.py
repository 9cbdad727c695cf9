"""One rank of synthetic traffic: it sends to one other rank, as fast as it can or at a rate, and counts what comes.

    python3 pattern_ranks.py '{"partners": [0, 2, 1, 3], "addresses": ["198.19.1.1", ...], "transport": "udp",
        "frame_byte": 1470, "duration_s": 5, "rate_mbps": 0}'

`partners[r]` is the destination of rank r, r itself if it sends nothing; `addresses[r]` is where rank r listens. MPI
(mpi4py) synchronizes the ranks before and after; the traffic is plain UDP or TCP. The sender is a process of its own.
Rank 0 prints one line.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import time
from typing import Any

import mpi4py

mpi4py.rc.threads = False
from mpi4py import MPI  # noqa: E402 - the setting has to come first

_HEAD = struct.Struct("!HqI")
"""Rank of the sender, number of the datagram (-1: that was all), how long the text is that follows."""
_ETHERNET_BYTE, _IP_BYTE, _UDP_BYTE, _TCP_BYTE, _TIMES_BYTE = 14, 20, 8, 20, 12
_ROOM_BYTE = 1 << 22
_GRACE_S = 1.0
_GOODBYES = 5
_BATCH = 16


def pattern(size_byte: int) -> bytes:
    """What fills every datagram."""
    return bytes(index * 7 % 251 for index in range(size_byte))


def pace(begun_ns: int, sent_byte: int, rate_mbps: float) -> None:
    """Wait until so many bytes were due."""
    ahead_ns = begun_ns + sent_byte * 8_000 / rate_mbps - time.perf_counter_ns()
    if ahead_ns > 0:
        time.sleep(ahead_ns / 1e9)


def send_udp(sock: socket.socket, to: tuple[str, int], rank: int, given: dict[str, Any]) -> int:
    """Send until the time is over; how many datagrams."""
    size_byte = given["frame_byte"] - _ETHERNET_BYTE - _IP_BYTE - _UDP_BYTE
    filling = pattern(size_byte - _HEAD.size)
    sock.connect(to)
    begun_ns = time.perf_counter_ns()
    end_ns, number = begun_ns + int(given["duration_s"] * 1e9), 0
    while time.perf_counter_ns() < end_ns:
        for _ in range(_BATCH):
            sock.send(_HEAD.pack(rank, number, len(filling)) + filling)
            number += 1
        if given["rate_mbps"]:
            pace(begun_ns, number * given["frame_byte"], given["rate_mbps"])
    with contextlib.suppress(ConnectionRefusedError):  # it heard one and has gone
        for _ in range(_GOODBYES):
            sock.send(_HEAD.pack(rank, -1, 0))
            time.sleep(_GRACE_S / 20)
    return number


def receive_udp(sock: socket.socket, partner: int, given: dict[str, Any]) -> dict[str, int]:
    """Count until the sender says that it was all, or nothing has come for a while."""
    size_byte = given["frame_byte"] - _ETHERNET_BYTE - _IP_BYTE - _UDP_BYTE
    filling = pattern(size_byte - _HEAD.size)
    room, frames, wrong, disordered, highest = bytearray(65_536), 0, 0, 0, -1
    view = memoryview(room)
    sock.settimeout(given["duration_s"] + _GRACE_S)
    while True:
        try:
            length = sock.recv_into(room)
        except socket.timeout:
            break
        if length < _HEAD.size:
            wrong += 1
            continue
        source, number, text_byte = _HEAD.unpack_from(room)
        if number == -1 and source == partner:
            break
        if source != partner or text_byte != len(filling) or view[_HEAD.size : length] != filling:
            wrong += 1
            continue
        frames += 1
        disordered += number <= highest
        highest = max(highest, number)
    return {"frames": frames, "byte": frames * size_byte, "wrong": wrong, "disordered": disordered}


def segment_byte(given: dict[str, Any]) -> int:
    """TCP's maximum segment for frames of that length, without the options that each segment has."""
    return int(given["frame_byte"]) - _ETHERNET_BYTE - _IP_BYTE - _TCP_BYTE


def send_tcp(sock: socket.socket, to: tuple[str, int], given: dict[str, Any]) -> int:
    """Send until the time is over; how many bytes."""
    sock.connect(to)
    begun_ns = time.perf_counter_ns()
    end_ns, sent_byte = begun_ns + int(given["duration_s"] * 1e9), 0
    block = pattern(251 * 256)
    while time.perf_counter_ns() < end_ns:
        sock.sendall(block)
        sent_byte += len(block)
        if given["rate_mbps"]:
            pace(begun_ns, sent_byte, given["rate_mbps"])
    sock.shutdown(socket.SHUT_WR)
    sock.recv(1)  # the other end has read all
    sock.close()
    return sent_byte


def receive_tcp(listener: socket.socket, given: dict[str, Any]) -> dict[str, int]:
    """Read to the end."""
    listener.settimeout(given["duration_s"] + 10)
    sock, _ = listener.accept()
    size_byte, wrong = 0, 0
    block = pattern(251 * 256)
    room = bytearray(len(block))
    view = memoryview(room)
    while length := sock.recv_into(room):
        place = size_byte % len(block)
        head = min(length, len(block) - place)
        wrong += view[:head] != block[place : place + head] or view[head:length] != block[: length - head]
        size_byte += length
    sock.close()
    return {"frames": 0, "byte": size_byte, "wrong": wrong, "disordered": 0}


def listening(address: str, given: dict[str, Any]) -> socket.socket:
    """A bound socket; its port goes to its sender."""
    udp = given["transport"] == "udp"
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM_BYTE)
    if not udp:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment_byte(given))
    sock.bind((address, 0))
    if not udp:
        sock.listen(1)
    return sock


def sending(to: tuple[str, int], address: str, rank: int, given: dict[str, Any]) -> int:
    """What the sender's process does."""
    udp = given["transport"] == "udp"
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
    if not udp:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment_byte(given))
    sock.bind((address, 0))
    return send_udp(sock, to, rank, given) if udp else send_tcp(sock, to, given)


def forked(to: tuple[str, int], address: str, rank: int, given: dict[str, Any]) -> tuple[int, int]:
    """Start the sender; (its process, where it will write how much it sent)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.write(writing, str(sending(to, address, rank, given)).encode())
        status = 0
    finally:
        os._exit(status)  # what belongs to MPI is the parent's to end


def main() -> None:
    """Run one rank."""
    given = json.loads(sys.argv[1])
    world = MPI.COMM_WORLD
    rank, partners, addresses = world.rank, given["partners"], given["addresses"]
    listener = listening(addresses[rank], given)
    ports = world.allgather(listener.getsockname()[1])
    to, source = partners[rank], partners.index(rank)
    world.Barrier()
    child, reading = forked((addresses[to], ports[to]), addresses[rank], rank, given) if to != rank else (0, -1)
    got: dict[str, int] = {}
    if source != rank:
        got = receive_udp(listener, source, given) if given["transport"] == "udp" else receive_tcp(listener, given)
    sent = 0
    if child:
        text = os.read(reading, 64)
        os.waitpid(child, 0)
        sent = int(text) if text else -1
    everybody = world.gather({"rank": rank, "source": source, "sent": sent, **got})
    if rank == 0:
        print("pattern", json.dumps({"ranks": everybody}), flush=True)


if __name__ == "__main__":
    main()
