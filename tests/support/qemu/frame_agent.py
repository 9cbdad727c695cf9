"""Sends and receives raw frames in network namespaces of the virtual machine, by JSON lines on stdin and stdout.

It imports nothing but the standard library and runs alone in the machine. A question::

    {"hear": [[namespace, interface], ...], "send": [[namespace, interface, hex of a frame], ...], "quiet_s": 0.3}

sends the frames in their order and listens everywhere until nothing was heard for `quiet_s` seconds, or `limit` frames
were. The answer lists what each place heard coming in, of frames with our EtherType, with the VLAN tag of each or 0::

    {"heard": [[namespace, interface, vid, hex of the frame without its tag], ...]}
"""

import ctypes
import errno
import json
import os
import select
import socket
import struct
import sys

ETHERTYPE = 0x88B5  # IEEE 802, for local experiments
_ALL = 3  # ETH_P_ALL
_SOL_PACKET, _PACKET_AUXDATA = 263, 8
_OUTGOING = 4
_VLAN_VALID = 0x10  # TP_STATUS_VLAN_VALID

_libc = ctypes.CDLL(None, use_errno=True)
_sockets: dict[tuple[str, str], socket.socket] = {}


def _socket(namespace: str, interface: str) -> socket.socket:
    """A packet socket that hears everything on an interface; opened once."""
    key = namespace, interface
    if key not in _sockets:
        handle = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
        if _libc.setns(handle, 0):
            raise OSError(ctypes.get_errno(), namespace)
        os.close(handle)
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        made.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_000_000)
        made.bind((interface, _ALL))
        made.setblocking(False)
        _sockets[key] = made
    return _sockets[key]


def _hear(sock: socket.socket) -> tuple[int, bytes] | None:
    """VID and frame; None if it is not one of ours, or one that goes out."""
    frame, ancillary, _, address = sock.recvmsg(2048, 64)
    vid = 0
    for _, _, data in ancillary:
        status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", data[:20])
        vid = tci & 0xFFF if status & _VLAN_VALID else 0
    if frame[12:14] == b"\x81\x00":  # a tag that the kernel left in place
        vid = struct.unpack("!H", frame[14:16])[0] & 0xFFF
        frame = frame[:12] + frame[16:]
    if address[2] == _OUTGOING or frame[12:14] != struct.pack("!H", ETHERTYPE):
        return None
    return vid, frame


def _drain(
    poller: select.epoll, keys: dict[int, tuple[str, str]], quiet_s: float, limit: int
) -> list[tuple[str, str, int, str]]:
    heard: list[tuple[str, str, int, str]] = []
    while len(heard) <= limit and (ready := poller.poll(quiet_s)):
        for handle, _ in ready:
            key = keys[handle]
            while len(heard) <= limit:
                try:
                    found = _hear(_sockets[key])
                except BlockingIOError:
                    break
                except OSError as error:
                    if error.errno != errno.ENETDOWN:  # reported once for an interface that was shut
                        raise
                    continue
                if found:
                    heard.append((*key, found[0], found[1].hex()))
    return heard


def answer(question: dict) -> dict:
    """Send and listen."""
    poller = select.epoll()
    keys = {}
    for namespace, interface in question["hear"]:
        sock = _socket(namespace, interface)
        keys[sock.fileno()] = (namespace, interface)
        poller.register(sock.fileno(), select.EPOLLIN)
    limit = question["limit"]
    _drain(poller, keys, 0, limit)
    heard: list[tuple[str, str, int, str]] = []
    for namespace, interface, frame in question["send"]:
        _socket(namespace, interface).send(bytes.fromhex(frame))
        heard += _drain(poller, keys, 0, limit - len(heard))
    heard += _drain(poller, keys, question["quiet_s"], limit - len(heard))
    return {"heard": heard}


def main() -> None:
    """Answer requests until standard input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
