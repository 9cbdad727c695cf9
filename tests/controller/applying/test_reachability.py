"""The result of all hosts' reports, and the validation of what an agent sends."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from eee_testbed.agents import all_pairs
from eee_testbed.agents.all_pairs import pack, udp_payload, unpack
from eee_testbed.controller.applying.host_check import check_hosts
from eee_testbed.controller.applying.reachability import Flood, Pair, Report, SeenFlood, judge, read_report
from eee_testbed.controller.transports.hosts import Program
from eee_testbed.lab.errors import DeviceError, Unreachable, Unreadable
from eee_testbed.lab.model import Host
from tests.support.graph_lab import graph_lab
from tests.support.needs import needs_root
from tests.support.nodes.agent_nodes import PATIENCE_S
from tests.support.nodes.agent_nodes import Pair as Nodes
from tests.support.nodes.agent_nodes import nodes as two_nodes

HOSTS = ("a", "b", "c")


def sound(name: str, **other: Any) -> Report:
    far = [host for host in HOSTS if host != name]
    fields: dict[str, Any] = {
        "host": name,
        "burst": 5,
        "lacks": (),
        "heard": dict.fromkeys(far, 5),
        "answered": dict.fromkeys(far, 5),
        "copies": {},
        "floods": (),
        "excess": 0,
        "hails": 3,
        "hailed": tuple(far),
        "strangers": 0,
    }
    return Report(**{**fields, **other})


def test_a_sound_report_has_no_findings() -> None:
    verdict = judge(map(sound, HOSTS), {})
    assert verdict.complaints == ()


def test_one_direction_is_cut_and_another_loses_frames() -> None:
    verdict = judge(
        [sound("a", heard={"b": 0, "c": 5}, hailed=("c",)), sound("b", heard={"a": 5, "c": 3}), sound("c")], {}
    )
    assert verdict.cut == (Pair("b", "a"),)
    assert verdict.lossy == {Pair("c", "b"): (2, 5)}
    assert verdict.unhailed == ()
    assert verdict.complaints == ("b to a: cut", "c to b: 2 of 5 frames lost")


def test_a_flood_is_named_by_pair_and_those_who_saw_it() -> None:
    verdict = judge(
        [sound("a", floods=(SeenFlood(sender="b", receiver="c", frames=9),)), sound("b"), sound("c", copies={"b": 1})],
        {},
    )
    assert verdict.floods == (Flood(Pair("b", "c"), ("a",), 9),)
    assert verdict.copied == {"b": ("c",)}
    assert verdict.complaints == ("frames of b came more than once to c: a loop", "b to c: 9 frames flooded to a")


def test_counters_make_a_suspect_only_from_a_burst_on() -> None:
    blind = ("CAP_NET_RAW",)
    verdict = judge([sound("a", lacks=blind, excess=4), sound("b", lacks=blind, excess=5), sound("c")], {})
    assert verdict.suspects == {"b": 5}
    assert verdict.complaints


def test_pairs_of_a_silent_host_are_not_called_cut() -> None:
    verdict = judge([sound("a", heard={"b": 5, "c": 0}), sound("b", heard={"a": 5, "c": 0})], {"c": "does not answer"})
    assert verdict.cut == ()
    assert verdict.complaints == ("c did not report: does not answer",)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        [],
        sound("b").model_dump(),
        {**sound("a").model_dump(), "burst": -1},
        {**sound("a").model_dump(), "x": 1},
    ],
)
def test_a_report_of_another_host_or_format_is_unreadable(answer: object) -> None:
    with pytest.raises(Unreadable):
        read_report("a", answer)


def toy_run(
    checks: list[Mapping[str, Mapping[str, Any]]], turns: list[bool]
) -> Callable[[Program, Mapping[Host, Any], float], Mapping[str, Any | DeviceError]]:
    """Answers each check with a sound report changed by the test's findings; records whether hosts take turns."""
    left = list(checks)

    def run(program: Program, arguments: Mapping[Host, Any], timeout_s: float) -> Mapping[str, Any | DeviceError]:
        assert "def main()" in program.text
        assert timeout_s > 0
        turns.append(next(iter(arguments.values()))["turns"])
        names, other = [host.name for host in arguments], left.pop(0)
        found: dict[str, Any] = {}
        for name in names:
            far = [peer for peer in names if peer != name]
            heard = dict.fromkeys(far, 5)
            fields = {"heard": heard, "answered": heard, "hailed": tuple(far), **other.get(name, {})}
            found[name] = fields["error"] if "error" in fields else sound(name, **fields).model_dump()
        return found

    return run


def flood(sender: str, receiver: str) -> Mapping[str, Any]:
    return {"floods": (SeenFlood(sender=sender, receiver=receiver, frames=5),)}


def test_suspicion_leads_to_a_check_in_turns() -> None:
    lab = graph_lab(1, (), (3,))
    names = [host.name for host in lab.hosts]
    gone: Mapping[str, Any] = {names[2]: {"error": Unreachable(names[2], "is not there.")}}
    turns: list[bool] = []
    many = {name: {"excess": 30} for name in names[:2]}
    verdict = check_hosts(lab, run=toy_run([{**many, **gone}, gone], turns))
    assert turns == [False, True]
    assert verdict.silent == {names[2]: "is not there."}
    assert not replace(verdict, silent={}).complaints
    assert not check_hosts(lab, names[:1], run=toy_run([], turns)).complaints
    assert len(turns) == 2


def test_a_flood_counts_if_two_checks_in_a_row_show_it() -> None:
    lab = graph_lab(1, (), (4,))
    a, b, c, d = (host.name for host in lab.hosts)
    real, once = {c: flood(a, b), d: flood(a, b)}, {d: flood(b, c)}
    for checks, seen_by in (
        ([{}], None),
        ([real, real], (c, d)),
        ([once, {}], None),
        ([once, real, real], (c, d)),
        ([real, {**real, **once}, real], (c,)),
        ([{a: {"heard": {c: 5, d: 5}}}, once, {}], None),  # a link that has just come up
    ):
        turns: list[bool] = []
        verdict = check_hosts(lab, run=toy_run(checks, turns))
        assert turns == [False] * len(checks)
        assert verdict.floods == ((Flood(Pair(a, b), seen_by, 5),) if seen_by else ())
        assert bool(verdict.complaints) == (seen_by is not None)


def test_pairs_that_flooded_in_turns_are_checked_in_turns_again() -> None:
    lab = graph_lab(1, (), (3,))
    a, b, c = (host.name for host in lab.hosts)
    turns: list[bool] = []
    verdict = check_hosts(lab, run=toy_run([{c: {"excess": 5}}, {c: flood(a, b)}, {c: flood(a, b)}], turns))
    assert turns == [False, True, True]
    assert verdict.serious == verdict.complaints == (f"{a} to {b}: 5 frames flooded to {c}",)


def test_a_cut_that_has_ended_is_not_reported() -> None:
    lab = graph_lab(1, (), (2,))
    a, b = (host.name for host in lab.hosts)
    cut: Mapping[str, Any] = {a: {"heard": {b: 0}}}
    assert not check_hosts(lab, run=toy_run([cut, {}], [])).complaints
    assert check_hosts(lab, run=toy_run([cut, cut], [])).cut == (Pair(b, a),)
    silent: Mapping[str, Any] = {a: {"error": Unreachable(a, "is not there.")}}
    assert check_hosts(lab, run=toy_run([silent], [])).serious == ()


def test_probes_are_found_in_frames_tagged_or_not() -> None:
    seen = (1, 0, 3, 4, 5)
    probe = pack(9, seen)
    udp = b"\x45" + bytes(8) + b"\x11" + bytes(10) + bytes(8) + probe
    for head in (b"\x08\x00", b"\x81\x00\x00\x0b\x08\x00", b"\x88\xa8\x00\x0b\x81\x00\x00\x0c\x08\x00"):
        assert unpack(9, udp_payload(bytes(12) + head + udp)) == seen
    assert unpack(8, probe) is None
    assert unpack(9, b"") is None
    assert udp_payload(bytes(12) + b"\x08\x06" + udp) == b""


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    needs_root("a network namespace")
    with two_nodes() as pair:
        yield pair


def check_two(nodes: Nodes, absent: Sequence[str], between: Callable[[], None] = lambda: None) -> tuple[Report, Report]:
    """The reports of both nodes, which may not see frames for others; no host of its own is at an `absent` address.

    `between` is called when the first agent runs, before the second one is started.
    """
    addresses = {"a": nodes.a.address, "b": nodes.b.address, **{address: address for address in absent}}
    children = {}
    for name, node in (("a", nodes.a), ("b", nodes.b)):
        given = {"host": name, "interface": node.interface, "burst": 5, "meet_s": 4, "run": 1, "turns": False}
        argv = [
            "setpriv",
            "--bounding-set=-net_raw",
            "--inh-caps=-net_raw",
            sys.executable,
            "-I",
            str(all_pairs.__file__),
        ]
        children[name] = subprocess.Popen(
            node.inside(*argv, json.dumps({**given, "hosts": addresses})), stdout=subprocess.PIPE
        )
        if name == "a":
            between()
    a, b = (read_report(name, json.loads(child.communicate(timeout=PATIENCE_S)[0])) for name, child in children.items())
    assert a.lacks
    assert b.lacks
    return a, b


@pytest.mark.slow
def test_what_a_peer_answers_before_its_agent_runs_is_no_flood(nodes: Nodes) -> None:
    absent = [f"198.19.251.{n}" for n in range(10, 30)]
    for address in absent:
        nodes.b.ip("address", "add", f"{address}/24", "dev", nodes.b.interface)
    nodes.b.sysctl("net.ipv4.icmp_ratelimit", "0")

    def wait_for_answers() -> None:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            found = json.loads(nodes.a.ip("-statistics", "link", "show", nodes.a.interface))
            if found[0]["stats64"]["rx"]["packets"] > 200:
                return
        raise AssertionError(found)

    a, _ = check_two(nodes, absent, wait_for_answers)
    assert a.excess == 0
    assert a.heard["b"] == 5


@pytest.mark.slow
def test_peers_that_arp_does_not_find_hold_up_no_others(nodes: Nodes) -> None:
    a, b = check_two(nodes, [f"198.19.251.{n}" for n in range(10, 60)])
    assert (a.heard["b"], b.heard["a"]) == (5, 5)
    assert sum(a.heard.values()) == sum(b.heard.values()) == 5
