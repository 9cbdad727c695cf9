"""The idle-gap recorder: bins, a reference of its own, and what it sees beside what the kernel counts."""

import json
import re
import signal
import struct
import sys
import time
from collections.abc import Callable
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.agents.gap_histogram import GapHistogram, busy_ns, lower_edges_ns
from eee_testbed.agents.packet_ring import frames_in
from tests.support.laws import law
from tests.support.measured.gap_bins import bin_of
from tests.support.nodes.agent_nodes import NOBODY, Pair, Run, Running

Start = Callable[..., Running]
SENTENCE = re.compile(r"idle_gaps: [^\n]+\.\n")
EDGES = lower_edges_ns()


def test_edges_rise_by_an_eighth_at_most() -> None:
    for low, high in pairwise(EDGES):
        assert low < high
        assert low < 8 or (high - low) * 8 <= low


def test_time_on_the_wire() -> None:
    """64 bytes and preamble and gap at 1 Gb/s: 672 ns; a full frame 12,304 ns; 64,000 bytes in 43 frames."""
    assert busy_ns(46, 1_000) == busy_ns(0, 1_000) == 672
    assert busy_ns(1_500, 1_000) == (1_500 + 38) * 8
    assert busy_ns(64_000, 10_000) == (64_000 + 43 * 38) * 8 // 10


FRAMES = st.lists(st.tuples(st.integers(0, 40_000), st.integers(20, 3_000), st.booleans()), max_size=40)


def _reference(frames: list[tuple[int, int, bool]], rate_mbps: int | None) -> dict[bool, list[int]]:
    """Gaps of each direction from the busy intervals themselves; a frame that waits begins when the link is free."""
    gaps: dict[bool, list[int]] = {True: [], False: []}
    for outgoing in (True, False):
        busy: list[tuple[int, int]] = []
        for at, size, direction in frames:
            if direction is not outgoing:
                continue
            length = 0 if rate_mbps is None else busy_ns(size, rate_mbps)
            if outgoing:
                begin = max(at, busy[-1][1]) if busy else at
                busy.append((begin, begin + length))
            else:
                busy.append((at - length, max(at, busy[-1][1]) if busy else at))
        gaps[outgoing] = [max(0, b[0] - a[1]) for a, b in pairwise(busy)]
    return gaps


@law(150)
@given(steps=FRAMES, rate_mbps=st.sampled_from([None, 100, 1_000, 10_000]), cut=st.integers(0, 40))
def test_the_histogram_is_that_of_the_idle_times(
    steps: list[tuple[int, int, bool]], rate_mbps: int | None, cut: int
) -> None:
    at = 1_700_000_000_000_000_000
    frames = []
    for step, size, outgoing in steps:
        at += step
        frames.append((at, size, outgoing))
    packed = [(at // 10**9, at % 10**9, size, 4 if outgoing else 0) for at, size, outgoing in frames]
    histogram = GapHistogram(rate_mbps)
    histogram.add(packed[:cut])
    histogram.add(packed[cut:])
    expected = _reference(frames, rate_mbps)
    for outgoing, direction in ((True, histogram.transmit), (False, histogram.receive)):
        count, size_byte, busy, idle_ns, filled = direction.take()
        own = [frame for frame in frames if frame[2] is outgoing]
        assert (count, size_byte) == (len(own), sum(size for _, size, _ in own))
        assert busy == (0 if rate_mbps is None else sum(busy_ns(size, rate_mbps) for _, size, _ in own))
        assert idle_ns == sum(expected[outgoing])
        bins: dict[int, int] = {}
        for gap in expected[outgoing]:
            bins[bin_of(gap)] = bins.get(bin_of(gap), 0) + 1
        assert filled == [[number, bins[number]] for number in sorted(bins)]
        assert direction.take()[0] == 0


@given(
    steps=st.lists(st.integers(0, 50), min_size=1, max_size=20),
    cut=st.integers(0, 20),
    since_ns=st.integers(1, 500),
    back_ns=st.integers(0, 1_000),
)
def test_frames_from_before_the_recording_are_not_of_it(
    steps: list[int], cut: int, since_ns: int, back_ns: int
) -> None:
    """The gap after them would be longer than what was recorded. A clock that is set back later drops nothing."""
    stamps_ns = list(accumulate(steps))
    histogram = GapHistogram(None, since_ns)
    for part in (stamps_ns[:cut], stamps_ns[cut:]):
        histogram.add([(0, stamp_ns, 100, 4) for stamp_ns in part])
    recorded_ns = [stamp_ns for stamp_ns in stamps_ns if stamp_ns >= since_ns]
    if recorded_ns:
        histogram.add([(0, max(recorded_ns[-1] - back_ns, 0), 100, 4)])
    frames, _, _, idle_ns, _ = histogram.transmit.take()
    assert frames == (len(recorded_ns) + 1 if recorded_ns else 0)
    assert idle_ns == (recorded_ns[-1] - recorded_ns[0] if recorded_ns else 0)


@pytest.mark.slow
def test_gaps_of_a_millisecond_are_seen_as_such(pair: Pair, run_agent: Run, start_agent: Start) -> None:
    recorder = start_agent(pair.a, "idle_gaps", pair.a.interface, "--every-s", "60", "--rate-mbps", "1000")
    header = json.loads(recorder.line())
    words = ("--gap-us", "1000:1000", "--count", "300", "--since", "echo")
    probed = run_agent(pair.a, "echo_probe", pair.b.address, *words).recording
    recorder.signal(signal.SIGINT)  # the last frames are in a block that the kernel has not handed over yet
    ended = recorder.ended()
    told = ended.recording
    assert (ended.status, told.summary["ended_by"], told.summary["frames_dropped"]) == (0, "SIGINT", 0)
    assert sum(told.column("transmit_frames")) == sum(told.column("receive_frames")) == 300
    assert sum(told.column("transmit_byte")) == 300 * (20 + 64)
    assert sum(told.column("transmit_busy_ns")) == 300 * (20 + 64 + 38) * 8
    edges = header["lower_edges_ns"]
    bins: dict[int, int] = {}
    for row in told.column("transmit_gaps"):
        for number, count in row:
            bins[number] = bins.get(number, 0) + count
    assert sum(bins.values()) == 299
    sent = probed.column("sent_ns")
    true_gaps = sorted(after - before for before, after in pairwise(sent))
    seen_median = next(n for n in sorted(bins) if sum(bins[m] for m in bins if m <= n) > 149)
    assert edges[seen_median - 1] <= true_gaps[149] <= edges[seen_median + 2]


_SURE_NS = 300_000
"""Between the probe's own stamp of a frame and the ring's."""


@pytest.mark.slow
def test_a_frame_is_of_the_row_in_which_it_was_stamped(pair: Pair, run_agent: Run, start_agent: Start) -> None:
    """Although the kernel hands it over up to 100 ms later."""
    recorder = start_agent(pair.a, "idle_gaps", pair.a.interface, "--every-s", "0.02")
    recorder.line()
    words = ("--gap-us", "5000:15000", "--count", "60", "--since", "echo")
    sent_ns = run_agent(pair.a, "echo_probe", pair.b.address, *words).recording.column("sent_ns")
    recorder.signal(signal.SIGTERM)
    told = recorder.ended().recording
    starts, ends, counts = (told.column(name) for name in ("start_ns", "end_ns", "transmit_frames"))
    assert starts[1:] == ends[:-1]
    assert sum(counts) == 60
    assert sum(map(bool, counts)) > 20
    for start_ns, end_ns, count in zip(starts, ends, counts, strict=True):
        surely = sum(start_ns + _SURE_NS <= one < end_ns - _SURE_NS for one in sent_ns)
        perhaps = sum(start_ns - _SURE_NS <= one < end_ns + _SURE_NS for one in sent_ns)
        assert surely <= count <= perhaps


@pytest.mark.slow
def test_rows_get_longer_as_the_recording_does(pair: Pair, run_agent: Run) -> None:
    words = ("--every-s", "0.01", "--share", "0.1", "--seconds", "1")
    told = run_agent(pair.a, "idle_gaps", pair.a.interface, *words).recording
    starts, ends = told.column("start_ns"), told.column("end_ns")
    lengths = [end_ns - start_ns for start_ns, end_ns in zip(starts, ends, strict=True)][:-1]
    assert lengths == sorted(lengths)
    for start_ns, length_ns in zip(starts, lengths, strict=False):
        assert length_ns == pytest.approx(max(1e7, 0.1 * (start_ns - starts[0])), abs=2)
    assert len(lengths) < 60


_FLOOD = (
    "import socket, sys\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "for _ in range(int(sys.argv[2])): s.sendto(b'x' * 64, (sys.argv[1], 9))"
)


@pytest.mark.slow
def test_what_is_seen_and_what_is_dropped_is_what_the_kernel_sent(own_pair: Pair, start_agent: Start) -> None:
    """Stopped while 120,000 frames go, with a ring for some 10,000."""
    a, b = own_pair.a, own_pair.b
    b.run("ip", "link", "set", b.interface, "arp", "off")  # nobody asks anything meanwhile
    b.sysctl("net.ipv4.icmp_ratelimit", "0")

    def sent() -> int:
        return int(json.loads(a.ip("-s", "link", "show", a.interface))[0]["stats64"]["tx"]["packets"])

    recorder = start_agent(a, "idle_gaps", a.interface, "--every-s", "0.3", "--ring-mibyte", "1")
    recorder.line_with('"rows"')
    before = sent()
    a.run(sys.executable, "-c", _FLOOD, b.address, "3000")
    recorder.signal(signal.SIGSTOP)
    a.run(sys.executable, "-c", _FLOOD, b.address, "120000")
    recorder.signal(signal.SIGCONT)
    after, continued_ns = sent(), time.time_ns()
    while json.loads(recorder.line_with('"rows"'))["rows"][-1][0] < continued_ns:
        pass  # until a whole interval has passed since
    recorder.signal(signal.SIGTERM)
    told = recorder.ended().recording
    seen = sum(told.column("transmit_frames"))
    received = sum(told.column("receive_frames"))
    dropped = sum(told.column("frames_dropped"))
    assert dropped == told.summary["frames_dropped"] > 0
    assert seen >= 3_000
    assert seen <= after - before <= seen + dropped
    assert seen + received + dropped >= after - before


def _block(frames: list[tuple[int, int, int, int]], rooms: list[int]) -> bytes:
    """Frames as the kernel lays them out: struct tpacket3_hdr, struct sockaddr_ll, room to the next."""
    data = b""
    for number, ((seconds, rest_ns, size, kind), room) in enumerate(zip(frames, rooms, strict=True)):
        following = 0 if number == len(frames) - 1 else room
        header = struct.pack("=6I2H20x", following, seconds, rest_ns, 1, size, 0, 96, 96)
        address = struct.pack("=HHiHBB8x", 17, 8, 2, 1, kind, 6)
        data += (header + address).ljust(room, b"\xff")
    return data


@given(
    frames=st.lists(st.tuples(*[st.integers(0, 2**32 - 1)] * 3, st.integers(0, 7)), min_size=1, max_size=9),
    uniform=st.booleans(),
    data=st.data(),
)
def test_frames_of_a_block(frames: list[tuple[int, int, int, int]], *, uniform: bool, data: st.DataObject) -> None:
    """All of one size are read at once, others one by one; what comes after the block's end is not read."""
    rooms = [112] * len(frames) if uniform else [data.draw(st.sampled_from([96, 112])) for _ in frames]
    block = _block(frames, rooms)
    assert list(frames_in(memoryview(block + b"\xff" * 500), len(frames), len(block))) == frames


def test_it_ends_by_itself_and_tells_what_it_cost(pair: Pair, run_agent: Run) -> None:
    told = run_agent(pair.a, "idle_gaps", "lo", "--seconds", "0.5", "--every-s", "0.2").recording
    assert told.summary["ended_by"] == "done"
    assert told.summary["took_s"] >= 0.5
    assert 0 < told.summary["cpu_s"] < 10
    assert 1 <= len(told.rows) <= 4
    starts, ends = told.column("start_ns"), told.column("end_ns")
    assert starts[1:] == ends[:-1], "no time is left out"
    assert any("rate is unknown" in one for one in told.header["weaker"]), "a loopback has no rate"


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("nosuch0",), 2, "interface nosuch0 does not exist"),
        ((), 2, "interface"),
        (("lo", "--every-s", "0.001"), 2, "--every-s"),
        (("lo", "--seconds", "-1"), 2, "--seconds"),
        (("lo", "--ring-mibyte", "0"), 2, "--ring-mibyte"),
        (("lo", "--cpu", "4096"), 2, "CPU 4096"),
        (("lo", "--output", "/dev/null"), 2, "cannot write to a new file"),
    ],
)
def test_wrong_use_is_one_sentence(pair: Pair, run_agent: Run, words: tuple[str, ...], status: int, says: str) -> None:
    ended = run_agent(pair.a, "idle_gaps", *words)
    assert ended.status == status, ended
    assert SENTENCE.fullmatch(ended.errors), ended.errors
    assert says in ended.errors


def test_without_cap_net_raw_it_says_so(pair: Pair, run_agent: Run) -> None:
    nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    ended = run_agent(pair.a, "idle_gaps", pair.a.interface, prefix=nobody)
    assert ended.status == 1
    assert SENTENCE.fullmatch(ended.errors)
    assert "CAP_NET_RAW" in ended.errors
    raw = ["--inh-caps=+net_raw", "--ambient-caps=+net_raw"]
    ended = run_agent(pair.a, "idle_gaps", pair.a.interface, "--seconds", "0.3", prefix=[*nobody, *raw])
    assert ended.status == 0, ended.errors
