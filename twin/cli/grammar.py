"""A declarative command grammar, as managed switches have it.

A command is a pattern and what runs it::

    Command("[no] shutdown", run, modes={"if"})
    Command("interface <port:ports>", run, modes={"config", "if"})
    Command("switchport general allowed vlan add <vlans> [tagged|untagged]", run, modes={"if"})

Patterns: bare words are keywords; ``<name>`` or ``<name:token>`` is a value parsed by the token of that name; ``[a|b]``
is optional, ``(a|b)`` a choice; both nest and may hold several words. Keywords may be abbreviated as long as they
are unique among those possible there; an exact word always wins; a keyword wins over a value. Case does not matter.

`Grammar.parse` gives a `Match` or a `Fault`. A fault has a kind and a place; the family words it.
Nothing here knows a vendor, a device or a session; `run` is opaque.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from eee_testbed.twin.cli.tokens import BadToken, Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

H = TypeVar("H")
H_co = TypeVar("H_co", covariant=True)

FaultKind = Literal["incomplete", "ambiguous", "unrecognised", "bad-value", "excess"]


@dataclass(frozen=True, slots=True)
class Command(Generic[H_co]):
    """One line of the table. `help` is shown beside the command's last keyword in the help page."""

    pattern: str
    run: H_co
    modes: frozenset[str]
    help: str = ""


def with_no(pattern: str, run: H, modes: frozenset[str], help: str = "") -> tuple[Command[H], Command[H]]:  # noqa: A002
    """Two lines: one that sets a value, and `no` before its keywords alone, as `no speed` for `speed (10|100)`."""
    keywords = itertools.takewhile(lambda word: word[0] not in "<([", pattern.split())
    return Command(pattern, run, modes, help), Command(" ".join(("no", *keywords)), run, modes, help)


@dataclass(frozen=True, slots=True)
class Match(Generic[H]):
    """A complete command. `keywords` as spelled out in the pattern, in order; `canonical` is the line spelled out."""

    command: Command[H]
    values: Mapping[str, Any]
    keywords: tuple[str, ...]
    canonical: str

    @property
    def negated(self) -> bool:
        """Whether the command begins with `no`."""
        return bool(self.keywords) and self.keywords[0] == "no"

    def has(self, keyword: str) -> bool:
        """Whether this keyword was given."""
        return keyword in self.keywords

    def get(self, name: str, default: Any = None) -> Any:
        """The value of `<name>`, or `default` if it was left out."""
        return self.values.get(name, default)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a line is not a command. `column` counts from 0 in the line; `index` is the number of the offending word."""

    kind: FaultKind
    column: int
    index: int
    word: str
    reason: str = ""
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HelpItem:
    """One line of the help page: a possible word and its meaning. `<cr>` means the line is complete."""

    word: str
    help: str


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the input, quotes removed."""

    text: str
    column: int


_WORD = re.compile(r'"([^"]*)"?|(\S+)')


def split_words(line: str) -> list[Word]:
    """Split at blanks; "double quotes" hold blanks together and are removed."""
    return [Word(next(g for g in m.groups() if g is not None), m.start()) for m in _WORD.finditer(line)]


# -- compiling ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Edge:
    keyword: str  # "" for a value
    name: str
    token: str
    target: int


@dataclass(slots=True)
class _Net:
    """A small automaton of one command: state 0 starts; `jumps` are its epsilon moves."""

    edges: list[list[_Edge]] = field(default_factory=lambda: [[]])
    jumps: list[list[int]] = field(default_factory=lambda: [[]])
    accept: int = 0

    def state(self) -> int:
        self.edges.append([])
        self.jumps.append([])
        return len(self.edges) - 1

    def closure(self, state: int) -> set[int]:
        seen = {state}
        stack = [state]
        while stack:
            for target in self.jumps[stack.pop()]:
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        return seen

    def exits(self, state: int) -> list[_Edge]:
        """Edges out of a state and out of those that it jumps to."""
        return [edge for s in sorted(self.closure(state)) for edge in self.edges[s]]


_LEXEME = re.compile(r"\s*([\[\]()|]|<[^>]+>|[^\s\[\]()|<>]+)")


class _Compiler:
    """Reads one pattern into a net."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._lexemes = _LEXEME.findall(pattern)
        self._at = 0
        self.net = _Net()

    def compile(self) -> _Net:
        self.net.accept = self._sequence(0, "")
        return self.net

    def _sequence(self, start: int, closers: str) -> int:
        here = start
        while self._at < len(self._lexemes) and self._lexemes[self._at] not in closers:
            here = self._item(here)
        return here

    def _item(self, start: int) -> int:
        lexeme = self._lexemes[self._at]
        self._at += 1
        if lexeme in "[(":
            return self._choice(start, "]" if lexeme == "[" else ")")
        if lexeme in "])|":
            raise ValueError(f"the command pattern {self._pattern!r} has a stray {lexeme!r}")
        end = self.net.state()
        if lexeme.startswith("<"):
            name, _, token = lexeme[1:-1].partition(":")
            self.net.edges[start].append(_Edge("", name, token or name, end))
        else:
            self.net.edges[start].append(_Edge(lexeme.lower(), "", "", end))
        return end

    def _choice(self, start: int, closer: str) -> int:
        end = self.net.state()
        while True:
            branch = self.net.state()
            self.net.jumps[start].append(branch)
            self.net.jumps[self._sequence(branch, "|" + closer)].append(end)
            if self._at >= len(self._lexemes):
                raise ValueError(f"the command pattern {self._pattern!r} lacks a {closer!r}")
            self._at += 1
            if self._lexemes[self._at - 1] == closer:
                break
        if closer == "]":
            self.net.jumps[start].append(end)
        return end


# -- matching ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Thread:
    """A path through one command so far."""

    number: int  # of the command in the table: earlier wins
    state: int
    values: tuple[tuple[str, Any], ...] = ()
    keywords: tuple[str, ...] = ()
    canonical: tuple[str, ...] = ()


class Grammar(Generic[H]):
    """The commands of a family. `tokens` parse values; `help_words` describe keywords that no command describes."""

    def __init__(
        self,
        commands: Iterable[Command[H]],
        tokens: Mapping[str, Token],
        help_words: Mapping[str, str] | None = None,
    ) -> None:
        self.commands = tuple(commands)
        self._tokens = tokens
        self._help_words = help_words or {}
        nets = [_Compiler(c.pattern).compile() for c in self.commands]
        self._exits = [[net.exits(s) for s in range(len(net.edges))] for net in nets]
        self._ends = [[net.accept in net.closure(s) for s in range(len(net.edges))] for net in nets]
        for command, net in zip(self.commands, nets, strict=True):
            for edge in (e for edges in net.edges for e in edges):
                if edge.token and edge.token not in tokens:
                    raise ValueError(f"the command pattern {command.pattern!r} names an unknown token: {edge.token}")

    def parse(self, mode: str, line: str) -> Match[H] | Fault:
        """Read a whole line in a mode. An empty line is `incomplete` at word 0."""
        words = split_words(line)
        reached = self._walk(mode, words)
        if isinstance(reached, Fault):
            return reached
        finished = [t for t in reached if self._accepts(t)]
        if not finished:
            return Fault("incomplete", len(line), len(words), "")
        best = min(finished, key=lambda t: t.number)
        return Match(self.commands[best.number], dict(best.values), best.keywords, " ".join(best.canonical))

    def help(self, mode: str, line: str) -> list[HelpItem] | Fault:
        """Return what may follow `line`: after a blank the next words, else those that begin like the last."""
        words = split_words(line)
        partial = ""
        if words and not line[-1:].isspace():
            partial = words.pop().text
        reached = self._walk(mode, words)
        if isinstance(reached, Fault):
            return reached
        items: dict[str, str] = {}
        for thread in reached:
            for edge in self._edges(thread):
                if edge.keyword:
                    if edge.keyword.startswith(partial.lower()):
                        items.setdefault(edge.keyword, self._keyword_help(thread, edge))
                else:
                    token = self._tokens[edge.token]
                    if not partial or self._reads(token, partial):
                        items.setdefault(token.placeholder, token.help)
        listed = [HelpItem(w, items[w]) for w in sorted(items)]
        if not partial and any(self._accepts(t) for t in reached) and words:
            listed.append(HelpItem("<cr>", ""))
        if not listed:
            column = len(line) - len(partial)
            return Fault("unrecognised", column, len(words), partial)
        return listed

    def complete(self, mode: str, line: str) -> str | None:
        """Return what Tab adds: the rest of the only keyword that fits, and a blank; None if not exactly one fits."""
        if not line or line[-1:].isspace():
            return None
        offered = self.help(mode, line)
        if isinstance(offered, Fault):
            return None
        partial = split_words(line)[-1].text
        fitting = [i.word for i in offered if i.word.startswith(partial.lower())]
        if len(fitting) != 1:
            return None
        return fitting[0][len(partial) :] + " "

    # -- the walk

    def _walk(self, mode: str, words: Sequence[Word]) -> list[_Thread] | Fault:
        at: dict[int, list[_Thread]] = {0: [_Thread(n, 0) for n, c in enumerate(self.commands) if mode in c.modes]}
        fault: Fault | None = None
        for index, word in enumerate(words):
            threads = at.pop(index, [])
            if not threads:
                continue
            step = self._step(threads, words, index)
            if isinstance(step, Fault):
                fault = step
                continue
            for width, moved in step:
                at.setdefault(index + width, []).extend(moved)
            if not at and fault is None:
                fault = Fault("unrecognised", word.column, index, word.text)
        reached = at.get(len(words), [])
        return reached or fault or Fault("incomplete", 0, 0, "")

    def _step(
        self, threads: Sequence[_Thread], words: Sequence[Word], index: int
    ) -> list[tuple[int, list[_Thread]]] | Fault:
        """Follow one word: exact keyword, else the only keyword that it abbreviates, else values."""
        word = words[index]
        typed = word.text.lower()
        by_keyword = self._by_keyword(threads, typed)
        if typed in by_keyword:
            return [(1, by_keyword[typed])]
        if len(by_keyword) == 1:
            return [(1, next(iter(by_keyword.values())))]
        if by_keyword:
            return Fault("ambiguous", word.column, index, word.text, candidates=tuple(sorted(by_keyword)))
        by_value, reason = self._by_value(threads, [w.text for w in words[index:]])
        if by_value:
            return by_value
        kind: FaultKind = "unrecognised" if reason is None else "bad-value"
        if not any(self._edges(t) for t in threads):
            kind = "excess"
        return Fault(kind, word.column, index, word.text, reason or "")

    def _by_keyword(self, threads: Sequence[_Thread], typed: str) -> dict[str, list[_Thread]]:
        threads_by_keyword: dict[str, list[_Thread]] = {}
        for thread in threads if typed else ():
            for edge in self._edges(thread):
                if edge.keyword.startswith(typed):
                    threads_by_keyword.setdefault(edge.keyword, []).append(_follow(thread, edge))
        return threads_by_keyword

    def _by_value(
        self, threads: Sequence[_Thread], rest: Sequence[str]
    ) -> tuple[list[tuple[int, list[_Thread]]], str | None]:
        """Return threads whose token parses the word, with the words it took; and why a token refused."""
        candidates: list[tuple[int, list[_Thread]]] = []
        reason = None
        for thread in threads:
            for edge in (e for e in self._edges(thread) if e.token):
                try:
                    value, width = self._tokens[edge.token].parse(rest)
                except BadToken as bad:
                    reason = str(bad)
                    continue
                candidates.append((width, [_follow(thread, edge, value, rest[:width])]))
        return candidates, reason

    def _edges(self, thread: _Thread) -> list[_Edge]:
        return self._exits[thread.number][thread.state]

    def _accepts(self, thread: _Thread) -> bool:
        return self._ends[thread.number][thread.state]

    def _keyword_help(self, thread: _Thread, edge: _Edge) -> str:
        command = self.commands[thread.number]
        last = self._accepts(_follow(thread, edge))
        if last and command.help:
            return command.help
        return self._help_words.get(edge.keyword, command.help)

    @staticmethod
    def _reads(token: Token, text: str) -> bool:
        try:
            token.parse([text])
        except BadToken:
            return False
        return True


def _follow(thread: _Thread, edge: _Edge, value: Any = None, text: Sequence[str] = ()) -> _Thread:
    if edge.keyword:
        return _Thread(
            thread.number,
            edge.target,
            thread.values,
            (*thread.keywords, edge.keyword),
            (*thread.canonical, edge.keyword),
        )
    return _Thread(
        thread.number,
        edge.target,
        (*thread.values, (edge.name, value)),
        thread.keywords,
        (*thread.canonical, *text),
    )
