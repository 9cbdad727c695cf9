"""Does every host reach every other, and does nobody see what is not theirs? Runs alone on a host; one JSON line.

``python3 all_pairs.py '{"host": NAME, "interface": "eth0", "burst": 5, "meet_s": 3, "run": NUMBER, "turns": false,
"hosts": {NAME: ADDRESS, ...}}'`` with the same hosts in the same order on all of them, at about the same time. The
hosts first meet: each sends probes to each other until they are answered, or no new host has been for `meet_s` seconds;
that teaches ARP and the switches. Then each sends `burst` probes to each other host. Whoever gets a probe answers it.
Probes are UDP, which needs no rights: short ones, and long ones in a burst.

Meanwhile each host counts frames that switches should not have sent it: unicast frames of a burst for another host
(floods), and second copies of a frame (loops). A host's first frames may flood, as on any Ethernet, so only bursts
count. Seeing floods needs CAP_NET_RAW. Without it `lacks` says so, and `excess` is the number of long frames that the
NIC counted and nothing here explains. It is 0 if the NIC filters by address itself, and too large if others use the
network meanwhile. With `"turns": true` hosts burst one after the other. Each announces by broadcast when it begins, and
to which hosts it has sent. So a host without that right can name the pair of hosts that floods, too.
"""

from __future__ import annotations

import errno
import json
import selectors
import socket
import struct
import sys
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PORT: Final = 47_802
_PROBE: Final = struct.Struct("!4sQBBHHI")
_MAGIC: Final = b"eeAP"
_MEET, _BURST, _DONE, _HAIL, _MARK = range(5)
_REQUEST, _ANSWER = range(2)
_LONG_BYTE: Final = 600
_HEADS_BYTE: Final = 14 + 20 + 8
_SHORT_BYTE: Final = 60
"""What ARP and short probes take, with headers: near enough to distinguish them from long ones.

A virtual NIC does not pad ARP (42): many such frames, as hosts send for those that are cut off, make `excess` smaller
and can hide a flood. A real NIC pads.
"""

_HAILS: Final = 3
"""Broadcasts of each host: one that comes is enough."""

_AGAIN_S: Final = 0.1
_PACE_S: Final = 0.0005
_TOGETHER_PER_S: Final = 5000
"""Probes of all hosts together: they may share the processors of one machine."""

_SETTLE_S: Final = 0.3
_TURN_S: Final = 1.0
"""Longest that a turn waits for a host that has answered so far: on a busy processor that may take its time."""

_BEGIN, _END = 0xFFFE, 0xFFFF
_SOL_PACKET, _ADD_MEMBERSHIP, _PROMISCUOUS, _OTHER_HOST = 263, 1, 1, 3
_EVERY_PROTOCOL: Final = 3
_RECEIVE_ERRORS: Final = 11
_ERROR: Final = struct.Struct("=4xB11x4x4s8x")
"""What Linux says of an error of a probe: its origin (2: an ICMP message) and the address that sent it."""

_BY_ICMP: Final = 2
_ICMP_BYTE: Final = 20 + 8
"""What an ICMP message takes before the packet that it quotes."""

_FULL: Final = "room for neighbours: raise net.ipv4.neigh.default.gc_thresh3, which namespaces of a machine share"

Seen = tuple[int, int, int, int, int]
"""Phase, kind, sender, receiver, number."""


def pack(run: int, seen: Seen) -> bytes:
    """A probe; requests of a burst are long."""
    return _PROBE.pack(_MAGIC, run, *seen).ljust(_LONG_BYTE if seen[:2] == (_BURST, _REQUEST) else 0, b"\0")


def unpack(run: int, payload: bytes) -> Seen | None:
    """What a probe of this run says; None for anything else."""
    if len(payload) < _PROBE.size:
        return None
    magic, found, *seen = _PROBE.unpack_from(payload)
    return (seen[0], seen[1], seen[2], seen[3], seen[4]) if (magic, found) == (_MAGIC, run) else None


def udp_payload(frame: bytes) -> bytes:
    """The payload of UDP over IPv4, tagged or not; empty if it is something else."""
    at = 12
    while frame[at : at + 2] in {b"\x81\x00", b"\x88\xa8"}:
        at += 4
    ip = at + 2
    if frame[at : at + 2] != b"\x08\x00" or len(frame) < ip + 20 or frame[ip + 9] != socket.IPPROTO_UDP:
        return b""
    return frame[ip + (frame[ip] & 15) * 4 + 8 :]


class Prober:
    """One host's part. Hosts are known by their place in `names`."""

    def __init__(self, own: str, interface: str, run: int, peers: Sequence[tuple[str, str]]) -> None:
        self._run = run
        self._names = [name for name, _ in peers]
        self._addresses = [address for _, address in peers]
        self._own = self._names.index(own)
        self._own_address = socket.inet_aton(self._addresses[self._own])
        self._interface = interface
        self._others = [number for number in range(len(peers)) if number != self._own]
        self._met: set[int] = set()
        self._asked = 0
        self._done: set[int] = set()
        self._phase = _MEET
        self._heard_at = 0.0
        self._copies: Counter[Seen] = Counter()
        self._floods: Counter[tuple[int, int]] = Counter()
        self._passed: Counter[Seen] = Counter()
        self._strangers = 0
        self._taken = self._taken_byte = 0
        self._marked = 0.0
        self._marks: set[tuple[int, int]] = set()
        self._new_marks: list[tuple[int, int]] = []
        self._seen_by: set[tuple[int, int]] = set()
        self._deaf: set[int] = set()
        self._since = self._counters()
        self.lacks: list[str] = []
        self._watched: socket.socket | None = None
        self._selector = selectors.DefaultSelector()
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._udp.bind(("", PORT))
        self._udp.setblocking(False)
        self._selector.register(self._udp, selectors.EVENT_READ, self._take)
        self._senders = [self._open_sender() for _ in peers]
        self._hails = self._open_hails(interface)
        self._watch(interface)

    def _open_sender(self) -> socket.socket:
        """A socket for probes to one peer: what waits for ARP to find a peer that is cut off fills its buffer alone."""
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.setsockopt(socket.IPPROTO_IP, _RECEIVE_ERRORS, 1)  # else a full table drops probes in silence
        sender.setblocking(False)
        self._selector.register(sender, selectors.EVENT_READ, partial(self._take_errors, sender))
        return sender

    def _open_hails(self, interface: str) -> socket.socket | None:
        """A socket for broadcasts, which no route leads to the interface. Before Linux 5.7 it needs CAP_NET_RAW."""
        hails = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        hails.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        try:
            hails.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        except PermissionError:
            hails.close()
            self.lacks.append("CAP_NET_RAW: no broadcast is sent")
            return None
        return hails

    def _watch(self, interface: str) -> None:
        try:
            watched = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERY_PROTOCOL))
        except PermissionError:
            self.lacks.append("CAP_NET_RAW: floods are seen by the NIC's counters only, if at all")
            return
        watched.bind((interface, _EVERY_PROTOCOL))
        request = struct.pack("iHH8s", socket.if_nametoindex(interface), _PROMISCUOUS, 0, b"")
        watched.setsockopt(_SOL_PACKET, _ADD_MEMBERSHIP, request)
        watched.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        watched.setblocking(False)
        self._watched = watched
        self._selector.register(watched, selectors.EVENT_READ, self._see)

    def _counters(self) -> tuple[int, int]:
        """Frames and bytes that the NIC has received."""
        with open("/proc/net/dev", encoding="ascii") as table:  # noqa: PTH123 - one line is wanted, not a path
            for line in table:
                name, _, counters = line.partition(":")
                if name.strip() == self._interface:
                    size_byte, frames = counters.split()[:2]
                    return int(frames), int(size_byte)
        raise SystemExit(f"there is no interface {self._interface} here")

    def _excess(self) -> float:
        """Long frames counted by the NIC and not received here, from the start: short ones weigh nothing."""
        while True:
            now, taken, taken_byte = self._counters(), self._taken, self._taken_byte
            self._take()
            for sender in self._senders:
                self._take_errors(sender)
            if taken == self._taken:
                break
        frames = now[0] - self._since[0] - taken
        size_byte = now[1] - self._since[1] - taken_byte
        return (size_byte - _SHORT_BYTE * frames) / (_LONG_BYTE + _HEADS_BYTE - _SHORT_BYTE)

    def _count_marks(self) -> None:
        """Whatever came in excess since the last mark is of its pair; the sender waits until all have counted it."""
        while self._new_marks:
            sender, to = self._new_marks.pop()
            now = self._excess()
            if self._watched is None and to not in {_BEGIN, _END, self._own}:
                self._floods[sender, to] += round(now - self._marked)
            self._marked = now
            self._send(_MARK, _ANSWER, sender, to)

    def _see(self) -> None:
        """Frames on the wire that are for another host's MAC address."""
        while self._watched:
            try:
                frame, (_, _, kind, *_) = self._watched.recvfrom(2048)
            except BlockingIOError:
                return
            if kind != _OTHER_HOST:
                continue
            seen = unpack(self._run, udp_payload(frame))
            if seen is None:
                self._strangers += 1
                continue
            self._passed[seen] += 1
            if seen[0] == _BURST:
                self._floods[seen[2], seen[3]] += 1

    def _take(self) -> None:
        """Probes for this host; requests are answered."""
        while True:
            try:
                payload, _ = self._udp.recvfrom(2048)
            except BlockingIOError:
                return
            seen = unpack(self._run, payload)
            if seen is None:
                continue
            self._taken += 1
            self._taken_byte += len(payload) + _HEADS_BYTE
            if seen[2] != self._own:  # our own broadcast
                self._note(seen)

    def _take_errors(self, sender: socket.socket) -> None:
        """ICMP messages of a peer that did not listen yet: the NIC has counted them too.

        The socket is ready to be read until somebody takes them, so whoever waits for it would not wait.
        """
        while True:
            try:
                quoted, ancillary, _, _ = sender.recvmsg(2048, 512, socket.MSG_ERRQUEUE)
            except BlockingIOError:
                return
            for level, kind, error in ancillary:
                if (level, kind) != (socket.IPPROTO_IP, _RECEIVE_ERRORS) or len(error) < _ERROR.size:
                    continue
                origin, address = _ERROR.unpack_from(error)
                if origin == _BY_ICMP and address != self._own_address:  # ours say that no peer answers ARP
                    self._taken += 1
                    self._taken_byte += len(quoted) + _HEADS_BYTE + _ICMP_BYTE

    def _note(self, seen: Seen) -> None:
        phase, kind, sender, _, number = seen
        self._copies[seen] += 1
        if sender not in self._done:
            self._heard_at = time.monotonic()
        if phase == _DONE:
            self._done.add(sender)
        elif phase == _MARK:
            if kind == _ANSWER:
                self._seen_by.add((sender, number))
            elif (sender, number) not in self._marks:
                self._marks.add((sender, number))
                self._new_marks.append((sender, number))
        elif phase != _HAIL and kind == _REQUEST:
            self._send(phase, _ANSWER, sender, number)
            if phase == self._phase == _MEET and sender not in self._met:
                self._ask(sender)  # it has come late: no need to wait for our turn
        elif phase == _MEET:
            self._met.add(sender)

    def _send(self, phase: int, kind: int, to: int, number: int) -> None:
        to_all = phase == _HAIL or (phase, kind) == (_MARK, _REQUEST)
        out = self._hails if to_all else self._senders[to]
        address = "255.255.255.255" if to_all else self._addresses[to]
        if out is None:
            return
        probe = pack(self._run, (phase, kind, self._own, to, number))
        for _ in range(2):  # an error may be that of a probe before: the peer did not listen yet
            try:
                out.sendto(probe, (address, PORT))
            except OSError as error:
                if error.errno == errno.ENOBUFS and _FULL not in self.lacks:
                    self.lacks.append(_FULL)
                continue
            return

    def _ask(self, peer: int) -> None:
        """Ask a peer to meet. No two requests have the same number: the second would count as a copy."""
        self._send(_MEET, _REQUEST, peer, self._asked)
        self._asked += 1

    def _fair_s(self, probes: int) -> float:
        """How long so many probes of this host take where all hosts send as many."""
        return probes * len(self._names) / _TOGETHER_PER_S

    def _serve(self, for_s: float) -> None:
        """Take and answer what comes for a while; not longer than until all are done, or have met."""
        until = time.monotonic() + for_s
        while (left_s := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left_s):
                key.data()
            self._count_marks()
            if self._is_over():
                return

    def _is_over(self) -> bool:
        if self._phase == _MEET:
            return len(self._met) == len(self._others)
        return self._phase == _DONE and len(self._done) == len(self._others)

    def meet(self, patience_s: float) -> None:
        """Until every other host has answered, or no new one has for a while: they may start long after each other."""
        known = 0
        until = time.monotonic() + patience_s
        while len(self._met) < len(self._others) and time.monotonic() < until:
            for peer in self._others:
                if peer not in self._met:
                    self._ask(peer)
            self._serve(max(_AGAIN_S, self._fair_s(len(self._others) - len(self._met))))
            if len(self._met) > known:
                known = len(self._met)
                until = time.monotonic() + patience_s
        self._phase = _BURST
        for number in range(_HAILS):
            self._send(_HAIL, _REQUEST, 0, number)

    def burst(self, count: int) -> None:
        """`count` probes to each other host, one host after the other, and time for the last answer."""
        for number in range(count):
            for peer in self._others:
                self._send(_BURST, _REQUEST, peer, number)
                self._serve(self._fair_s(1))
        until = time.monotonic() + _SETTLE_S
        while time.monotonic() < until and self._answers() < count * len(self._others):
            self._serve(_AGAIN_S / 5)

    def burst_in_turns(self, count: int) -> None:
        """As `burst`, when those before in the list have ended, to one host at a time."""
        for turn in range(len(self._names)):
            if turn != self._own:
                self._sit_out(turn)
                continue
            self._announce(_BEGIN)  # what came before, while hosts met, is of no pair
            for peer in self._others:
                answered = self._answers()
                for number in range(count):
                    self._send(_BURST, _REQUEST, peer, number)
                until = time.monotonic() + (_TURN_S if peer in self._met else _SETTLE_S)
                while self._answers() < answered + count and time.monotonic() < until:
                    self._serve(_PACE_S)
                self._announce(peer)
            self._announce(_END)

    def _sit_out(self, turn: int) -> None:
        """Serve until a host says that its turn is over, or has said nothing for as long as it may wait twice."""
        known = -1
        while (turn, _END) not in self._marks:
            now = sum(1 for sender, _ in self._marks if sender == turn)
            if now > known:
                known, until = now, time.monotonic() + 3 * _TURN_S
            elif time.monotonic() > until:
                return
            self._serve(_PACE_S)

    def _announce(self, number: int) -> None:
        """Broadcast a mark, and wait until all have counted up to it: what is sent later is of the next.

        A host that has not counted in time is not waited for again; what it reports of a pair may be the next one's.
        """
        self._send(_MARK, _REQUEST, 0, number)
        until = time.monotonic() + _TURN_S
        while (left := self._uncounted(number)) and time.monotonic() < until:
            self._serve(_PACE_S)
        self._deaf |= left
        self._marked = self._excess()

    def _uncounted(self, number: int) -> set[int]:
        return {peer for peer in self._others if peer not in self._deaf and (peer, number) not in self._seen_by}

    def _answers(self) -> int:
        return sum(1 for seen in self._copies if seen[:2] == (_BURST, _ANSWER))

    def linger(self, patience_s: float) -> None:
        """Answer the others until all of them are done, or those who are not have been silent for a while."""
        self._phase = _DONE
        self._heard_at = time.monotonic()
        turn = 0
        while True:
            for peer in self._others:
                self._send(_DONE, _REQUEST, peer, turn)
            turn += 1
            if len(self._done) == len(self._others) or time.monotonic() >= self._heard_at + patience_s:
                return
            self._serve(max(_AGAIN_S, self._fair_s(len(self._others))))

    def report(self, count: int) -> dict[str, object]:
        """What this host saw; `heard` are different probes that came from a host, `answered` those that came back."""
        heard, answered, twice = Counter[str](), Counter[str](), Counter[str]()
        hailed: set[str] = set()
        for (phase, kind, sender, _, _), copies in self._copies.items():
            name = self._names[sender]
            twice[name] += copies - 1
            heard[name] += phase == _BURST and kind == _REQUEST
            answered[name] += phase == _BURST and kind == _ANSWER
            if phase == _HAIL:
                hailed.add(name)
        for (_, _, sender, _, _), copies in self._passed.items():
            twice[self._names[sender]] += copies - 1
        return {
            "host": self._names[self._own],
            "burst": count,
            "lacks": self.lacks,
            "heard": {self._names[peer]: heard[self._names[peer]] for peer in self._others},
            "answered": {self._names[peer]: answered[self._names[peer]] for peer in self._others},
            "copies": {name: copies for name, copies in twice.items() if copies},
            "floods": [
                {"sender": self._names[sender], "receiver": self._names[to], "frames": frames}
                for (sender, to), frames in sorted(self._floods.items())
                if self._watched or 2 * frames >= count  # a frame or two may be somebody else's
            ],
            "excess": 0 if self._watched else max(0, round(self._excess())),
            "hails": 0 if self._hails is None else _HAILS,
            "hailed": sorted(hailed),
            "strangers": self._strangers,
        }


def main() -> None:
    """Take part, and print the report."""
    given = json.loads(sys.argv[1])
    prober = Prober(given["host"], given["interface"], given["run"], list(given["hosts"].items()))
    prober.meet(given["meet_s"])
    (prober.burst_in_turns if given["turns"] else prober.burst)(given["burst"])
    prober.linger(1.5 * given["meet_s"] + 1.0)  # longer than anybody may still be waiting to meet somebody
    json.dump(prober.report(given["burst"]), sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
