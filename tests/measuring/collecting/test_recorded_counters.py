"""Recordings of counters: what is stated decides, or the recording's own octets do."""

from collections.abc import Mapping

from eee_testbed.controller.checking.recorded.verdict import Outcome
from eee_testbed.controller.checking.recorded.walks import read_walk
from eee_testbed.measuring.collecting.port_counters import COUNTERS
from eee_testbed.measuring.collecting.recorded_counters import judge_counters


def _walk(*, wide: int, narrow: int, byte: int = 10**9) -> str:
    lines = ["1.3.6.1.2.1.1.3.0|67|4711"]
    for index, name in ((7, "gi1"), (9, "gi2")):
        lines += [
            f"1.3.6.1.2.1.2.2.1.3.{index}|2|6",
            f"1.3.6.1.2.1.2.2.1.8.{index}|2|1",
            f"1.3.6.1.2.1.31.1.1.1.1.{index}|4|{name}",
            f"1.3.6.1.2.1.31.1.1.1.15.{index}|66|1000",
            f"1.3.6.1.2.1.17.1.4.1.2.{index}|2|{index}",
        ]
        for counter in COUNTERS:
            if counter.name.endswith("_byte"):
                lines.append(f"{counter.oid}.{index}|70|{byte}")
            elif counter.narrow:
                lines += [f"{counter.oid}.{index}|70|{wide}", f"{counter.narrow}.{index}|65|{narrow}"]
    return "\n".join(lines)


def _outcomes(text: str, stated: Mapping[str, Mapping[str, object]] | None = None) -> dict[str, Outcome]:
    found = judge_counters("x", "a switch", read_walk(text), stated or {})
    return {verdict.reading: verdict.outcome for verdict in found}


def test_counters_are_compared_with_what_is_stated() -> None:
    text = _walk(wide=0, narrow=750_000)
    right = {"gi1": {"in_unicast_frame": 750_000, "in_byte": 10**9, "in_error_frame": None}}
    assert _outcomes(text, {"counters": right}) == {"counters of ports: gi1": "right"}
    for wrong in ({"in_unicast_frame": 0}, {"in_byte": None}, {"in_error_frame": 0}, {"no_frame": 1}):
        assert _outcomes(text, {"counters": {"gi2": wrong}}) == {"counters of ports: gi2": "misread"}
    missing = {"gi1": {"in_unicast_frame": None, "out_broadcast_frame": None}}
    assert _outcomes(_walk(wide=0, narrow=0), {"counters": missing}) == {"counters of ports: gi1": "right"}


def test_without_a_statement_they_are_read_and_held_against_octets() -> None:
    for text in (_walk(wide=5, narrow=5), _walk(wide=0, narrow=750_000), _walk(wide=0, narrow=0)):
        assert _outcomes(text) == {"counters of ports": "read", "octets carried in no frame": "right"}


def test_a_walk_without_counters_has_no_verdict() -> None:
    assert _outcomes("1.3.6.1.2.1.31.1.1.1.1.7|4|gi1") == {}
