"""The manual page names every verb, and nothing in it is taken for a request that is not one."""

import re

from eee_testbed.eeectl.reference.commands import command_texts
from eee_testbed.eeectl.reference.manual import manual
from eee_testbed.eeectl.verb_table import VERBS

_REQUESTS = {"TH", "SH", "SS", "TP", "PP", "B", "I", "nf", "fi"}


def test_every_verb_and_command_has_its_place() -> None:
    lines = manual().splitlines()
    assert [line.removeprefix(".B ") for line in lines if line in {f".B {verb.name}" for verb in VERBS}] == [
        verb.name for verb in VERBS
    ]
    assert sum(line.startswith(".SS ") for line in lines) == len(list(command_texts()))


def test_text_is_no_request_and_no_escape() -> None:
    for line in manual().splitlines():
        if line.startswith((".", "'")):
            assert line.split()[0].lstrip(".") in _REQUESTS, line
        assert set(re.findall(r"\\(f[BR]|.)", line)) <= {"fB", "fR", "-", "e", "&"}, line
