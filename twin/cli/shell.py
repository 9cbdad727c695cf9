"""A command-line session of a switch, from keys to text, without sockets or clocks.

`Shell.feed` takes one character; `Shell.take` returns the output, in chunks with delays (a slow switch). What a family
must provide, and what its handlers may do, is in `twin.cli.session`, whose names are exported here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_testbed.twin.cli.grammar import Fault, HelpItem, Match
from eee_testbed.twin.cli.line_editor import BELL, LineEditor
from eee_testbed.twin.cli.session import Ask, Chunk, Cli, Handler, Mode, More, Pause, Reply, Session, SshMethod
from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from eee_testbed.twin.switch.personality import User

__all__ = ["Ask", "Chunk", "Cli", "Handler", "Mode", "More", "Pause", "Reply", "Session", "Shell", "SshMethod"]


class Shell:
    """Keys in, text out. `authenticated` is the user whom SSH authenticated, or None for a login inside the session."""

    def __init__(self, cli: Cli, session: Session, *, authenticated: User | None) -> None:
        self.cli = cli
        self.session = session
        self.closed = False
        self._out: list[Chunk] = []
        self._editor = LineEditor(self._emit)
        self._ask: Ask | None = None
        self._rows: list[str] | None = None  # waiting behind the page prompt
        self._wrong_logins = 0
        self._withheld: Reply | None = None  # a fault: the answer that a hanging session does not print
        self._typed_ahead = ""
        if authenticated is None:
            self._ask_user()
        else:
            self._welcome(authenticated)

    def take(self) -> list[Chunk]:
        """Return the output since the last call, in order."""
        chunks, self._out = self._out, []
        return chunks

    def feed(self, character: str) -> None:
        """Take one key."""
        if self.closed:
            return
        if self._withheld is not None:
            self._typed_ahead += character
            return
        if self._rows is not None:
            if not self._editor.swallow(character):
                self._page_key(character)
        elif self._ask is not None and self._ask.kind == "key":
            if not self._editor.swallow(character):
                self._answer("" if character in "\x03\r\n" else character, echo=character)
        else:
            self._line_key(character)

    def resume(self) -> None:
        """End of a fault: print the withheld answer, then process what was typed meanwhile."""
        reply, self._withheld = self._withheld, None
        keys, self._typed_ahead = self._typed_ahead, ""
        self.session.stuck = False
        if reply is not None:
            self._reply(reply)
        for key in keys:
            self.feed(key)

    def time_out(self) -> None:
        """Print the idle time-out and close."""
        self._emit("\r\n" + self.cli.timed_out().replace("\n", "\r\n"))
        self.closed = True

    # -- keys

    def _line_key(self, character: str) -> None:
        editor = self._editor
        key = editor.key(character)
        if key == "enter":
            if self._ask is not None:
                self._answer(editor.text)
            else:
                self._run(editor.text)
        elif key == "interrupt":
            self._emit("\r\n")
            if self._ask is not None:
                self._answer("")
            else:
                self._prompt()
        elif self._ask is not None:
            return
        elif key == "end":
            self._emit("\r\n")
            self.cli.ctrl_z(self.session)
            self._prompt()
        elif key == "help":
            self._help()
        elif key == "tab":
            self._tab()

    def _tab(self) -> None:
        mode, line, _ = self._where(self._editor.text)
        added = self.cli.grammar.complete(mode, line)
        if added is None:
            self._emit(BELL)
        else:
            self._editor.insert(added)

    def _help(self) -> None:
        typed = self._editor.text
        self._emit("?\r\n" if not typed or self.session.info.get("echo_help", True) else "\r\n")
        offered: list[HelpItem] | Fault = Fault("unrecognised", 0, 0, "")
        mode, line, fixed = self._where(typed)
        for name in (mode,) if fixed else self.cli.modes(self.session):
            offered = self.cli.grammar.help(name, line)
            if not isinstance(offered, Fault):
                break
        if isinstance(offered, Fault):
            text = self.cli.fault(self.session, offered, typed)
        else:
            text = self.cli.help(self.session, offered, typed)
        self._emit(text.replace("\n", "\r\n"))
        self._prompt(text=typed)

    def _where(self, line: str) -> tuple[str, str, bool]:
        """(mode, line without prefix, whether a prefix fixed the mode)."""
        mode, rest = self.cli.rewrite(self.session, line)
        return (self.session.mode.name, line, False) if mode is None else (mode, rest, True)

    # -- commands

    def _run(self, line: str) -> None:
        session = self.session
        self._editor.remember(line)
        session.history = self._editor.history
        if not line.strip() or line.lstrip().startswith("!"):
            self._prompt()
            return
        pace = session.device.pace
        if pace.command_s > 0:
            self._out.append(Chunk("", pace.command_s))
        reply = self._execute(line)
        if session.device.faults.hang_next:
            session.device.faults.hang_next = False
            session.stuck = True
            self._withheld = reply
        elif not self.closed:
            self._reply(reply)

    def _execute(self, line: str) -> Reply:
        session = self.session
        parsed = self._look_up(line)
        if isinstance(parsed, Fault):
            return self.cli.fault(session, parsed, line)
        for start, refusal in session.device.faults.refuse.items():
            if parsed.canonical.startswith(start):
                return refusal.rstrip("\n") + "\n"
        with session.device.lock:
            if not session.device.ready:
                self.closed = True
                return ""
            try:
                return parsed.command.run(session, parsed)
            except Refused as refused:
                return self.cli.refused(session, refused)

    def _look_up(self, line: str) -> Match[Handler] | Fault:
        mode, rest, fixed = self._where(line)
        if fixed:
            return self.cli.grammar.parse(mode, rest)
        first: Fault | None = None
        for name in self.cli.modes(self.session):
            parsed = self.cli.grammar.parse(name, line)
            if not isinstance(parsed, Fault):
                self.session.return_to(name)
                return parsed
            if first is None or (first.kind == "unrecognised" and parsed.column > first.column):
                first = parsed
        return first or Fault("unrecognised", 0, 0, line)

    def _reply(self, reply: Reply) -> None:
        while isinstance(reply, Pause):
            self._emit(reply.text.replace("\n", "\r\n"))
            self._out.append(Chunk("", reply.seconds))
            with self.session.device.lock:
                reply = reply.then()
        if isinstance(reply, Ask):
            self._question(reply)
        else:
            garbler = self.session.device.faults.garbler
            self._show(reply if garbler is None else garbler.garble(reply))

    def _question(self, ask: Ask) -> None:
        self._ask = ask
        if ask.kind == "key":
            self._emit(ask.prompt.replace("\n", "\r\n"))
        else:
            self._editor.begin(ask.prompt.replace("\n", "\r\n"), mask=ask.mask if ask.kind == "secret" else None)

    def _answer(self, answer: str, *, echo: str = "") -> None:
        ask, self._ask = self._ask, None
        if ask is None:
            return
        if ask.kind == "key" and ask.echo:
            self._emit((echo if echo.isprintable() else "") + "\r\n")
        with self.session.device.lock:
            try:
                reply = ask.then(answer)
            except Refused as refused:
                reply = self.cli.refused(self.session, refused)
        self._reply(reply)

    # -- paging

    def _show(self, text: str) -> None:
        rows = text.split("\n")
        if rows[-1] == "":
            rows.pop()
        self._rows = rows
        self._page(self._page_rows() or len(rows))

    def _page_rows(self) -> int:
        always = self.cli.more.rows if self.session.device.faults.page_always else 0
        return self.session.page_rows or always

    def _page(self, count: int) -> None:
        rows = self._rows or []
        now, later = rows[:count], rows[count:]
        self._emit("".join(r + "\r\n" for r in now))
        if later:
            self._rows = later
            self._emit(self.cli.more.prompt)
        else:
            self._rows = None
            self._prompt()

    def _page_key(self, character: str) -> None:
        more = self.cli.more
        if character not in more.quit_keys and character not in " \r\n":
            return
        self._emit("\r" + " " * len(more.prompt) + "\r")
        if character in more.quit_keys:
            self._rows = None
            self._prompt()
        else:
            self._page(self._page_rows() or len(self._rows or []) if character == " " else 1)

    # -- login

    def _ask_user(self) -> None:
        prompt, _, _ = self.cli.login_prompts()
        self._question(Ask("\n" + prompt, self._ask_password, "line"))

    def _ask_password(self, user: str) -> Reply:
        _, prompt, mask = self.cli.login_prompts()
        return Ask(prompt, lambda password: self._check(user, password), "secret", mask)

    def _check(self, name: str, password: str) -> Reply:
        user = self.session.device.users().get(name)
        if user is not None and user.accepts(password):
            self._begin(user)
            return self.cli.begin(self.session)
        self._wrong_logins += 1
        self._emit(self.cli.login_failed().replace("\n", "\r\n"))
        if self._wrong_logins >= 3:
            self.session.end()
            return ""
        return Ask("\n" + self.cli.login_prompts()[0], self._ask_password, "line")

    def _begin(self, user: User) -> None:
        self.session.user = user

    def _welcome(self, user: User) -> None:
        self._begin(user)
        self._show(self.cli.begin(self.session))

    # -- output

    def _prompt(self, *, text: str = "") -> None:
        if self.session.closing:
            self.closed = True
            return
        self._editor.begin(self.cli.prompt(self.session), text=text)

    def _emit(self, text: str) -> None:
        if text:
            self._out.append(Chunk(text))
