"""Lets a virtual switch answer on port 22 of its own loopback address beside the machine's sshd.

A listener on ``0.0.0.0:22`` owns port 22 of every local address, so nothing else can bind ``127.18.1.1:22``. Linux
lets a small BPF program choose the listening socket for a new connection (BPF_PROG_TYPE_SK_LOOKUP, since 5.9;
kernel documentation, ``Documentation/bpf/prog_sk_lookup.rst``). This one looks the connection's (address, port) up in
a table of listeners that are really bound to another port, and leaves every other connection alone. The program lives
as long as the process and its `Steering`: after a crash nothing is left.

Only TCP: a UDP answer would leave from the port that the socket is really bound to.
"""

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

_SYS_BPF: Final = {"x86_64": 321, "aarch64": 280}

# enum bpf_cmd, bpf_map_type, bpf_prog_type, bpf_attach_type of linux/bpf.h
_MAP_CREATE, _MAP_UPDATE_ELEM, _PROG_LOAD, _LINK_CREATE = 0, 2, 5, 28
_MAP_TYPE_SOCKHASH, _PROG_TYPE_SK_LOOKUP, _ATTACH_SK_LOOKUP = 18, 30, 36
_FUNC_MAP_LOOKUP, _FUNC_SK_RELEASE, _FUNC_SK_ASSIGN = 1, 86, 124
# offsets in struct bpf_sk_lookup
_CTX_FAMILY, _CTX_PROTOCOL, _CTX_LOCAL_IP4, _CTX_LOCAL_PORT = 8, 12, 40, 60


class SteeringUnavailable(OSError):
    """This kernel (or this user) cannot load the program."""


def _bpf(command: int, attributes: bytes) -> int:
    number = _SYS_BPF.get(os.uname().machine)
    if number is None:
        raise SteeringUnavailable(f"no bpf system call number is known for {os.uname().machine}")
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, max(len(attributes), 128))
    result = libc.syscall(number, command, buffer, len(buffer))
    if result < 0:
        error = ctypes.get_errno()
        raise SteeringUnavailable(error, os.strerror(error))
    return int(result)


def _instruction(opcode: int, dst: int = 0, src: int = 0, offset: int = 0, immediate: int = 0) -> bytes:
    return struct.pack("<BBhi", opcode, dst | src << 4, offset, immediate)


def _key(address: str, port: int) -> bytes:
    """As the program builds it: address in network order, port and protocol in host order."""
    return socket.inet_aton(address) + struct.pack("=HH", port, socket.IPPROTO_TCP)


def _program(table_fd: int) -> bytes:
    """R6 context; table key at R10-8; on a hit the connection is assigned to the socket found."""
    load_w, store_w, store_h = 0x61, 0x63, 0x6B
    body = [
        _instruction(load_w, 2, 6, _CTX_LOCAL_IP4),
        _instruction(store_w, 10, 2, -8),
        _instruction(load_w, 2, 6, _CTX_LOCAL_PORT),
        _instruction(store_h, 10, 2, -4),
        _instruction(load_w, 2, 6, _CTX_PROTOCOL),
        _instruction(store_h, 10, 2, -2),
        _instruction(0x18, 1, 1, 0, table_fd) + _instruction(0),  # R1 = table (BPF_PSEUDO_MAP_FD)
        _instruction(0xBF, 2, 10),
        _instruction(0x07, 2, 0, 0, -8),  # R2 = &key
        _instruction(0x85, immediate=_FUNC_MAP_LOOKUP),
        _instruction(0x15, 0, 0, 7, 0),  # no such listener: pass
        _instruction(0xBF, 7, 0),
        _instruction(0xBF, 1, 6),
        _instruction(0xBF, 2, 7),
        _instruction(0xB7, 3),
        _instruction(0x85, immediate=_FUNC_SK_ASSIGN),
        _instruction(0xBF, 1, 7),
        _instruction(0x85, immediate=_FUNC_SK_RELEASE),
        _instruction(0xB7, 0, immediate=1),  # SK_PASS
        _instruction(0x95),
    ]
    code = b"".join(body)
    to_pass = (len(code) - 2 * 8) // 8  # skip the body when the connection is not IPv4
    head = [
        _instruction(0xBF, 6, 1),
        _instruction(load_w, 2, 6, _CTX_FAMILY),
        _instruction(0x55, 2, 0, to_pass, socket.AF_INET),
    ]
    return b"".join(head) + code


class Steering:
    """Connections to ``(address, port)`` reach the given listening sockets, whatever they are bound to.

    `listeners` maps (IPv4 address, port) to the descriptor of a listening TCP socket of this network namespace. The
    sockets may be closed later: the kernel removes them by itself. Raises `SteeringUnavailable`.
    """

    def __init__(self, listeners: Mapping[tuple[str, int], int]) -> None:
        self._descriptors: list[int] = []
        try:
            self._open(listeners)
        except OSError:
            self.close()
            raise

    def _open(self, listeners: Mapping[tuple[str, int], int]) -> None:
        create = struct.pack("=IIII", _MAP_TYPE_SOCKHASH, 8, 8, max(len(listeners), 1))
        table = self._own(_bpf(_MAP_CREATE, create))
        for (address, port), descriptor in listeners.items():
            key = ctypes.create_string_buffer(_key(address, port), 8)
            value = ctypes.create_string_buffer(struct.pack("=Q", descriptor), 8)
            update = struct.pack("=IxxxxQQQ", table, ctypes.addressof(key), ctypes.addressof(value), 0)
            _bpf(_MAP_UPDATE_ELEM, update)
        code = ctypes.create_string_buffer(_program(table))
        licence = ctypes.create_string_buffer(b"Apache-2.0")
        load = bytearray(128)
        struct.pack_into(
            "=IIQQ",
            load,
            0,
            _PROG_TYPE_SK_LOOKUP,
            (len(code) - 1) // 8,
            ctypes.addressof(code),
            ctypes.addressof(licence),
        )
        struct.pack_into("=I", load, 68, _ATTACH_SK_LOOKUP)
        program = self._own(_bpf(_PROG_LOAD, bytes(load)))
        namespace = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._own(_bpf(_LINK_CREATE, struct.pack("=IIII", program, namespace, _ATTACH_SK_LOOKUP, 0)))
        finally:
            os.close(namespace)

    def _own(self, descriptor: int) -> int:
        self._descriptors.append(descriptor)
        os.set_inheritable(descriptor, False)
        return descriptor

    def close(self) -> None:
        """Stop steering; idempotent."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _wildcard_listens(port: int) -> bool:
    """Whether some socket of this network namespace listens on `port` of every address (proc(5), net/tcp)."""
    wildcards = {f"{'0' * 8}:{port:04X}", f"{'0' * 32}:{port:04X}"}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except FileNotFoundError:  # IPv6 switched off
            continue
        if any((fields := row.split())[1] in wildcards and fields[3] == "0A" for row in rows):
            return True
    return False


def listen_tcp(address: str, port: int) -> tuple[socket.socket, Steering | None]:
    """Return a socket that gets the connections to ``address:port``, and the `Steering` if one was needed.

    Raises OSError (EADDRINUSE) when another program listens on this very address, or when the machine's own service
    owns the port on every address and the kernel cannot steer.
    """
    try:
        return socket.create_server((address, port)), None
    except OSError as error:
        if error.errno != errno.EADDRINUSE or not _wildcard_listens(port):
            raise
        listener = socket.create_server((address, 0))
        try:
            return listener, Steering({(address, port): listener.fileno()})
        except SteeringUnavailable:
            listener.close()
            raise error from None
