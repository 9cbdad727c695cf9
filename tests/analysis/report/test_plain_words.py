"""Findings call placements and settings by words, not by the keys of tables and files."""

import pytest

from eee_testbed.analysis.configurations import STREAM, Factors, State
from eee_testbed.analysis.report.plain_words import placed, state_words


def test_a_placement_is_hosts_and_ranks() -> None:
    assert placed("relax 2x1") == "relax on 2 hosts"
    assert placed("my 3x3 solver 1x4") == "my 3x3 solver on 1 host with 4 ranks"
    assert placed("no placement") == "no placement"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ((), "the lab as it is"),
        ((("eee", True),), "EEE on"),
        ((("eee", "off"), ("link", "off")), "EEE off, links off"),
        ((("speed_mbps", "auto"),), "links at full speed"),
        ((("routing", "spread"),), "routing spread"),
        (((STREAM, "n03"),), "a stream from n03"),
        ((("cards", "off"), ("slow", 10_000), ("spare", "off")), "EEE of cards off, links of slow at 10,000 Mb/s, "),
    ],
)
def test_a_state_is_what_the_lab_does(state: State, words: str) -> None:
    factors = Factors({"cards": "eee", "slow": "speed_mbps", "spare": "link"})
    assert state_words(factors, state).startswith(words)
