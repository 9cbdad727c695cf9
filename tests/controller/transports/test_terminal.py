"""A line is taken when it was echoed and the prompt is back; whatever else happens ends in words, and never twice."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eee_testbed.controller.transports.terminal import Terminal, shown
from eee_testbed.lab.errors import Unreachable, Unreadable
from eee_testbed.lab.plain_text import is_safe
from tests.support.switches.toy_terminal import Say, ToyTerminal


def _logged_in(script: Mapping[str, Say] | None = None, *, prompt: str = "sw1#") -> tuple[Terminal, ToyTerminal]:
    toy = ToyTerminal(script, prompt=prompt)
    terminal = Terminal("sw1", toy)
    terminal.settle("logging in")
    toy.lines.clear()
    return terminal, toy


def test_a_line_s_answer_is_what_stands_between_echo_and_prompt() -> None:
    terminal, toy = _logged_in({"show clock": b"10:00\r\n\r\nno source\r\n"})
    assert terminal.type_line("show clock") == "10:00\n\nno source"
    assert terminal.type_line("exit") == ""
    assert toy.lines == ["show clock", "exit"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_an_answer_may_come_in_any_pieces(chunk: int) -> None:
    terminal, toy = _logged_in({"show x": b"sw1 gi1/0/1 #\r\nsw10#x\r\n"})
    toy.chunk = chunk
    assert terminal.type_line("show x") == "sw1 gi1/0/1 #\nsw10#x"


def test_the_prompt_of_a_deeper_mode_is_noted() -> None:
    def configure(toy: ToyTerminal) -> None:
        toy.prompt = "sw1(config)#"
        toy.say_prompt()

    terminal, _ = _logged_in({"configure": configure})
    terminal.type_line("configure")
    assert terminal.prompt == "sw1(config)#"
    assert terminal.is_at(r"\(config\)#$")
    assert not terminal.is_at(r"\(config-if\)#$")
    terminal.home()
    assert terminal.prompt == "sw1#"


def test_a_banner_that_looks_like_a_prompt_is_not_taken_for_one() -> None:
    toy = ToyTerminal(greeting=b"\r\n#### keep out #")
    toy.say(b"###\r\nsw1# ")
    assert Terminal("sw1", toy).settle("logging in") == "sw1#"


@pytest.mark.parametrize(
    "log", ["21-Nov-2026 10:00:00 %LINK-W-Down:  gi1/0/11", "<190> Nov 21 10:00:00 TRAPMGR %% Link"]
)
def test_messages_of_the_switch_s_own_are_no_answer(log: str) -> None:
    message = f"\r\n{log}\r\n".encode()

    def shut(toy: ToyTerminal) -> None:
        toy.say(message)
        toy.say_prompt()
        toy.say(message)

    terminal, toy = _logged_in({"shutdown": shut, "show x": b"1\r\n" + message.lstrip() + b"2\r\n"})
    assert terminal.type_line("shutdown") == ""
    assert terminal.type_line("show x") == "1\n2"
    assert toy.lines == ["shutdown", "show x"]


def test_a_message_and_prompt_before_the_echo_do_not_end_a_line() -> None:
    """The prompt that a message brings along must not pass for the answer to what is being typed."""
    terminal, toy = _logged_in()
    sent = toy.sendall

    def interrupted(s: bytes) -> None:
        toy.say(b"\r\n%LINK-W-Down:  gi1/0/11\r\nsw1# ")
        sent(s)

    toy.script["show x"] = b"the answer\r\n"
    toy.sendall = interrupted  # type: ignore[method-assign]
    assert terminal.type_line("show x") == "the answer"


def test_pages_are_turned_though_paging_is_off() -> None:
    def show(toy: ToyTerminal) -> None:
        toy.say(b"1\r\n2\r\n--More-- or (q)uit")
        toy.on_key = rest

    def rest(key: bytes) -> None:
        assert key == b" "
        toy.on_key = None
        toy.say(b"\r                  \r3\r\n")
        toy.say_prompt()

    terminal, toy = _logged_in({"show x": show})
    assert terminal.type_line("show x") == "1\n2\n3"


def test_a_foreseen_question_is_answered_with_exactly_what_the_driver_says() -> None:
    def save(toy: ToyTerminal) -> None:
        toy.say(b"This may take a while.\r\nAre you sure? (y/n) ")
        toy.on_key = done

    def done(_: bytes) -> None:
        toy.on_key = None
        toy.say(b"y\r\nSaved.\r\n")
        toy.say_prompt()

    terminal, toy = _logged_in({"write memory": save})
    assert "Saved." in terminal.type_line("write memory", ((r"\(y/n\)", "y"),))
    assert toy.keys == [b"y"]


def test_a_question_that_nobody_foresaw_is_not_answered_and_ends_the_session() -> None:
    def reload(toy: ToyTerminal) -> None:
        toy.say(b"Unsaved changes! Continue? (y/n) ")

    terminal, toy = _logged_in({"reload": reload})
    with pytest.raises(Unreadable, match="Unsaved changes"):
        terminal.type_line("reload")
    with pytest.raises(Unreachable, match="session ended earlier"):
        terminal.type_line("show clock")
    assert toy.lines == ["reload"]


def test_a_switch_that_falls_silent_is_unreachable_after_that_line() -> None:
    terminal, toy = _logged_in({"no shutdown": lambda _: None})
    with pytest.raises(Unreachable, match="nothing for 30 s after 'no shutdown'"):
        terminal.type_line("no shutdown")
    assert toy.lines == ["no shutdown"]


@pytest.mark.parametrize("half", [b"", b"% Unrec"])
def test_a_session_that_ends_says_in_which_line(half: bytes) -> None:
    def die(toy: ToyTerminal) -> None:
        toy.say(half)
        toy.closed = True

    terminal, toy = _logged_in({"vlan 11": die})
    with pytest.raises(Unreachable, match="closed the session while it was executing 'vlan 11'"):
        terminal.type_line("vlan 11")
    assert toy.lines == ["vlan 11"]


@pytest.mark.parametrize("error", [OSError("Socket is closed"), EOFError()])
def test_a_session_that_ends_before_a_line_is_sent_is_lost(error: Exception) -> None:
    terminal, toy = _logged_in()

    def end(_: bytes) -> None:
        raise error

    toy.sendall = end  # type: ignore[method-assign]
    with pytest.raises(Unreachable, match=r"the session broke while it was executing 'vlan 11' \([^)]+ closed\)"):
        terminal.type_line("vlan 11")


def test_a_line_whose_echo_was_mangled_counts_when_the_switch_is_quiet_at_its_prompt() -> None:
    terminal, toy = _logged_in()
    toy.sendall = lambda s: toy.say(b"$tchport general allowed vlan add 11-16\r\nsw1# ")  # type: ignore[method-assign]  # noqa: ARG005
    assert terminal.type_line("switchport general allowed vlan add 11-16") == ""


def test_an_echo_broken_into_rows_is_an_echo() -> None:
    terminal, toy = _logged_in()
    toy.sendall = lambda s: toy.say(b"switchport general allo\r\nwed vlan add 11\r\nbad\r\nsw1# ")  # type: ignore[method-assign]  # noqa: ARG005
    assert terminal.type_line("switchport general allowed vlan add 11") == "bad"


@given(st.text(alphabet="ab \r\b", max_size=20))
def test_what_is_shown_never_grows(text: str) -> None:
    assert len(shown(text)[0]) <= len(text.replace("\r", "").replace("\b", ""))


def test_what_is_shown_is_what_a_terminal_shows() -> None:
    assert shown("abc\rX\r\n\x1b[2Ktwo\b\bW\n") == ["Xbc", "tWo", ""]


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=()), max_size=40)
    | st.lists(st.sampled_from(["\x1b[2J", "\x1b]0;x\x07", "\x9b", "\u202e", "\r", "\b", "\t", "\n", "sw"])).map(
        "".join
    )
)
def test_no_row_that_a_switch_prints_can_move_our_cursor(raw: str) -> None:
    assert all(is_safe(row) for row in shown(raw))


def test_a_switch_that_prints_escapes_is_quoted_without_them() -> None:
    terminal, _ = _logged_in({"show name": "core\x1b]0;owned\x07\u202e\r\n".encode()})
    assert is_safe(terminal.type_line("show name"))
