"""Recordings are judged by what they themselves hold; a reader that is wrong about one is found out."""

from pathlib import Path

import pytest

from eee_testbed.controller.checking.recorded.folder import judge_folder
from eee_testbed.controller.checking.recorded.shows import _JUDGES, _PLATFORMS
from eee_testbed.controller.checking.recorded.strip_walks import judge_strip
from eee_testbed.controller.checking.recorded.switch_walks import judge_switch
from eee_testbed.controller.checking.recorded.verdict import Verdict, judge, judge_refusal
from eee_testbed.controller.checking.recorded.walks import read_walk
from eee_testbed.lab.errors import LabError, Unreadable
from eee_testbed.lab.untrusted_files import DamagedPart

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


def write_recordings(folder: Path) -> Path:
    """The folder of the recorded show."""
    (folder / "switch.snmprec").write_text(SWITCH)
    (folder / "strip.snmpwalk").write_text(STRIP)
    shows = folder / "cisco_s300" / "show_lldp_neighbors"
    shows.mkdir(parents=True)
    (shows / "one.raw").write_text(LLDP)
    (shows / "one.yml").write_text(LLDP_RECORDS)
    return shows


def test_a_folder_of_recordings(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="holds no recording"):
        list(judge_folder(tmp_path))
    shows = write_recordings(tmp_path)
    unknown = tmp_path / "cisco_s300" / "show_clock"
    unknown.mkdir()
    (unknown / "one.raw").write_text("12:00\n")
    verdicts = list(judge_folder(tmp_path))
    assert {verdict.outcome for verdict in verdicts} == {"right", "unread"}
    assert {verdict.device for verdict in verdicts} == {"A switch of 1999", "servertech_sentry3", "cisco_s300"}
    (clock,) = [verdict for verdict in verdicts if verdict.outcome == "unread"]
    assert "nothing is read of show_clock of cisco_s300: known are show_eee, show_lldp_neighbors" in clock.said
    (shows / "one.yml").write_text(LLDP_RECORDS.replace("7:64", "7:65"))
    assert [verdict.outcome for verdict in judge_folder(tmp_path)].count("misread") == 1
    (shows / "one.yml").write_text("{")
    with pytest.warns(DamagedPart, match=r"one\.yml.*is not YAML"):
        outcomes = {verdict.outcome: verdict.said for verdict in judge_folder(tmp_path)}
    assert outcomes.keys() == {"right", "read", "unread"}
    assert "gi10" in outcomes["read"], "nobody says any more what is right"


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


# -- one's own recordings: nobody else has read them


def _show(folder: Path, platform: str, command: str, text: str, beside: str | None = None) -> list[Verdict]:
    place = folder / platform / command
    place.mkdir(parents=True)
    (place / "mine.raw").write_text(text)
    if beside is not None:
        (place / "mine.yml").write_text(beside)
    return list(judge_folder(folder))


_VLANS = (
    "VLAN Name      Status    Ports\n---- --------- --------- -----\n1    default   active\n40   hall      active\n"
)


@pytest.mark.parametrize("platform", sorted({platform for platform, _ in _JUDGES} | _PLATFORMS.keys()))
def test_every_show_without_records_is_read_or_refused_and_never_judged(tmp_path: Path, platform: str) -> None:
    """Whatever its text is; `misread` needs somebody who says what is right."""
    commands = [command for known, command in _JUDGES if known == _PLATFORMS.get(platform, platform)]
    assert commands
    for command in commands:
        for number, text in enumerate(("", "hello\n", LLDP, _VLANS)):
            verdicts = _show(tmp_path / command / str(number), platform, command, text)
            assert {verdict.outcome for verdict in verdicts} <= {"read", "refused"}


def test_what_is_read_is_said_in_words(tmp_path: Path) -> None:
    (verdict,) = _show(tmp_path / "vlans", "cisco_ios", "show_vlan_brief", _VLANS)
    assert (verdict.outcome, verdict.said) == ("read", "1, 40")
    (verdict,) = _show(tmp_path / "lldp", "netgear_m4300", "show_lldp_remote-device_all", "nothing here\n")
    assert (verdict.outcome, verdict.said) == ("read", "nothing")


@pytest.mark.parametrize("beside", ["parsed_sample: []", "parsed_sample: [{}]", "parsed_sample: [7]"])
def test_records_that_lack_what_is_compared_lose_that_recording_only(tmp_path: Path, beside: str) -> None:
    text = "SW version    1.4.8.6 ( date  01-Jan-2020 time  00:00:00 )\n"
    (verdict,) = _show(tmp_path, "cisco_s300", "show_version", text, beside)
    assert verdict.outcome == "unread"
    assert "lack what it is compared with" in verdict.said


def test_an_unknown_platform_is_named_with_the_known_ones(tmp_path: Path) -> None:
    (verdict,) = _show(tmp_path, "nokia_srl", "show_version", "hello\n")
    assert verdict.outcome == "unread"
    assert "nokia_srl is not a known platform in PLATFORM/COMMAND/NAME.raw: known are broadcom_icos" in verdict.said
    assert "netgear_m4300" in verdict.said


def test_stated_eee_is_compared(tmp_path: Path) -> None:
    text = "Te1/0/1\n\tEEE(efficient-ethernet):  yes (10G-T auto)\n\tLink Partner           :  no\n"
    text += "\n\tASIC/Interface         :  EEE Capable/EEE Disabled\n"
    record = "parsed_sample: [{supported: true, in_asic: %s, partner: false}]\n"
    (verdict,) = _show(tmp_path / "right", "cisco_ios", "show_eee_capabilities", text, record % "false")
    assert verdict.outcome == "right"
    (verdict,) = _show(tmp_path / "wrong", "cisco_ios", "show_eee_capabilities", text, record % "true")
    assert verdict.outcome == "misread"


@pytest.mark.parametrize("root", ["iso.3.6.1.4.1.", "SNMPv2-SMI::enterprises.", ".1.3.6.1.4.1.", "1.3.6.1.4.1."])
def test_a_walk_without_mibs_is_read(root: str) -> None:
    walked = read_walk(STRIP.replace(".1.3.6.1.4.1.", root) + 'iso.3.6.1.2.1.1.5.0 = ""\n')
    assert {verdict.outcome for verdict in judge_strip("x", walked)} == {"right"}
    assert walked.objects["1.3.6.1.2.1.1.5.0"] == b""
    said = read_walk("iso.3.6.1.2.1.1.2.0 = OID: iso.3.6.1.4.1.9.1.1\nSNMPv2-SMI::mib-2.1.7.0 = INTEGER: 2\n")
    assert said.objects == {"1.3.6.1.2.1.1.2.0": "1.3.6.1.4.1.9.1.1", "1.3.6.1.2.1.1.7.0": 2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SNMPv2-MIB::sysDescr.0 = STRING: sw\n" + SWITCH, "objects by name (SNMPv2-MIB::sysDescr.0)"),
        ("IF-MIB::ifName.1 = STRING: gi1\n", "objects by name (IF-MIB::ifName.1)"),
        ("Timeout: No Response from 192.0.2.1\n", "it has no object"),
        ("", "it has no object"),
    ],
)
def test_a_walk_that_cannot_be_read_whole_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "sw.snmpwalk").write_text(text)
    (verdict,) = judge_folder(tmp_path)
    assert (verdict.outcome, words in verdict.said, "snmpwalk -On" in verdict.said) == ("unread", True, True)


def test_a_chain_is_judged_by_its_first_unit() -> None:
    head = "1.3.6.1.4.1.534.6.6.7"
    text = "".join(f"{head}.3.5.1.4.{unit}.1|2|{100 + unit}\n{head}.6.6.1.2.{unit}.1|2|1\n" for unit in range(3))
    verdicts = list(judge_strip("x", read_walk(text)))
    assert [verdict.outcome for verdict in verdicts] == ["right", "right"]


def test_what_is_stated_about_a_strip_is_compared(tmp_path: Path) -> None:
    """Not with what the driver's own columns add up to."""
    (tmp_path / "pdu.snmpwalk").write_text(STRIP)
    for total, outcome in ((278.0, "right"), (147.0, "misread"), ("null", "misread")):
        stated = f"expected: {{strip: {{family: servertech_sentry3, outlets: 2, total_watt: {total}, unread: []}}}}\n"
        (tmp_path / "pdu.yml").write_text(stated)
        found = {verdict.reading: verdict.outcome for verdict in judge_folder(tmp_path)}
        assert found == {"total_watt": outcome, "unread": "right"}
    (tmp_path / "pdu.yml").write_text("expected: {strip: {outlets: 2}}\n")
    assert [verdict.outcome for verdict in judge_folder(tmp_path)] == ["unread"]
    (tmp_path / "pdu.yml").write_text("expected: 5\n")
    with pytest.raises(LabError, match=r"pdu\.yml states nothing"):
        list(judge_folder(tmp_path))


def test_objects_that_no_agent_can_have_are_left_out() -> None:
    text = f"""1.3..6|2|5
1.3.{"9" * 5_000}|2|5
1.3.6|2|{"9" * 5_000}
1.3.7|2|{2**80}
.1.3.8 = Hex-STRING: 0
.1.3.9 = INTEGER: {"9" * 5_000}
1.3.10|2|-7
"""
    assert read_walk(text).objects == {"1.3.10": -7}
