"""Which of two groups of wakes is the switches', said by a path on which only ports sleep."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.calibration import LinkPolicy
from analysis.links.fit_links import fit_links
from analysis.links.path_delay import Policy, echo_extra_us
from analysis.links.probed_path import EEE_FILE
from analysis.links.probes import ECHO_WIRE_BYTE
from analysis.links.separate import EXCHANGED, separated
from record.samples import RunSamples
from tests.support.measured.synthetic_run import BASE_NS, Writer, about, calibration, write_run

HOSTS = ("n01", "n02", "n03")


def _policy(*ends: str, **more: Any) -> LinkPolicy:
    plain = calibration().links["path n01 - n02"]
    return plain.model_copy(update={"ends": ends, "card_wake_us": None, "which": True, **more})


def _pair(port_us: float, card_us: float) -> LinkPolicy:
    return _policy(
        "sw1:gi1/0/1",
        "n01:eth0",
        which=False,
        wake_us=about(port_us),
        card_wake_us=about(card_us),
        hold_us=about(1_000.0),
        card_hold_us=about(300.0),
        sleep_us=about(182.0),
        card_sleep_us=about(5.0),
        unknown=(EXCHANGED, "else"),
    )


def _ports(wake_us: float, switch: str = "sw1") -> LinkPolicy:
    return _policy(f"{switch}:gi1/0/11", "sw2:gi1/0/11", wake_us=about(wake_us))


def test_the_group_with_the_wake_of_ports_alone_is_the_ports() -> None:
    right = separated({"a": _pair(60.0, 16.5), "trunk": _ports(60.3)}, HOSTS)["a"]
    turned = separated({"a": _pair(16.5, 60.0), "trunk": _ports(60.3)}, HOSTS)["a"]
    assert right.which
    assert turned.which
    for name, port in (("wake_us", 60.0), ("card_wake_us", 16.5)):
        found = getattr(right, name), getattr(turned, name)
        assert [one.value for one in found if one is not None] == [port, port]
    assert right.unknown == turned.unknown == ("else",)
    # All times of a group go together.
    assert right.hold_us is not None
    assert turned.hold_us is not None
    assert (right.hold_us.value, turned.hold_us.value) == (1_000.0, 300.0)


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"trunk": _ports(60.0, switch="sw3").model_copy(update={"ends": ("sw3:1", "sw4:1")})},  # of other switches
        {"trunk": _ports(35.0)},  # fits neither group
        {"trunk": _policy("sw1:1", "sw2:1", wake_us=about(35.0, 0.9))},  # fits both
        {"path": _policy("sw1:1", "n02:eth0", wake_us=about(60.0))},  # has a card of its own
    ],
)
def test_without_a_clear_answer_the_pair_stays_unordered(others: dict[str, LinkPolicy]) -> None:
    pair = _pair(60.0, 16.5)
    assert separated({"a": pair, **others}, HOSTS)["a"] == pair


def test_what_is_settled_stays_as_it_is() -> None:
    settled = _policy("sw1:gi1/0/1", "n01:eth0", card_wake_us=about(16.5))
    assert separated({"a": settled, "trunk": _ports(16.5)}, HOSTS)["a"] == settled


def test_echoes_with_eee_on_at_a_trunk_alone_have_a_policy_of_ports_with_a_name_of_its_own(tmp_path: Path) -> None:
    ends = {"trunk": ("sw1:gi1/0/11", "sw2:gi1/0/11"), "hosts": ("sw1:gi1/0/1", "sw2:gi1/0/1")}

    def echoes(writer: Writer, *, on: bool) -> str:
        gaps = writer.random.permutation(np.geomspace(200.0, 4_000.0, 300))
        sent_us = np.cumsum(gaps)
        rtt_us = 95.0 + writer.random.normal(0, 1.0, gaps.size)
        if on:
            policies = [Policy(1_000.0, 182.0, 60.0)] * 2
            rtt_us += echo_extra_us(sent_us, 95.0, policies, np.full(gaps.size, ECHO_WIRE_BYTE), 0.008)
        names = ("number", "wanted_ns", "late_ns", "idle_transmit_ns", "idle_receive_ns", "sent_ns", "rtt_ns")
        header = {"kind": "header", "agent": "echo_probe", "payload_byte": 56}
        columns = [{"name": name} for name in names]
        rows = [
            [n, round(g * 1e3), 300, round(g * 1e3), round(g * 1e3), BASE_NS + int(s * 1e3), round(r * 1e3)]
            for n, (g, s, r) in enumerate(zip(gaps, sent_us, rtt_us, strict=True))
        ]
        return json.dumps(header | {"columns": columns}) + "\n" + json.dumps({"kind": "rows", "rows": rows}) + "\n"

    def write(writer: Writer) -> None:
        for eee in ("on", "off"):
            trunk = {end: {"enabled": eee == "on", "active": eee == "on"} for end in ends["trunk"]}
            shown = trunk | {end: {"enabled": False, "active": False} for end in ends["hosts"]}
            files = {"echoes.jsonl": echoes(writer, on=eee == "on"), EEE_FILE: json.dumps(shown)}
            writer.write({"eee": eee, "cards": "off"}, 5.0, what="probe", files=files, hosts=("n01", "n03"))

    folder = write_run(tmp_path, write)
    facts = folder / "run.yaml"
    text = facts.read_text(encoding="utf-8")
    facts.write_text(
        text.replace("  factors:\n", "  factors:\n    cards: {kind: eee, levels: [off]}\n"), encoding="utf-8"
    )
    found, refused = fit_links(RunSamples(folder))
    assert refused == ()
    (name,) = found
    assert name == "n01-n03 cards=off eee=on"
    link = found[name]
    assert link.kind == "hold"
    assert link.card_wake_us is None
    assert {end.split(":")[0] for end in link.ends} <= {"sw1", "sw2"}
    assert link.wake_us is not None
    assert link.wake_us.interval.holds(60.0)
