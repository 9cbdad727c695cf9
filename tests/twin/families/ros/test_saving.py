"""Running against startup configuration, the dialogues around them, power."""

from typing import Any

import pytest

from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import Refused

SAVE = "Overwrite file [startup-config] ?[Yes/press any key for no]...."


def test_saving_asks_and_confirms(device: SwitchDevice, terminal: Any) -> None:
    terminal.do("configure", "hostname sw7", "end")
    assert terminal.keys("copy running-config startup-config\r").endswith(SAVE)
    shown = terminal.keys("y")
    assert "%COPY-I-FILECPY: Files Copy - source URL running-config destination URL flash://startup-config\r\n" in shown
    assert shown.endswith("Copy succeeded\r\nsw7# ")
    assert device.startup == "hostname sw7\n"
    assert [c.delay_s for c in terminal.chunks if c.delay_s] == [1.0]


@pytest.mark.parametrize("key", ["n", " ", "\r", "\x03"])
def test_any_other_key_saves_nothing(device: SwitchDevice, terminal: Any, key: str) -> None:
    terminal.do("configure", "hostname sw7", "end")
    terminal.keys("copy run start\r")
    assert terminal.keys(key).endswith("sw7# ")
    assert device.startup == ""


def test_write_saves_too(device: SwitchDevice, terminal: Any) -> None:
    terminal.do("configure", "hostname sw7", "end")
    terminal.keys("write memory\ry")
    assert device.startup == "hostname sw7\n"
    assert terminal.do("show startup-config") == "hostname sw7\n"


def test_losing_power_loses_what_was_not_saved(
    engine: Any, device: SwitchDevice, terminal: Any, clock: Any, make_terminal: Any
) -> None:
    terminal.do("configure", "hostname saved", "end")
    terminal.keys("copy running-config startup-config\ry")
    terminal.do("configure", "hostname lost", "interface gi1/0/1", "shutdown")
    device.power_off()
    assert not device.ready
    assert engine.powered[device.switch] is False
    with pytest.raises(Refused), device.change():
        pass
    device.power_on()
    assert device.poll_at_s() == clock.now_s + 30
    clock.now_s += 29
    device.poll()
    assert not device.ready
    clock.now_s += 1
    device.poll()
    assert device.ready
    assert make_terminal().prompt == "saved# "
    assert engine.ports[0]["admin_up"]
    assert device.uptime_s == 30


def test_a_reload_asks_twice_when_something_is_unsaved(device: SwitchDevice, terminal: Any) -> None:
    terminal.do("configure", "hostname sw7", "end")
    first = "You haven't saved your changes. Are you sure you want to continue ? (Y/N)[N] "
    assert terminal.keys("reload\r").endswith(first)
    assert terminal.keys("Y").endswith("Do you want to continue ? (Y/N)[N] ")
    assert "Shutting down" in terminal.keys("Y")
    assert not device.ready
    assert device.powered
    assert terminal.shell.closed


def test_a_reload_asks_once_when_all_is_saved_and_can_be_declined(device: SwitchDevice, terminal: Any) -> None:
    shown = terminal.keys("reload\r")
    assert "haven't saved" not in shown
    terminal.keys("N")
    assert device.ready


def test_deleting_the_startup_configuration(device: SwitchDevice, terminal: Any) -> None:
    terminal.do("configure", "hostname sw7", "end")
    terminal.keys("write\ry")
    assert terminal.keys("delete startup-config\r").endswith("Delete startup-config [y/n]? ")
    assert "%FILE-I-DELETE" in terminal.keys("y")
    assert device.startup == ""
    assert terminal.do("show startup-config") == "Empty configuration\n"


def test_a_broken_startup_line_is_skipped_and_listed(device: SwitchDevice, clock: Any) -> None:
    device.startup = "hostname sw9\nfrobnicate\ninterface gigabitethernet1/0/1\n shutdown\n colour red\n!\n"
    device.reload()
    clock.now_s += 30
    device.poll()
    assert device.rejected_lines == ("frobnicate", " colour red")
    assert device.personality.config.hostname == "sw9"
    assert device.personality.config.ports[1].shutdown


def test_jumbo_frames_wait_for_a_reload(engine: Any, device: SwitchDevice, terminal: Any, clock: Any) -> None:
    terminal.do("configure", "port jumbo-frame", "end")
    assert engine.ports[0]["mtu_byte"] == 1518
    terminal.keys("write\ry")
    device.reload()
    clock.now_s += 30
    device.poll()
    assert engine.ports[0]["mtu_byte"] == 9018


def test_events_from_boot_to_reload(device: SwitchDevice, clock: Any) -> None:
    events = []
    stop = device.observe(lambda _device, event: events.append(event))
    device.reload()
    clock.now_s += 30
    device.poll()
    device.save_startup()
    device.power_off()
    device.drop_sessions()
    stop()
    device.power_on()
    assert events == ["power", "ready", "saved", "power", "sessions"]
