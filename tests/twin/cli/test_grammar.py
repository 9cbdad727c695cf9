import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.twin.cli.grammar import Command, Fault, Grammar, HelpItem, Match, split_words, with_no
from eee_testbed.twin.cli.tokens import BadToken, Mac, Number, NumberList, Rest, Text, format_list, parse_list

TOKENS = {
    "port": Text(placeholder="PORT"),
    "vlans": NumberList(1, 4094),
    "vid": Number(1, 4094),
    "mac": Mac(),
    "rest": Rest(),
}
ROWS = (
    "interface <port>",
    "[no] shutdown",
    "switchport mode (access|trunk|general)",
    "switchport general allowed vlan add <vlans> [tagged|untagged]",
    "switchport general pvid <vid>",
    "mac address-table static <mac> vlan <vid> interface <port>",
    "show mac address-table [dynamic|static] [vlan <vid>]",
    "description <rest>",
    "exit",
)


@pytest.fixture
def grammar() -> Grammar[Any]:
    rows = [Command(p, p, frozenset({"m"}), f"help of {p}") for p in ROWS]
    return Grammar([*rows, Command("show version", "version", frozenset({"other"}))], TOKENS)


def test_a_command_in_full_gives_its_values_and_spelling(grammar: Grammar[Any]) -> None:
    found = grammar.parse("m", "switchport general allowed vlan add 11-13,20 untagged")
    assert isinstance(found, Match)
    assert found.values == {"vlans": (11, 12, 13, 20)}
    assert found.has("untagged")
    assert not found.has("tagged")
    assert found.canonical == "switchport general allowed vlan add 11-13,20 untagged"


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("sw g a v a 11 u", "switchport general allowed vlan add 11 untagged"),
        ("SW MODE Gen", "switchport mode general"),
        ("no sh", "no shutdown"),
        ("  shut  ", "shutdown"),
        ("sho mac add", "show mac address-table"),
        ("sho mac add v 5", "show mac address-table vlan 5"),
    ],
)
def test_words_may_be_abbreviated(grammar: Grammar[Any], typed: str, spelled: str) -> None:
    assert grammar.parse("m", typed).canonical == spelled


@pytest.mark.parametrize(
    ("typed", "kind", "column"),
    [
        ("s", "ambiguous", 0),
        ("switchport", "incomplete", 10),
        ("switchport general pvid", "incomplete", 23),
        ("frobnicate", "unrecognised", 0),
        ("switchport   colour", "unrecognised", 13),
        ("switchport general pvid 4095", "bad-value", 24),
        ("switchport general pvid x", "bad-value", 24),
        ("shutdown now", "excess", 9),
        ("", "incomplete", 0),
        ("show version", "unrecognised", 5),
    ],
)
def test_an_invalid_command_says_what_and_where(grammar: Grammar[Any], typed: str, kind: str, column: int) -> None:
    fault = grammar.parse("m", typed)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.column) == (kind, column)


def test_an_ambiguous_word_lists_what_it_could_be(grammar: Grammar[Any]) -> None:
    assert grammar.parse("m", "s").candidates == ("show", "shutdown", "switchport")


def test_an_exact_word_wins_over_a_longer_one() -> None:
    grammar = Grammar([Command("port", 1, frozenset("m")), Command("ports", 2, frozenset("m"))], {})
    assert grammar.parse("m", "port").command.run == 1
    assert grammar.parse("m", "por").kind == "ambiguous"


def test_a_command_lives_in_its_modes_only(grammar: Grammar[Any]) -> None:
    assert isinstance(grammar.parse("other", "show version"), Match)
    assert isinstance(grammar.parse("other", "exit"), Fault)


def test_help_lists_next_words_values_and_the_end(grammar: Grammar[Any]) -> None:
    offered = grammar.help("m", "switchport general allowed vlan add 5 ")
    assert [i.word for i in offered] == ["tagged", "untagged", "<cr>"]
    assert [i.word for i in grammar.help("m", "interface ")] == ["PORT"]
    assert [i.word for i in grammar.help("m", "sh")] == ["show", "shutdown"]
    assert HelpItem("shutdown", "help of [no] shutdown") in grammar.help("m", "")
    assert grammar.help("m", "zzz").kind == "unrecognised"


def test_tab_adds_the_only_word_that_fits(grammar: Grammar[Any]) -> None:
    assert grammar.complete("m", "swi") == "tchport "
    assert grammar.complete("m", "switchport ge") == "neral "
    assert grammar.complete("m", "s") is None
    assert grammar.complete("m", "switchport general pvid 1") is None
    assert grammar.complete("m", "exit ") is None


def test_quotes_hold_blanks_together(grammar: Grammar[Any]) -> None:
    assert [w.text for w in split_words('description "a b"  c')] == ["description", "a b", "c"]
    assert grammar.parse("m", 'description "a  b" c').values == {"rest": "a  b c"}


@pytest.mark.parametrize("pattern", ["show [x", "show x]", "show (a|b", "go <unknown>"])
def test_a_wrong_pattern_is_refused_when_the_table_is_made(pattern: str) -> None:
    with pytest.raises(ValueError, match="command pattern"):
        Grammar([Command(pattern, 1, frozenset("m"))], TOKENS)


@pytest.mark.parametrize("text", ["00:11:22:33:44:55", "0011.2233.4455", "00-11-22-33-44-55", "001122334455"])
def test_mac_addresses_in_every_spelling(text: str) -> None:
    assert Mac().parse([text]) == (bytes.fromhex("001122334455"), 1)


@pytest.mark.parametrize("text", ["00:11:22:33:44", "00:11-22:33:44:55", "0011.2233.445g", "\u0660\u06601122334455"])
def test_invalid_mac_addresses(text: str) -> None:
    with pytest.raises(BadToken):
        Mac().parse([text])


@pytest.mark.parametrize("text", ["", "1,", "5-3", "0", "4095", "1-", "a", "1--2", "²", "99999999999999999999"])
def test_invalid_vlan_lists(text: str) -> None:
    with pytest.raises(BadToken):
        parse_list(text, 1, 4094)


@given(st.sets(st.integers(1, 4094), min_size=1))
def test_a_list_printed_is_the_list_read(numbers: set[int]) -> None:
    assert set(parse_list(format_list(numbers), 1, 4094)) == numbers


@given(st.text(alphabet=string.printable, max_size=60))
def test_no_line_breaks_the_parser(line: str) -> None:
    grammar = Grammar([Command(p, p, frozenset({"m"})) for p in ROWS], TOKENS)
    assert isinstance(grammar.parse("m", line), Match | Fault)
    assert isinstance(grammar.help("m", line), list | Fault)
    grammar.complete("m", line)


@given(st.sampled_from(ROWS), st.data())
def test_every_abbreviation_is_the_same_command_or_ambiguous(pattern: str, data: st.DataObject) -> None:
    values = {"<port>": "gi1", "<vlans>": "3-4", "<vid>": "7", "<mac>": "00:11:22:33:44:55", "<rest>": "hello"}
    words = [w for w in pattern.replace("(access|trunk|general)", "trunk").split() if "[" not in w and "]" not in w]
    full = " ".join(values.get(w, w) for w in words)
    cut = [w if w in values.values() else w[: data.draw(st.integers(1, len(w)))] for w in full.split()]
    grammar = Grammar([Command(p, p, frozenset({"m"})) for p in ROWS], TOKENS)
    found, short = grammar.parse("m", full), grammar.parse("m", " ".join(cut))
    assert isinstance(found, Match)
    assert found.canonical == short.canonical if isinstance(short, Match) else short.kind == "ambiguous"


def test_no_undoes_a_setting_without_its_value() -> None:
    grammar = Grammar(with_no("speed (10|100) <vid>", "run", frozenset({"if"})), TOKENS)
    for line, valid in (("speed 10 7", True), ("no speed", True), ("speed", False), ("no speed 10 7", False)):
        assert isinstance(grammar.parse("if", line), Match) is valid
