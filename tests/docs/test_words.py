"""Docs and help are in plain English: short sentences on average, none endless, none of the banned phrases."""

from statistics import mean

import pytest

from tests.support.code_words import (
    DOCSTRING_LONGEST,
    DOCSTRING_MEAN,
    ERROR_LONGEST,
    ERROR_MEAN,
    docstrings_in,
    errors_in,
    packages,
)
from tests.support.words import BOUNDS, LONGEST, LONGEST_OF_HELP, MEAN, banned_in, lengths, sentences, texts

TEXTS = texts()
by_name = pytest.mark.parametrize("name", TEXTS)


@by_name
def test_sentences_are_short(name: str) -> None:
    counts = lengths(TEXTS[name]) or [0]
    average, longest = BOUNDS.get(name, (MEAN, LONGEST_OF_HELP if name.startswith("help of") else LONGEST))
    assert mean(counts) <= average, "`python -m tests.support.words` shows all texts"
    assert max(counts) <= longest, max(sentences(TEXTS[name]), key=lambda one: len(one.split()))


@by_name
def test_no_phrase_is_banned(name: str) -> None:
    assert banned_in(TEXTS[name]) == []


@pytest.mark.parametrize("package", packages())
def test_errors_and_docstrings_have_short_sentences_and_no_banned_phrase(package: str) -> None:
    for texts_of, average, longest in (
        (errors_in, ERROR_MEAN, ERROR_LONGEST),
        (docstrings_in, DOCSTRING_MEAN, DOCSTRING_LONGEST),
    ):
        texts = list(texts_of(package))
        counts = [(count, place) for place, text in texts for count in lengths(text)]
        assert mean(count for count, _ in counts) <= average, "`python -m tests.support.code_words` shows all packages"
        assert max(counts) <= (longest + 1, ""), "words, and the place of the text"
        assert [(place, phrase) for place, text in texts for phrase in banned_in(text)] == []


def test_bounds_are_of_texts_that_need_them() -> None:
    needless = [
        name
        for name in BOUNDS
        if name not in TEXTS or (mean(lengths(TEXTS[name])) <= MEAN and max(lengths(TEXTS[name])) <= LONGEST)
    ]
    assert needless == [], "remove them from BOUNDS"


def test_only_running_text_counts() -> None:
    page = (
        "# A head\n\nOne two. Three `a b c` four!\n\n```sh\nnot this one\n```\n\n| nor | this |\n\n"
        "* An item\n  goes on\n* second item\n"
    )
    assert list(sentences(page)) == ["One two.", "Three x four!", "An item goes on", "second item"]


def test_a_banned_phrase_is_found_across_lines_and_has_a_better_one() -> None:
    assert banned_in("It has so many\nof them.") == ["'so many of': a number"]
