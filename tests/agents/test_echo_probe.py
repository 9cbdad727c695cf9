"""The probe between two namespaces: what it records, how it ends, what it refuses."""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eee_testbed.agents.pack import packed
from eee_testbed.agents.recording import read_stream
from tests.support import ROOT
from tests.support.nodes.agent_nodes import NOBODY, PATIENCE_S, Node, Pair, Run, Running
from tests.support.waiting import eventually

pytestmark = pytest.mark.alone
Start = Callable[..., Running]
SENTENCE = re.compile(r"echo_probe: [^\n]+\.\n")
MS = 1_000_000


@contextmanager
def slow_answers(node: Node, *delays_ms: int) -> Iterator[None]:
    """The node's kernel answers no echo, a program does."""
    node.sysctl("net.ipv4.icmp_echo_ignore_all", "1")
    argv = node.inside(sys.executable, str(ROOT / "tests/support/nodes/slow_responder.py"), *map(str, delays_ms))
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            yield
        finally:
            child.kill()
            node.sysctl("net.ipv4.icmp_echo_ignore_all", "0")


def test_every_echo_is_a_row_with_its_true_gaps(pair: Pair, run_agent: Run) -> None:
    ended = run_agent(pair.a, "echo_probe", pair.b.address, "--count", "200", "--gap-us", "100:2000", "--seed", "7")
    assert (ended.status, ended.errors) == (0, "")
    told = ended.recording
    assert told.column("number") == list(range(200))
    assert not told.cut
    assert told.summary["ended_by"] == "done"
    assert (told.summary["echoes_sent"], told.summary["echoes_lost"], told.summary["frames_unheard"]) == (200, 0, 0)
    sent, rtt = told.column("sent_ns"), told.column("rtt_ns")
    assert all(0 < one < 1_000 * MS for one in rtt)
    assert all(before < after for before, after in itertools.pairwise(sent))
    idle_receive, idle_transmit = told.column("idle_receive_ns"), told.column("idle_transmit_ns")
    for n in range(1, 200):
        assert idle_receive[n] == sent[n] - (sent[n - 1] + rtt[n - 1]), "the tap hears the answer when we do"
        assert idle_receive[n] == told.column("wanted_ns")[n] + told.column("late_ns")[n]
        assert abs(idle_transmit[n] - (sent[n] - sent[n - 1])) < MS, "the tap hears an echo just before the driver"
    assert all(100_000 <= wanted <= 2_000_000 for wanted in told.column("wanted_ns"))
    assert all(late >= 0 for late in told.column("late_ns")[1:]), "never early"


def test_the_header_says_units_kernel_card_and_clock(pair: Pair, run_agent: Run) -> None:
    header = run_agent(pair.a, "echo_probe", pair.b.address, "--count", "1", "--payload-byte", "100").recording.header
    for column in header["columns"]:
        suffix = column["name"].rpartition("_")[2]
        assert column["unit"] == (suffix if suffix == "ns" else ""), column
        assert column["means"]
    assert header["node"]["kernel"] == os.uname().release
    assert header["node"]["clock"]["name"] == "CLOCK_REALTIME"
    assert (header["interface"]["name"], header["interface"]["driver"]) == (pair.a.interface, "veth")
    assert header["stamps"] == {"used": "kernel", "departures": "kernel", "card_can": False, "card_clock": None}
    assert (header["socket"], header["payload_byte"]) == ("raw", 100)


def test_frames_of_others_end_a_gap(pair: Pair, run_agent: Run) -> None:
    """Somebody else's datagrams each 2 ms: no gap of 20 ms stays as long as it was wanted."""
    code = (
        "import socket, sys, time\nwith socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:\n"
        f" while True: s.sendto(b'', ('{pair.b.address}', 9)); time.sleep(0.002)"
    )
    with subprocess.Popen(pair.a.inside(sys.executable, "-c", code)) as chatter:
        try:
            ended = run_agent(pair.a, "echo_probe", pair.b.address, "--count", "20", "--gap-us", "20000:20000")
        finally:
            chatter.kill()
    told = ended.recording
    idle = sorted(told.column("idle_transmit_ns"))
    assert idle[len(idle) // 2] < 15 * MS
    sent = told.column("sent_ns")
    assert min(after - before for before, after in itertools.pairwise(sent)) >= 20 * MS


def test_steps_are_taken_n_times_each_in_a_drawn_order(pair: Pair, run_agent: Run) -> None:
    words = (pair.b.address, "--steps-us", "300,500,900,1100,1500", "--per-step", "4")
    told = run_agent(pair.a, "echo_probe", *words, "--seed", "3").recording
    wanted = told.column("wanted_ns")
    steps = wanted[::4]
    assert sorted(steps) == [300_000, 500_000, 900_000, 1_100_000, 1_500_000]
    assert wanted == [step for step in steps for _ in range(4)]
    assert steps != sorted(steps)
    assert told.header["plan"]["echoes"] == 20
    again = run_agent(pair.a, "echo_probe", *words, "--order", "given").recording
    assert again.column("wanted_ns")[::4] == [300_000, 500_000, 900_000, 1_100_000, 1_500_000]


def test_gaps_from_echo_to_echo_do_not_wait_for_answers(pair: Pair, run_agent: Run) -> None:
    """Answers take 15 or 3 ms and overtake each other; an echo leaves each 2 ms all the same."""
    with slow_answers(pair.b, 15, 3, 3):
        words = (pair.b.address, "--count", "30", "--gap-us", "2000:2000", "--since", "echo")
        told = run_agent(pair.a, "echo_probe", *words).recording
    rtt = dict(zip(told.column("number"), told.column("rtt_ns"), strict=True))
    assert sorted(rtt) == list(range(30))
    assert all(rtt[n] >= (15 if n % 3 == 0 else 3) * MS for n in rtt)
    sent = sorted(told.column("sent_ns"))
    gaps = sorted(after - before for before, after in itertools.pairwise(sent))
    assert gaps[0] >= 2 * MS
    assert gaps[len(gaps) // 2] < 12 * MS, "they did not wait for the slow answers"
    assert told.column("number") != sorted(told.column("number")), "rows come as echoes are done with"


def test_lost_and_late_answers_are_told(pair: Pair, run_agent: Run) -> None:
    """Of three echoes one is answered at once, one never, one after the probe gave it up."""
    with slow_answers(pair.b, 0, -1, 400):
        words = (pair.b.address, "--count", "6", "--gap-us", "250000:250000", "--lost-after-ms", "250")
        told = run_agent(pair.a, "echo_probe", *words).recording
    rtt = told.column("rtt_ns")
    assert [one is None for one in rtt] == [False, True, True, False, True, True]
    assert None not in told.column("sent_ns")
    assert told.column("late_ns")[2] is None, "nobody knows what the gap after a lost echo counts from"
    assert (told.summary["echoes_sent"], told.summary["echoes_lost"]) == (6, 4)
    assert told.summary["answers_too_late"] >= 1


def test_a_link_that_goes_away_and_comes_back_is_told(own_pair: Pair, start_agent: Start) -> None:
    a, b = own_pair.a, own_pair.b
    words = (b.address, "--count", "100000", "--gap-us", "3000:3000", "--lost-after-ms", "20")
    probe = start_agent(a, "echo_probe", *words)
    probe.line_with('"rows"')
    a.run("ip", "link", "set", a.interface, "down")
    event = probe.line_with("echo refused")
    assert "unreachable" in event
    a.run("ip", "link", "set", a.interface, "up")
    for _ in range(3):
        probe.line_with('"rows"')
    probe.signal(signal.SIGTERM)
    ended = probe.ended()
    told = ended.recording
    assert ended.status == 0
    assert told.summary["echoes_unsent"] > 0
    assert told.summary["carrier_changes"] >= 2
    assert told.column("rtt_ns")[-1] is not None, "it goes on when the link is back"
    assert len([one for one in told.events if one["what"] == "echo refused"]) < 10, "said once, not for each"


def _echoes_received(pair: Pair) -> int:
    names, values = (line.split() for line in pair.b.run("cat", "/proc/net/snmp").splitlines() if line[:5] == "Icmp:")
    return int(values[names.index("InEchos")])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_with_a_summary(pair: Pair, start_agent: Start, number: signal.Signals) -> None:
    before = _echoes_received(pair)
    probe = start_agent(pair.a, "echo_probe", pair.b.address, "--count", "100000", "--gap-us", "1000:60000000")
    assert '"header"' in probe.line()
    eventually("an echo has been sent", lambda: _echoes_received(pair) > before)
    probe.signal(number)
    ended = probe.ended()
    assert (ended.status, ended.errors) == (0, "")
    told = ended.recording
    assert told.summary["ended_by"] == number.name
    assert len(told.rows) == told.summary["echoes_sent"]


def test_killed_half_way_it_leaves_what_was_measured(pair: Pair, tmp_path: Path) -> None:
    """SIGKILL: all but the block under way is in the file, in whole lines, in order."""
    file = tmp_path / "probe.jsonl"
    script = tmp_path / "probe.py"
    script.write_text(packed("echo_probe"), encoding="utf-8")
    words = [pair.b.address, "--count", "1000000", "--gap-us", "500:500", "--output", str(file)]
    with subprocess.Popen(pair.a.inside(sys.executable, str(script), *words)) as child:
        eventually("three blocks", lambda: file.exists() and file.read_text(encoding="utf-8").count('"rows"') >= 3)
        before = file.read_text(encoding="utf-8")
        child.kill()
    told = read_stream(file.read_text(encoding="utf-8"))
    assert not told.summary
    numbers = told.column("number")
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= len(read_stream(before[: before.rindex("\n") + 1]).column("number")) > 0


def test_a_reader_that_goes_and_a_full_disk_are_one_sentence(pair: Pair) -> None:
    words = pair.a.inside(sys.executable, "-I", "-", pair.b.address, "--count", "100000", "--gap-us", "500:500")
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.write(packed("echo_probe"))
        child.stdin.close()
        child.stdout.readline()
        child.stdout.close()
        assert SENTENCE.fullmatch(child.stderr.read())
        assert child.wait(PATIENCE_S) == 1
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            words, input=packed("echo_probe"), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert SENTENCE.fullmatch(done.stderr)
    assert "No space left" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("198.19.251.2", "--gap-us", "500"), 2, "is not a range"),
        (("198.19.251.2", "--gap-us", "0:500"), 2, "is not a range"),
        (("198.19.251.2", "--gap-us", "500:100"), 2, "is not a range"),
        (("198.19.251.2", "--gap-us", "5:1e9"), 2, "does not wait"),
        (("198.19.251.2", "--gap-us", "1:nan"), 2, "does not wait"),
        (("198.19.251.2", "--gap-us", "a:b"), 2, "is not made of numbers"),
        (("198.19.251.2", "--steps-us", "100,-5"), 2, "is not a list of gaps"),
        (("198.19.251.2", "--steps-us", "100:50:3"), 2, "are not steps"),
        (("198.19.251.2", "--steps-us", "50:100:1"), 2, "are not steps"),
        (("198.19.251.2", "--count", "0"), 2, "no echo would be sent"),
        (("198.19.251.2", "--payload-byte", "70000"), 2, "payload"),
        (("198.19.251.2", "--lost-after-ms", "0"), 2, "lost-after-ms"),
        (("198.19.251.2", "--interface", "nosuch0"), 2, "interface nosuch0 does not exist"),
        (("198.19.251.2", "--cpu", "4096"), 2, "CPU 4096"),
        (("198.19.251.2", "--realtime", "100"), 2, "is not a priority"),
        (("198.19.251.2", "--output", "/nowhere/at/all"), 2, "cannot write"),
        (("no-such-host.invalid",), 1, "does not resolve"),
        (("203.0.113.1",), 1, "no route to 203.0.113.1"),
        ((), 2, "address"),
        (("198.19.251.2", "--bogus"), 2, "--bogus"),
    ],
)
def test_wrong_use_is_one_sentence(pair: Pair, run_agent: Run, words: tuple[str, ...], status: int, says: str) -> None:
    ended = run_agent(pair.a, "echo_probe", *words)
    assert ended.status == status, ended
    assert SENTENCE.fullmatch(ended.errors), ended.errors
    assert says in ended.errors
    assert ended.output == ""


def _as_nobody(*capabilities: str) -> list[str]:
    ids = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if not capabilities:
        return ["setpriv", *ids]
    added = ",".join(f"+{name}" for name in capabilities)
    return ["setpriv", *ids, f"--inh-caps={added}", f"--ambient-caps={added}"]


def test_cap_net_raw_is_all_it_needs(pair: Pair, run_agent: Run) -> None:
    ended = run_agent(
        pair.a, "echo_probe", pair.b.address, "--count", "20", "--gap-us", "100:200", "--realtime", "10",
        prefix=_as_nobody("net_raw"),
    )  # fmt: skip
    assert ended.status == 0, ended.errors
    header = ended.recording.header
    assert header["socket"] == "raw"
    assert any("no SCHED_FIFO" in one for one in header["weaker"])
    assert not any("CAP_NET_RAW" in one for one in header["weaker"])
    assert ended.recording.summary["echoes_lost"] == 0


def test_the_first_answer_is_stamped_too(pair: Pair, run_agent: Run) -> None:
    """The kernel begins to stamp arrivals some time after the first socket asks: one probe in eight met that."""
    for _ in range(20):
        told = run_agent(pair.a, "echo_probe", pair.b.address, "--count", "2", "--gap-us", "100:200").recording
        assert (told.summary["echoes_lost"], told.summary["answers_too_late"]) == (0, 0)


def test_without_cap_net_raw_it_needs_a_ping_group_and_says_what_is_lost(own_pair: Pair, run_agent: Run) -> None:
    words = ("echo_probe", own_pair.b.address, "--count", "20", "--gap-us", "1000:2000")
    own_pair.a.sysctl("net.ipv4.ping_group_range", "1 0")
    refused = run_agent(own_pair.a, *words, prefix=_as_nobody())
    assert refused.status == 1
    assert SENTENCE.fullmatch(refused.errors)
    assert "CAP_NET_RAW" in refused.errors
    own_pair.a.sysctl("net.ipv4.ping_group_range", f"{NOBODY} {NOBODY}")
    told = run_agent(own_pair.a, *words, prefix=_as_nobody()).recording
    assert told.header["socket"] == "datagram"
    assert any("other frames are not seen" in one for one in told.header["weaker"])
    assert told.summary["echoes_lost"] == 0
    assert told.summary["frames_unheard"] is None
    assert all(one is not None for one in told.column("rtt_ns"))
    idle, wanted = told.column("idle_receive_ns"), told.column("wanted_ns")
    assert idle[0] is None
    assert all(one >= want for one, want in zip(idle[1:], wanted[1:], strict=True))


ON_LINE = ("--count", "3", "--gap-us", "100:200", "--on-line")


def test_it_waits_for_a_line_when_asked_to(pair: Pair, start_agent: Start) -> None:
    """The header says that it is ready; no echo leaves before the line comes."""
    probe = start_agent(pair.a, "echo_probe", pair.b.address, *ON_LINE, listens=True)
    probe.line_with('"header"')
    told_ns = time.time_ns()
    probe.tell("begin\n")
    ended = probe.ended()
    assert (ended.status, ended.errors) == (0, "")
    assert len(ended.recording.rows) == 3
    assert all(sent > told_ns for sent in ended.recording.column("sent_ns"))


def test_one_that_waits_for_a_line_can_be_ended(pair: Pair, start_agent: Start) -> None:
    probe = start_agent(pair.a, "echo_probe", pair.b.address, *ON_LINE, listens=True)
    probe.line_with('"header"')
    probe.signal(signal.SIGTERM)
    told = probe.ended().recording
    assert (told.summary["ended_by"], told.rows) == ("SIGTERM", [])


def test_a_line_that_cannot_come_is_one_sentence(pair: Pair, start_agent: Start) -> None:
    probe = start_agent(pair.a, "echo_probe", pair.b.address, *ON_LINE, listens=True)
    probe.line_with('"header"')
    probe.hang_up()
    ended = probe.ended()
    assert ended.status == 2
    assert SENTENCE.fullmatch(ended.errors)
    assert "standard input" in ended.errors
