"""Values in M4300 lines beyond those of `twin.cli.tokens`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_testbed.twin.cli.tokens import BadToken, Mac, Number, NumberList, Text, Token
from eee_testbed.twin.families.fastpath.config import VID_MAX
from eee_testbed.twin.families.fastpath.personality import AGEING_S, NAME_MAX_CHARACTERS
from eee_testbed.twin.families.fastpath.ports import PortToken

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_STATIC = 20


@dataclass(frozen=True, slots=True)
class Description:
    """One word, or several in 'single' or "double" quotes. Value: str."""

    placeholder: str = "<description>"
    help: str = "Enter description."

    def parse(self, words: Sequence[str]) -> tuple[str, int]:
        """Take words up to the closing quote; double quotes are handled before."""
        if not words[0].startswith("'"):
            return words[0], 1
        for count in range(1, len(words) + 1):
            if words[count - 1].endswith("'") and (count > 1 or len(words[0]) > 1):
                return " ".join(words[:count])[1:-1], count
        raise BadToken("the closing quote is missing")


@dataclass(frozen=True, slots=True)
class QuotedRest:
    """Everything to the end of the line; words with blanks get their quotes back. Value: str."""

    placeholder: str = "<line>"
    help: str = "Enter the rest of the line."

    def parse(self, words: Sequence[str]) -> tuple[str, int]:
        """Take all words."""
        return " ".join(f'"{w}"' if not w or " " in w else w for w in words), len(words)


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter behind the bar of a show. `kind`: include, exclude, begin or section."""

    kind: str
    text: str

    def apply(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that pass; a section runs to the line `exit`."""
        if self.kind == "include":
            return [line for line in lines if self.text in line]
        if self.kind == "exclude":
            return [line for line in lines if self.text not in line]
        kept: list[str] = []
        inside = False
        for line in lines:
            inside = inside or self.text in line
            if inside:
                kept.append(line)
            if self.kind == "section" and line.strip() == "exit":
                inside = False
        return kept


@dataclass(frozen=True, slots=True)
class FilterToken:
    """``| include "text"``. Value: Filter."""

    placeholder: str = "|"
    help: str = "Output filter options."

    def parse(self, words: Sequence[str]) -> tuple[Filter, int]:
        """Take three words."""
        kinds = [k for k in ("include", "exclude", "begin", "section") if len(words) > 2 and k.startswith(words[1])]
        if words[0] != "|" or len(kinds) != 1:
            raise BadToken("a filter is | include TEXT, | exclude TEXT, | begin TEXT or | section TEXT")
        return Filter(kinds[0], words[2]), 3


def tokens(physical: int) -> dict[str, Token]:
    """Return the tokens of the command table, for a switch with this number of physical ports."""
    return {
        "vid": Number(1, VID_MAX, "Enter a VLAN ID."),
        "vids": NumberList(1, VID_MAX, "<vlan-list>", "Enter VLAN IDs, for example 11-16,20."),
        "name": Text(NAME_MAX_CHARACTERS, "<name>", "Enter a name."),
        "hostname": Text(64, "<hostname>", "Enter the hostname."),
        "text": Description(),
        "password": Text(64, "<password>", "Enter a password."),
        "filter": FilterToken(),
        "level": Number(0, 15, "Enter the access level."),
        "rest": QuotedRest(),
        "ports": PortToken(physical),
        "port": PortToken(physical, ranges=False),
        "lag": PortToken(physical, ranges=False, placeholder="lag <1-128>", help="Enter a port-channel."),
        "mac": Mac("<macaddr>", "Enter a MAC address."),
        "byte": Number(1518, 9216, "Enter the frame size in bytes."),
        "idle_us": Number(0, 4_294_977_295, "Enter the transmit idle time in microseconds."),
        "wake_us": Number(0, 65_535, "Enter the transmit wake time in microseconds."),
        "statics": Number(0, MAX_STATIC, "Enter the number of static addresses."),
        "ageing_s": Number(*AGEING_S, "Enter the aging time in seconds."),
        "interval_s": Number(30, 36_000, "Enter the sampling interval in seconds."),
        "samples": Number(1, 168, "Enter the number of samples."),
        "rows": Number(0, 48, "Enter the number of lines."),
    }
