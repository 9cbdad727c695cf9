"""Ping-interval probe: what a pause before an echo does to its round trip, with the kernel's own time stamps.

    echo_probe ADDRESS                                   1,000 echoes after pauses drawn from 0.05 to 100 ms
    echo_probe ADDRESS --gap-us 500:4000 --draw uniform  ... from 0.5 to 4 ms, evenly
    echo_probe ADDRESS --steps-us 500,1000,2000          1,000 echoes at each pause (Miwa 2013, figure 3)

A pause is counted from the arrival of the last answer, or with --since echo from the departure of the last echo, as
`ping -i` counts. The probe waits by spinning: a timer's wake-up would cost as much as what is measured. Prints JSON
lines (agents/stream.py): a header, a row per echo, events, and a summary; Ctrl-C and SIGTERM end it with a summary.
IPv4 only. Needs CAP_NET_RAW, or a group in net.ipv4.ping_group_range, and then does not see others' frames.
"""

from __future__ import annotations

import argparse
import gc
import socket
import time
from collections.abc import Callable, Iterator, Sequence

from eee_testbed.agents.echo.history import COLUMNS, Echo, Tally
from eee_testbed.agents.echo.icmp_socket import MOST_PAYLOAD_BYTE, EchoSocket
from eee_testbed.agents.echo.plan import drawn_ns, duration_s, parse_range, parse_steps, stepped_ns
from eee_testbed.agents.echo.quiet_cpu import QuietCpu
from eee_testbed.agents.echo.stamping import Stamping
from eee_testbed.agents.link_tap import LinkTap
from eee_testbed.agents.netlink import Links
from eee_testbed.agents.stream import AgentError, Arguments, Stop, Stream, start

_MOST_GAP_US = 60e6
_SPIN_ALONE_NS = 20_000
"""This long before an echo is due the probe reads only the clock."""

_WRITE_NS = 400_000
"""A block is written if there is this much time until the next echo; json and a pipe take about half of it."""


_LATE_NS, _LATE_IN_A_ROW = 300_000, 3
"""So many echoes in a row that leave so late: another program occupies the CPU."""


class Prober:
    """Sends echoes after pauses and records the result of each."""

    def __init__(
        self, echoes: EchoSocket, tap: LinkTap | None, stream: Stream, stop: Stop, options: Options, cpu: QuietCpu
    ) -> None:
        self._socket = echoes
        self._tap = tap
        self._stream = stream
        self._stop = stop
        self._options = options
        self._cpu = cpu
        self._late_in_a_row = 0
        self._waiting: dict[int, Echo] = {}
        self._counted_from_ns: int | None = None
        self._last_sent_ns: int | None = None
        self._last_answered_ns: int | None = None
        self._refusal = ""
        """The kernel's error for the last echo; empty if it was sent."""

        self.tally = Tally()

    def run(self, gaps_ns: Iterator[int]) -> None:
        """Send an echo after each gap until they or our time are over."""
        for number, gap_ns in enumerate(gaps_ns):
            request = self._socket.request(number)
            from_ns = self._counted_from_ns
            real_ns = time.time_ns()
            due_ns = (real_ns if from_ns is None else from_ns) + gap_ns
            self._await(time.monotonic_ns() + due_ns - real_ns)
            if self._stop.asked_by:
                break
            self._send(Echo(number, gap_ns, None if from_ns is None else due_ns, time.time_ns()), request)
            if self._options.since == "answer":
                self._take_in_until(lambda number=number: (number & 0xFFFF) not in self._waiting)  # type: ignore[misc]
            else:
                self._take_in()  # its departure is stamped by now, and the next gap counts from it
        self._take_in_until(lambda: not self._waiting)

    def _send(self, echo: Echo, request: bytes) -> None:
        refusal = self._socket.send(echo.number, request)
        echo.last_transmit_ns, echo.last_receive_ns = self._heard_before(echo.before_ns)
        if refusal:
            if refusal != self._refusal:
                self._stream.event("echo refused", number=echo.number, reason=refusal)
            self._finish(echo)
        else:
            self._waiting[echo.number & 0xFFFF] = echo
            if self._options.since == "echo":
                self._counted_from_ns = echo.before_ns
        self._refusal = refusal

    def _await(self, due_ns: int) -> None:
        """Wait until a time of the monotonic clock; meanwhile take in what comes, and write if there is time."""
        while not self._stop.asked_by:
            left_ns = due_ns - time.monotonic_ns()
            if left_ns <= _SPIN_ALONE_NS:
                break
            if self._stream.overdue or (left_ns > _WRITE_NS and self._stream.full):
                self._stream.flush()
            if self._waiting:
                self._take_in()
                continue
            if self._tap is not None:
                self._tap.listen()
            while due_ns - time.monotonic_ns() > _SPIN_ALONE_NS and not self._stop.asked_by:
                pass
        while time.monotonic_ns() < due_ns and not self._stop.asked_by:
            pass

    def _take_in_until(self, done: Callable[[], bool]) -> None:
        while not done():
            self._take_in()

    def _take_in(self) -> None:
        """Record answers and departures that have arrived, and give up echoes without an answer in time."""
        while (answer := self._socket.answer()) is not None:
            sequence, stamps = answer
            echo = self._waiting.get(sequence)
            if echo is None or echo.answered_ns is not None or stamps.software_ns is None:
                self.tally.answered_late += 1
                continue
            echo.answered_ns, echo.answered_hardware_ns = stamps.software_ns, stamps.hardware_ns
            self._last_answered_ns = echo.answered_ns
        while (departure := self._socket.departure()) is not None:
            number, stamps = departure
            echo = self._waiting.get(number & 0xFFFF)
            if echo is not None and echo.number == number:
                echo.sent_ns = stamps.software_ns or echo.sent_ns
                echo.sent_hardware_ns = stamps.hardware_ns or echo.sent_hardware_ns
                self._last_sent_ns = echo.sent_ns
                if self._options.since == "echo" and stamps.software_ns is not None:
                    self._counted_from_ns = stamps.software_ns
        now_ns = time.time_ns()
        for sequence, echo in list(self._waiting.items()):
            late = abs(now_ns - echo.before_ns) > self._options.lost_after_ns  # abs: the clock may be set back
            if late or self._complete(echo):
                del self._waiting[sequence]
                self._finish(echo)

    def _complete(self, echo: Echo) -> bool:
        stamped = echo.sent_ns is not None or not self._options.stamped
        hardware = echo.sent_hardware_ns is not None or echo.answered_hardware_ns is None
        return echo.answered_ns is not None and stamped and hardware

    def _finish(self, echo: Echo) -> None:
        if not self._options.stamped and not self._refusal:
            echo.sent_ns = self._last_sent_ns = echo.before_ns
        if self._options.since == "answer":
            self._counted_from_ns = echo.answered_ns
        self._socket.forget(echo.number)
        self._watch_pace(echo)
        self.tally.count(echo)
        self._stream.row(echo.row())

    def _watch_pace(self, echo: Echo) -> None:
        """Leave a CPU on which echo after echo is late."""
        if echo.sent_ns is None or echo.due_ns is None or echo.sent_ns - echo.due_ns < _LATE_NS:
            self._late_in_a_row = 0
            return
        self._late_in_a_row += 1
        if self._late_in_a_row == _LATE_IN_A_ROW:
            self._late_in_a_row = 0
            left = self._cpu.leave()
            self.tally.moved += left is not None
            if left is not None and self.tally.moved == 1:
                self._stream.event("left a busy CPU", cpu=left, number=echo.number)

    def _heard_before(self, time_ns: int) -> tuple[int | None, int | None]:
        """When the last frame before a time was sent, and when the last one came."""
        if self._tap is None:
            return self._last_sent_ns, self._last_answered_ns
        self._tap.listen()
        return self._tap.last_before(time_ns)


class Options:
    """What the command line says, checked."""

    def __init__(self, words: Sequence[str]) -> None:
        given = _arguments().parse_args(words)
        self.target: str = given.address
        self.since: str = given.since
        self.seed: int = given.seed
        self.payload_byte: int = given.payload_byte
        self.interface: str = given.interface
        self.hardware: bool = given.hardware
        self.output: str = given.output
        self.on_line: bool = given.on_line
        self.cpu: int | None = given.cpu
        self.realtime: int = given.realtime
        self.lost_after_ns = int(given.lost_after_ms * 1e6)
        self.stamped = True
        if not 0 <= self.payload_byte <= MOST_PAYLOAD_BYTE:
            raise AgentError(f"a payload of {self.payload_byte} bytes is not possible: 0 to {MOST_PAYLOAD_BYTE}.", 2)
        if given.count < 1 or given.per_step < 1:
            raise AgentError("no echo would be sent: --count and --per-step are at least 1.", 2)
        if not 0 < given.lost_after_ms <= 10_000:
            raise AgentError("--lost-after-ms is above 0 and at most 10000.", 2)
        if given.steps_us:
            steps_us = parse_steps(given.steps_us, _MOST_GAP_US)
            self.plan = {"steps_us": steps_us, "per_step": given.per_step, "order": given.order}
            self.count = len(steps_us) * given.per_step
            self._gaps: Callable[[], Iterator[int]] = lambda: stepped_ns(
                steps_us, given.per_step, shuffled=given.order == "shuffled", seed=given.seed
            )
        else:
            low_us, high_us = parse_range(given.gap_us, _MOST_GAP_US)
            self.plan = {"low_us": low_us, "high_us": high_us, "draw": given.draw}
            self.count = given.count
            self._gaps = lambda: drawn_ns(low_us, high_us, given.count, log=given.draw == "log", seed=given.seed)

    def gaps_ns(self) -> Iterator[int]:
        """The gaps, from the first on."""
        return self._gaps()


def _arguments() -> argparse.ArgumentParser:
    parser = Arguments(prog="echo_probe", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("address", help="IPv4 address or name of whom to probe")
    add("--count", type=int, default=1_000, help="echoes with random gaps (default %(default)s)")
    add("--gap-us", default="50:100000", metavar="LOW:HIGH", help="range of random gaps (default %(default)s)")
    add("--draw", choices=("log", "uniform"), default="log", help="how gaps are drawn (default %(default)s)")
    add("--steps-us", default="", metavar="STEPS", help="gaps A,B,C or LOW:HIGH:COUNT instead of random ones")
    add("--per-step", type=int, default=1_000, help="echoes at each step (default %(default)s)")
    add("--order", choices=("shuffled", "given"), default="shuffled", help="of the steps (default %(default)s)")
    add("--since", choices=("answer", "echo"), default="answer", help="what a gap counts from (default %(default)s)")
    add("--seed", type=int, default=1, help="of the gaps (default %(default)s)")
    add("--payload-byte", type=int, default=56, help="data behind the ICMP header of 8 bytes (default %(default)s)")
    add("--lost-after-ms", type=float, default=100.0, help="an echo not answered by then is lost (default %(default)s)")
    add("--interface", default="", help="where echoes leave (default: by the routing table)")
    add("--no-hardware", dest="hardware", action="store_false", help="do not ask the card for its own stamps")
    add("--cpu", type=int, default=None, help="run on this CPU alone")
    add("--realtime", type=int, default=0, metavar="PRIORITY", help="run as SCHED_FIFO, if permitted")
    add("--on-line", action="store_true", help="when ready, wait for a line on standard input before the first echo")
    add("--output", default="", metavar="FILE", help="write to a new file instead of standard output")
    return parser


def _address_of(target: str) -> str:
    try:
        return str(socket.getaddrinfo(target, None, socket.AF_INET)[0][4][0])
    except (OSError, UnicodeError):
        raise AgentError(
            f"'{target}' does not resolve to an IPv4 address: give an address or a name that resolves."
        ) from None


def _interface_towards(links: Links, address: str, interface: str) -> str:
    if interface:
        return interface
    try:
        return links.towards(address)
    except OSError as error:
        raise AgentError(f"no route to {address}: {error.strerror}; give --interface or a route.") from None


def main(words: Sequence[str]) -> int:
    """Probe as the command line says."""
    options = Options(words)
    address = _address_of(options.target)
    links = Links()
    interface = _interface_towards(links, address, options.interface)
    try:
        before = links.link(interface)
    except OSError:
        raise AgentError(f"interface {interface} does not exist here: `ip link` lists all.", 2) from None
    stamping = Stamping(interface, hardware=options.hardware)
    options.stamped = stamping.departures
    try:
        cpu = QuietCpu(options.cpu, options.realtime)
        echoes = EchoSocket(address, interface, options.payload_byte, hardware=stamping.hardware)
        tap, weaker = _tap(interface, raw=echoes.raw)
        stop = Stop()
        stream = Stream(options.output)
        stream.header(
            "echo_probe",
            COLUMNS,
            target=options.target,
            address=address,
            payload_byte=options.payload_byte,
            plan={**options.plan, "echoes": options.count, "since": options.since, "seed": options.seed},
            least_duration_s=round(duration_s(options.gaps_ns()), 3),
            lost_after_ns=options.lost_after_ns,
            interface={"name": interface, "mac": before.mac, "mtu_byte": before.mtu_byte, **stamping.card()},
            stamps=stamping.as_dict(),
            socket="raw" if echoes.raw else "datagram",
            cpu=cpu.as_dict(),
            weaker=[*weaker, *stamping.weaker, *cpu.weaker],
        )
        prober = Prober(echoes, tap, stream, stop, options, cpu)
        if options.on_line:
            stop.await_line()
        gc.disable()  # a collection would be a pause; nothing here makes cycles
        prober.run(options.gaps_ns())
    finally:
        stamping.restore()
    after = links.link(interface)
    stream.summary(
        stop.asked_by or "done",
        **prober.tally.as_dict(),
        carrier_changes=after.carrier_changes - before.carrier_changes,
        frames_unheard=None if tap is None else tap.count_missed(),
    )
    return 0


def _tap(interface: str, *, raw: bool) -> tuple[LinkTap | None, list[str]]:
    """A tap if one is permitted, and what is lost without."""
    try:
        return LinkTap(interface), []
    except PermissionError:
        return None, [
            "no CAP_NET_RAW: gaps are counted from the probe's own echoes and answers, other frames are not seen"
            + ("" if raw else "; the kernel chooses the echoes' identifier")
        ]


if __name__ == "__main__":
    start("echo_probe", main)
