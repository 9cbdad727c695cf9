"""The shell with a family made for the test: keys in, text out."""

import threading
from typing import Any

import pytest

from eee_testbed.twin.cli.grammar import Command, Grammar, Match
from eee_testbed.twin.cli.session import Ask, Mode, More, Pause, Session
from eee_testbed.twin.cli.shell import Shell
from eee_testbed.twin.cli.tokens import Number, Rest
from eee_testbed.twin.switch.device_faults import DeviceFaults
from eee_testbed.twin.switch.personality import Pace, Refused, User

USER = User("bob", "builder", keys=())


class Device:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.ready = True
        self.pace = Pace()
        self.faults = DeviceFaults()
        self.log = []

    def users(self) -> dict[str, User]:
        return {"bob": USER}


def _long(_session: Session, match: Match[Any]) -> str:
    return "".join(f"row {n}\n" for n in range(match.get("n")))


def _say(session: Session, match: Match[Any]) -> str:
    session.device.log.append(match.get("rest"))
    return ""


def _ask(session: Session, _match: Match[Any]) -> Ask:
    return Ask("Sure (y/n)? ", lambda key: session.device.log.append(key) or "done\n")


def _name(session: Session, _match: Match[Any]) -> Ask:
    return Ask("Name: ", lambda name: session.device.log.append(name) or "", "line")


def _secret(session: Session, _match: Match[Any]) -> Ask:
    return Ask("Secret: ", lambda text: session.device.log.append(text) or "", "secret", "*")


def _slow(session: Session, _match: Match[Any]) -> Pause:
    return Pause("working", 2.0, lambda: session.device.log.append("worked") or "\nready\n")


def _refuse(_session: Session, _match: Match[Any]) -> str:
    raise Refused("not today")


def _enter(session: Session, _match: Match[Any]) -> str:
    session.return_to("top")
    session.enter("sub")
    return ""


def _leave(session: Session, _match: Match[Any]) -> str:
    session.leave()
    return ""


class FakeCli:
    more = More("--More--", rows=5)
    session_limit = 2
    grammar = Grammar(
        [
            Command("long <n>", _long, frozenset({"top"})),
            Command("say <rest>", _say, frozenset({"top"})),
            Command("ask", _ask, frozenset({"top"})),
            Command("name", _name, frozenset({"top"})),
            Command("secret", _secret, frozenset({"top"})),
            Command("slow", _slow, frozenset({"top"})),
            Command("refuse", _refuse, frozenset({"top"})),
            Command("sub", _enter, frozenset({"top"})),
            Command("exit", _leave, frozenset({"top", "sub"})),
        ],
        {"n": Number(0, 999), "rest": Rest()},
    )

    def login_prompts(self) -> Any:
        return "User:", "Pass:", "*"

    def login_failed(self) -> str:
        return "no\n"

    def begin(self, session: Session) -> str:
        return f"hello {session.user.name}\n"

    def first_mode(self) -> Mode:
        return Mode("top")

    def prompt(self, session: Session) -> str:
        return f"{session.mode.name}> "

    def modes(self, session: Session) -> Any:
        return ("top",) if session.mode.name == "top" else ("sub", "top")

    def rewrite(self, _session: Session, line: str) -> Any:
        return ("top", line[3:]) if line.startswith("do ") else (None, line)

    def fault(self, _session: Session, fault: Any, _line: str) -> Any:
        return f"% {fault.kind}\n"

    def refused(self, _session: Session, refused: Any) -> Any:
        return f"% {refused.sentence}\n"

    def help(self, _session: Session, items: Any, _line: str) -> Any:
        return "".join(f"  {i.word}\n" for i in items)

    def ctrl_z(self, session: Session) -> None:
        session.return_to("top")

    def timed_out(self) -> Any:
        return "bye\n"


class Terminal:
    def __init__(self, user: User | None = USER, rows: int = 0) -> None:
        self.device = Device()
        self.session = Session(self.device, Mode("top"), peer="198.18.0.1", number=1, page_rows=rows)
        self.shell = Shell(FakeCli(), self.session, authenticated=user)
        self.greeting = self.read()

    def read(self) -> str:
        self.chunks = self.shell.take()
        return "".join(c.text for c in self.chunks)

    def type(self, text: str) -> str:
        for key in text:
            self.shell.feed(key)
        return self.read()


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def screen(text: str) -> list[str]:
    """What a terminal shows after these bytes: rows, with backspace, CR, LF and bell applied."""
    rows, row, column = [[]], 0, 0
    for key in text:
        if key == "\r":
            column = 0
        elif key == "\n":
            rows.append([])
            row += 1
        elif key == "\b":
            column = max(0, column - 1)
        elif key != "\a":
            rows[row].extend(" " * (column + 1 - len(rows[row])))
            rows[row][column] = key
            column += 1
    return ["".join(r).rstrip() for r in rows]


def test_a_user_from_ssh_is_greeted_and_prompted(terminal: Terminal) -> None:
    assert terminal.greeting == "hello bob\r\ntop> "


def test_a_command_is_echoed_runs_and_prompts(terminal: Terminal) -> None:
    assert terminal.type("say hi\r") == "say hi\r\ntop> "
    assert terminal.device.log == ["hi"]


@pytest.mark.parametrize("ending", ["\r", "\n", "\r\n", "\r\0"])
def test_every_kind_of_enter_counts_once(terminal: Terminal, ending: str) -> None:
    assert terminal.type(f"say a{ending}say b{ending}").count("top> ") == 2
    assert terminal.device.log == ["a", "b"]


def test_empty_lines_and_comments_only_prompt(terminal: Terminal) -> None:
    assert terminal.type("\r") == "\r\ntop> "
    assert terminal.type("! note\r") == "! note\r\ntop> "


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("say abx\x7fc", "abc"),
        ("say abx\x08c", "abc"),
        ("say wrong\x15say right", "right"),
        ("say one two\x17three", "one three"),
        ("say one two  \x17three", "one three"),
        ("say bc\x1b[D\x1b[Da", "abc"),
        ("say ac\x02b", "abc"),
        ("y hello\x01sa", "hello"),
        ("y hello\x1b[Hsa\x1b[F!", "hello!"),
        ("say axb\x02\x02\x04", "ab"),
        ("say axb\x1b[D\x1b[D\x1b[3~", "ab"),
        ("say abcdef\x02\x02\x02\x0b", "abc"),
        ("say a\x1b[2~b", "ab"),
        ("say a\x1bOCb", "ab"),
    ],
)
def test_the_line_is_edited_and_the_screen_agrees(terminal: Terminal, keys: str, said: str) -> None:
    shown = screen(terminal.greeting + terminal.type(keys))[-1]
    assert shown == f"top> say {said}"
    terminal.type("\r")
    assert terminal.device.log == [said]


def test_history_goes_up_and_down_and_keeps_the_draft(terminal: Terminal) -> None:
    terminal.type("say one\rsay two\r")
    assert screen("top> " + terminal.type("dra\x1b[A"))[-1] == "top> say two"
    terminal.type("\x1b[A")
    terminal.type("\x1b[B\x1b[B")
    terminal.type("\x10\x10\r")
    assert terminal.device.log == ["one", "two", "one"]


def test_history_ends_with_a_bell(terminal: Terminal) -> None:
    assert terminal.type("\x1b[A") == "\a"


def test_control_c_drops_the_line(terminal: Terminal) -> None:
    assert terminal.type("say gone\x03") == "say gone\r\ntop> "
    terminal.type("\r")
    assert terminal.device.log == []


def test_question_mark_helps_at_once_and_gives_the_line_back(terminal: Terminal) -> None:
    shown = terminal.type("s?")
    assert shown == "s?\r\n  say\r\n  secret\r\n  slow\r\n  sub\r\ntop> s"
    terminal.type("ay hi\r")
    assert terminal.device.log == ["hi"]


def test_tab_completes_or_rings(terminal: Terminal) -> None:
    assert terminal.type("sl\t") == "slow "
    assert terminal.type("\x15s\t")[-1] == "\a"


def test_faults_and_refusals_are_in_the_familys_words(terminal: Terminal) -> None:
    assert "% unrecognised" in terminal.type("nonsense\r")
    assert "% not today" in terminal.type("refuse\r")


def test_a_long_answer_stops_at_the_page() -> None:
    terminal = Terminal(rows=5)
    first = terminal.type("long 12\r")
    assert first.endswith("row 4\r\n--More--")
    assert screen(first + terminal.type("\r"))[-2:] == ["row 5", "--More--"]
    assert screen("--More--" + terminal.type(" "))[-2:] == ["row 10", "--More--"]
    assert screen("--More--" + terminal.type(" "))[-2:] == ["row 11", "top>"]


def test_a_page_can_be_quit_and_other_keys_do_nothing() -> None:
    terminal = Terminal(rows=5)
    terminal.type("long 12\r")
    assert terminal.type("x") == ""
    assert screen("--More--" + terminal.type("q"))[-1] == "top>"


def test_the_line_feed_of_a_command_does_not_turn_the_page() -> None:
    terminal = Terminal(rows=5)
    assert terminal.type("long 12\r\n").endswith("--More--")


def test_an_answer_of_exactly_a_page_does_not_stop() -> None:
    terminal = Terminal(rows=5)
    assert terminal.type("long 5\r").endswith("row 4\r\ntop> ")


def test_one_key_answers_a_question(terminal: Terminal) -> None:
    assert terminal.type("ask\r") == "ask\r\nSure (y/n)? "
    assert terminal.type("y") == "y\r\ndone\r\ntop> "
    assert terminal.device.log == ["y"]


def test_the_line_feed_of_a_command_does_not_answer(terminal: Terminal) -> None:
    assert terminal.type("ask\r\n") == "ask\r\nSure (y/n)? "


def test_a_line_answers_a_question(terminal: Terminal) -> None:
    terminal.type("name\r")
    terminal.type("Alf\x7f\r")
    assert terminal.device.log == ["Al"]


def test_a_secret_shows_stars_and_is_not_remembered(terminal: Terminal) -> None:
    terminal.type("secret\r")
    assert terminal.type("pw?\t1\r").startswith("****")
    assert terminal.device.log == ["pw?1"]
    assert screen("top> " + terminal.type("\x10"))[-1] == "top> secret"


def test_a_pause_delays_what_follows(terminal: Terminal) -> None:
    terminal.type("slow\r")
    texts = [c.text for c in terminal.chunks]
    assert texts.index("working") < [c.delay_s for c in terminal.chunks].index(2.0) < texts.index("top> ")
    assert sum(c.delay_s for c in terminal.chunks) == 2.0


def test_a_slow_switch_waits_before_each_command(terminal: Terminal) -> None:
    terminal.device.pace = Pace(command_s=0.5)
    terminal.type("say a\r")
    assert [c.delay_s for c in terminal.chunks if c.delay_s] == [0.5]


def test_a_command_can_be_refused_on_purpose(terminal: Terminal) -> None:
    terminal.device.faults.refuse["say"] = "% Flash is full"
    assert "% Flash is full\r\n" in terminal.type("sa x\r")
    assert terminal.device.log == []


def test_modes_nest_fall_back_and_are_left(terminal: Terminal) -> None:
    assert terminal.type("sub\r").endswith("sub> ")
    assert terminal.type("do say in\r").endswith("sub> ")
    assert terminal.type("say out\r").endswith("top> ")
    assert terminal.device.log == ["in", "out"]
    terminal.type("sub\r")
    assert terminal.type("\x1a").endswith("top> ")
    terminal.type("exit\r")
    assert terminal.shell.closed


def test_keys_after_the_end_are_ignored(terminal: Terminal) -> None:
    terminal.type("exit\r")
    assert terminal.type("say ghost\r") == ""
    assert terminal.device.log == []


def test_login_inside_the_session() -> None:
    terminal = Terminal(user=None)
    assert terminal.greeting == "\r\nUser:"
    assert terminal.type("bob\r") == "bob\r\nPass:"
    assert terminal.type("builder\r") == "*******\r\nhello bob\r\ntop> "


def test_three_wrong_logins_end_the_session() -> None:
    terminal = Terminal(user=None)
    for _ in range(2):
        assert terminal.type("bob\rwrong\r").endswith("User:")
    assert terminal.type("bob\rwrong\r").endswith("no\r\n")
    assert terminal.shell.closed


def test_a_password_does_not_get_into_the_history() -> None:
    terminal = Terminal(user=None)
    terminal.type("bob\rbuilder\r")
    assert terminal.type("\x10") == "\a"


def test_a_switch_that_went_down_closes(terminal: Terminal) -> None:
    terminal.device.ready = False
    terminal.type("say a\r")
    assert terminal.shell.closed


def test_an_idle_session_is_closed_with_words(terminal: Terminal) -> None:
    terminal.shell.time_out()
    assert "bye" in terminal.read()
    assert terminal.shell.closed
