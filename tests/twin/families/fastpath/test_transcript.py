"""What a user sees: prompts, modes, error messages, help, dialogues."""

from typing import Any

import pytest

from eee_testbed.twin.switch.device import SwitchDevice

INVALID = "% Invalid input detected at '^' marker.\n"


def test_prompts_follow_modes(terminal: Any) -> None:
    seen = [terminal.prompt]
    lines = ["enable", "vlan database", "exit", "configure", "interface 1/0/4", "exit", "interface 1/0/1-1/0/4"]
    for line in [*lines, "exit", "interface lag 1", "end", "disable"]:
        assert terminal.do(line) == ""
        seen.append(terminal.prompt)
    assert seen == [
        "(M4300-28G) >",
        "(M4300-28G) #",
        "(M4300-28G) (Vlan)#",
        "(M4300-28G) #",
        "(M4300-28G) (Config)#",
        "(M4300-28G) (Interface 1/0/4)#",
        "(M4300-28G) (Config)#",
        "(M4300-28G) (Interface 1/0/1-1/0/4)#",
        "(M4300-28G) (Config)#",
        "(M4300-28G) (Interface lag 1)#",
        "(M4300-28G) #",
        "(M4300-28G) >",
    ]


def test_hostname_names_the_prompt_and_no_resets_it(enabled: Any) -> None:
    enabled.do("configure", 'hostname "edge 5"')
    assert enabled.prompt == "(edge 5) (Config)#"
    enabled.do("no hostname")
    assert enabled.prompt == "(M4300-28G) (Config)#"


@pytest.mark.parametrize(
    "line",
    [
        "vlan database",
        "configure",
        "interface 1/0/1",
        "switchport mode general",
        "vlan participation include 1",
        "green-mode eee",
        "shutdown",
    ],
)
def test_user_exec_has_no_configuration_commands(terminal: Any, line: str) -> None:
    assert INVALID in terminal.do(line)


def test_accepted_configuration_is_silent(enabled: Any) -> None:
    assert enabled.do("vlan database", "vlan 11-16,20", 'vlan name 11 "tree one"', "exit") == ""
    assert (
        enabled.do(
            "configure",
            "int 1/0/3",
            "swi mo gen",
            "vlan part incl 11-16",
            "vlan tagg 12-16",
            "vlan pvid 11",
            "no vlan tagging 13",
            "speed 100 full-duplex",
            "speed auto",
            "no auto-negotiate",
            "auto-negotiate",
            "description 'up link'",
            "flowcontrol",
            "green-mode eee",
            "green-mode eee tx-idle-time 600",
            "green-mode energy-detect",
            "no spanning-tree port mode",
            "shutdown",
            "no shutdown",
            "exit",
            "no spanning-tree",
            "storm-control flowcontrol",
            "bridge aging-time 1000",
            'snmp-server community "lab" rw',
            "green-mode eee-lpi-history sampling-interval 30",
        )
        == ""
    )


def test_caret_stands_under_the_wrong_word(enabled: Any) -> None:
    enabled.do("configure", "interface 1/0/3")
    shown = enabled.keys("vlan partycipation include 1\r")
    typed, caret, words = shown.split("\n")[:3]
    assert typed == "vlan partycipation include 1"
    assert caret.index("^") == len("(M4300-28G) (Interface 1/0/3)#vlan ")
    assert words + "\n" == INVALID


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("vlan participation include", "Command not found / Incomplete command. Use ? to list commands."),
        ("vlan p 1", "Ambiguous command"),
        ("vlan pvid 4094", INVALID.strip()),
        ("vlan pvid eleven", INVALID.strip()),
        ("vlan pvid 11 12", INVALID.strip()),
        ("vlan pvid 99", "VLAN ID not found."),
        ("vlan participation include 1,99", "VLAN ID not found."),
        ("switchport access vlan 99", "VLAN ID not found."),
        ("speed 1000 full-duplex", INVALID.strip()),  # 1000BASE-T has to negotiate
        ("speed 10G full-duplex", INVALID.strip()),  # a gigabit port
        ("speed auto 10G", INVALID.strip()),
        ("green-mode eee tx-idle-time 4294977296", INVALID.strip()),
        ("green-mode eee tx-wake-time 65536", INVALID.strip()),
        ("mtu 9217", INVALID.strip()),
        ("interface 1/0/4", INVALID.strip()),  # one mode deep only
        ("deleteport lag 1", "ERROR: Port is not a member of this port-channel."),
    ],
)
def test_error_words(enabled: Any, line: str, words: str) -> None:
    enabled.do("configure", "interface 1/0/3")
    assert words in enabled.do(line)
    assert "interface 1/0/3\nexit" in enabled.do("show running-config interface 1/0/3")


@pytest.mark.parametrize("line", ["interface 1/0/29", "interface 1/0/0", "interface 1/0/4-1/0/2", "interface lag 129"])
def test_ports_that_do_not_exist(enabled: Any, line: str) -> None:
    enabled.do("configure")
    assert INVALID in enabled.do(line)


def test_default_vlan_cannot_go(enabled: Any) -> None:
    enabled.do("vlan database")
    assert "default VLAN" in enabled.do("no vlan 1")
    assert "VLAN ID not found." in enabled.do("no vlan 11")


def test_ten_gigabit_port_has_its_own_rates(enabled: Any) -> None:
    enabled.do("configure", "interface 1/0/25")
    assert enabled.do("speed 10G full-duplex", "speed 100 full-duplex", "speed auto 1000 10G") == ""
    assert INVALID in enabled.do("speed 10 full-duplex")
    assert "not supported" in enabled.do("green-mode energy-detect")


def test_question_mark_lists_words_and_keeps_the_line(enabled: Any) -> None:
    enabled.do("configure", "interface 1/0/3")
    shown = enabled.keys("vlan ?")
    for word in ("acceptframe", "ingressfilter", "participation", "pvid", "tagging"):
        assert f"\n{word} " in shown
    assert shown.endswith("(M4300-28G) (Interface 1/0/3)#vlan ")
    assert enabled.keys("participation ?").count("exclude") == 1


def test_paging_and_its_end(enabled: Any) -> None:
    enabled.session.page_rows = 23
    page = enabled.keys("show running-config all\r")
    assert "--More-- or (q)uit" not in page  # the factory's is short
    page = enabled.keys("show vlan 1\r")
    assert page.endswith("--More-- or (q)uit")
    assert page.count("\n") == 1 + 23
    assert "lag 128" not in enabled.keys(" ")
    assert enabled.keys("q").endswith("(M4300-28G) #")
    assert enabled.do("terminal length 0") == ""
    assert "lag 128" in enabled.do("show vlan 1")
    assert enabled.do("pager") == ""
    assert enabled.keys("show vlan 1\r").endswith("--More-- or (q)uit")
    assert enabled.keys("q").endswith("#")
    assert enabled.do("no pager") == ""
    assert "lag 128" in enabled.do("show vlan 1")


def test_save_asks_and_saves(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("configure", "no spanning-tree", "exit")
    question = enabled.keys("write memory\r")
    assert question == (
        "write memory\n\nThis operation may take a few minutes.\n"
        "Management interfaces will not be available during this time.\n\n"
        "Are you sure you want to save? (y/n) "
    )
    assert "Configuration Not Saved!" in enabled.keys("n")
    assert device.startup == ""
    enabled.keys("copy system:running-config nvram:startup-config\r")
    assert "Configuration Saved!\n(M4300-28G) #" in enabled.keys("y")
    assert "no spanning-tree" in device.startup
    assert "no spanning-tree" in enabled.do("show startup-config")


def test_write_memory_confirm_does_not_ask(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("configure", "no spanning-tree", "exit")
    assert "Configuration Saved!" in enabled.do("write memory confirm")
    assert "no spanning-tree" in device.startup


def test_reload_forgets_what_was_not_saved(device: SwitchDevice, enabled: Any, clock: Any) -> None:
    enabled.do("vlan database", "vlan 11", "exit")
    assert "unsaved changes" in enabled.keys("reload\r")
    assert "reset the system? (y/n)" in enabled.keys("n")
    enabled.keys("y")
    assert enabled.shell.closed
    assert not device.ready
    clock.now_s += 30
    device.poll()
    assert device.personality.vlan_names() == {1: "default"}


def test_reload_aborted_leaves_everything(device: SwitchDevice, enabled: Any) -> None:
    assert "reset the system? (y/n)" in enabled.keys("reload\r")
    enabled.keys("n")
    assert device.ready
    assert not enabled.shell.closed


def test_logout_offers_to_save(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11", "exit")
    assert "Would you like to save them now? (y/n)" in enabled.keys("logout\r")
    enabled.keys("y")
    assert enabled.shell.closed
    assert "vlan 11" in device.startup


def test_logout_without_changes_just_goes(enabled: Any) -> None:
    enabled.keys("logout\r")
    assert enabled.shell.closed


def test_clear_config_asks(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11", "exit")
    enabled.keys("clear config\r")
    enabled.keys("n")
    assert 11 in device.personality.vlan_names()
    enabled.keys("clear config\r")
    enabled.keys("y")
    assert 11 not in device.personality.vlan_names()


def test_filters_behind_a_bar(enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11", "exit", "configure", "interface 1/0/4", "vlan pvid 11", "end")
    assert enabled.do("show running-config | include pvid") == "vlan pvid 11\n\n"
    assert enabled.do('show running-config | section "interface 1/0/4"').splitlines()[:3] == [
        "interface 1/0/4",
        "vlan pvid 11",
        "exit",
    ]
    assert "default" not in enabled.do("show vlan | exclude default")


def test_faults_reach_this_family(device: SwitchDevice, enabled: Any) -> None:
    device.faults.refuse["vlan database"] = "ERROR: Resource unavailable."
    assert "Resource unavailable" in enabled.do("vlan database")
    device.faults.refuse.clear()
    device.faults.ignore_writes = True
    assert enabled.do("vlan database", "vlan 11", "exit") == ""
    assert 11 not in device.personality.vlan_names()
