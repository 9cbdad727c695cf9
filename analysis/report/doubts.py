"""Doubts: the sections' warnings in one place, each once, with the section that it matters to most."""

from collections.abc import Sequence
from dataclasses import dataclass

from eee_testbed.analysis.report.section import Section


@dataclass(frozen=True, slots=True)
class Doubts:
    """What a reader of a section has to know. `section` is its name, `title` its title."""

    section: str
    title: str
    sentences: tuple[str, ...]


def doubts_of(sections: Sequence[Section]) -> tuple[Doubts, ...]:
    """By section, in the order of the page; a sentence that several sections have is the first one's."""
    seen: set[str] = set()
    doubts = []
    for section in sections:
        kept = []
        for sentence in section.warnings:
            key = " ".join(sentence.lower().split())
            if key not in seen:
                seen.add(key)
                kept.append(sentence)
        if kept:
            doubts.append(Doubts(section.name, section.title, tuple(kept)))
    return tuple(doubts)
