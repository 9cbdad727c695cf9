"""Recordings are judged by what they themselves hold; a reader that is wrong about one is found out."""

from pathlib import Path

import pytest

from controller.checking.recorded.folder import judge_folder
from controller.checking.recorded.strip_walks import judge_strip
from controller.checking.recorded.switch_walks import judge_switch
from controller.checking.recorded.verdict import judge, judge_refusal
from controller.checking.recorded.walks import read_walk
from lab.errors import LabError, Unreadable

SWITCH = "\n".join(
    [
        "1.3.6.1.2.1.1.1.0|4|A switch of 1999",
        *(f"1.3.6.1.2.1.2.2.1.2.{100 + n}|4|GigabitEthernet0/{n}" for n in range(1, 9)),
        *(f"1.3.6.1.2.1.2.2.1.3.{100 + n}|2|6" for n in range(1, 9)),
        *(f"1.3.6.1.2.1.31.1.1.1.1.{100 + n}|4x|{f'Gi0/{n}'.encode().hex()}" for n in range(1, 9)),
        *(f"1.3.6.1.2.1.17.1.4.1.2.{20 - n}|2|{100 + n}" for n in range(1, 9)),
        *(f"1.3.6.1.2.1.17.7.1.4.5.1.{c}.{20 - n}|66|1" for c in (1, 2, 3) for n in range(1, 9)),
        "1.3.6.1.2.1.17.7.1.4.3.1.2.1|4x|000ff0",
        "1.3.6.1.2.1.17.7.1.4.3.1.4.1|4x|000f00",
        "1.3.6.1.2.1.17.7.1.4.3.1.5.1|2|1",
    ]
)
STRIP = """\
.1.3.6.1.4.1.1718.3.2.2.1.2.1.1 = STRING: "AA"
.1.3.6.1.4.1.1718.3.2.2.1.2.1.2 = STRING: "AB"
.1.3.6.1.4.1.1718.3.2.2.1.12.1.1 = INTEGER: 147
.1.3.6.1.4.1.1718.3.2.2.1.12.1.2 = Gauge32: 131
.1.3.6.1.4.1.1718.3.2.3.1.2.1.1.1 = STRING: "AA1"
.1.3.6.1.4.1.1718.3.2.3.1.2.1.2.1 = STRING: "AB1"
.1.3.6.1.4.1.1718.3.2.3.1.10.1.1.1 = INTEGER: idleOn(1)
.1.3.6.1.4.1.1718.3.2.3.1.10.1.2.1 = INTEGER: 0
.1.3.6.1.4.1.1718.3.2.3.1.14.1.1.1 = INTEGER: 12 Watts
.1.3.6.1.4.1.1718.3.2.3.1.14.1.2.1 = INTEGER: 34
"""
LLDP = """
  Port        Device ID        Port ID       System Name    Capabilities  TTL
--------- ----------------- ------------- ----------------- ------------ -----
gi10      02:b1:56:ac:07:64 02:b1:56:ac:0                        O       3482
                            7:64
"""
LLDP_RECORDS = """parsed_sample:
  - {chassis_id: "02:b1:56:ac:07:64", local_interface: gi10, neighbor_interface: ["02:b1:56:ac:0", "7:64"],
     neighbor_name: ["None"]}
"""


def test_a_switch_is_judged_by_its_own_columns() -> None:
    found = {verdict.reading: verdict for verdict in judge_switch("x", "a switch", read_walk(SWITCH))}
    assert {verdict.outcome for verdict in found.values()} == {"right"}
    assert found.keys() == {"ports by ifName", "ports by ifDescr", "VLANs of ports", "a port that it does not have"}
    crossed = SWITCH.replace("|4|GigabitEthernet0/1", "|4|GigabitEthernet0/9")
    crossed = crossed.replace("1.3.6.1.2.1.31.1.1.1.1.101|4x|" + b"Gi0/1".hex(), "1.3.6.1.2.1.31.1.1.1.1.101|4|Gi0/8")
    outcomes = {verdict.outcome for verdict in judge_switch("x", "a switch", read_walk(crossed))}
    assert "misread" not in outcomes
    assert "refused" in outcomes


def test_a_strip_is_judged_by_what_its_columns_add_up_to() -> None:
    verdicts = list(judge_strip("x", read_walk(STRIP)))
    assert [verdict.outcome for verdict in verdicts] == ["right"] * 3
    assert {verdict.device for verdict in verdicts} == {"servertech_sentry3"}


def test_a_reader_that_is_wrong_is_found_out() -> None:
    assert judge("x", "d", "r", lambda: 147, 278).outcome == "misread"
    assert judge("x", "d", "r", lambda: 278, 278).outcome == "right"
    assert judge_refusal("x", "d", "r", lambda: 1).outcome == "misread"

    def refuse() -> object:
        raise Unreadable("d", "r", "nothing")

    assert judge("x", "d", "r", refuse, 1).outcome == "refused"
    assert judge_refusal("x", "d", "r", refuse).outcome == "right"
    with pytest.raises(ZeroDivisionError):
        judge("x", "d", "r", lambda: 1 // 0, 1)


def test_a_folder_of_recordings(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="holds no recording"):
        list(judge_folder(tmp_path))
    (tmp_path / "switch.snmprec").write_text(SWITCH)
    (tmp_path / "strip.snmpwalk").write_text(STRIP)
    shows = tmp_path / "cisco_s300" / "show_lldp_neighbors"
    shows.mkdir(parents=True)
    (shows / "one.raw").write_text(LLDP)
    (shows / "one.yml").write_text(LLDP_RECORDS)
    unknown = tmp_path / "cisco_s300" / "show_clock"
    unknown.mkdir()
    (unknown / "one.raw").write_text("12:00\n")
    verdicts = list(judge_folder(tmp_path))
    assert {verdict.outcome for verdict in verdicts} == {"right"}
    assert {verdict.device for verdict in verdicts} == {"A switch of 1999", "servertech_sentry3", "cisco_s300"}
    (shows / "one.yml").write_text(LLDP_RECORDS.replace("7:64", "7:65"))
    assert [verdict.outcome for verdict in judge_folder(tmp_path)].count("misread") == 1
    (shows / "one.yml").write_text("{")
    with pytest.raises(LabError, match=r"one\.yml cannot be read"):
        list(judge_folder(tmp_path))


def test_what_a_walk_holds() -> None:
    text = """1.2.3|4x|zz
1.2.4|6|1.3.6
1.2.5|64|192.0.2.1
.1.2.6 = Hex-STRING: 00 0A
FF
.1.2.7 = Timeticks: (5) 0:00
.1.2.8 = OID: .1.3.6
Timeout: no answer
"""
    assert read_walk(text).objects == {"1.2.4": "1.3.6", "1.2.6": b"\0\x0a\xff", "1.2.8": "1.3.6"}
