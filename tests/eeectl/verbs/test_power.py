"""`eeectl power`, with a strip that nobody has to be at: what it refuses before anything is sent."""

import pytest

from eeectl.cli import run


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["power", "off", "sw1"], "give --yes"),
        (["power", "cycle", "pdu1:1"], "give --yes"),
        (["power", "off", "pdu1:13", "--yes"], "has no outlet pdu1:13"),
        (["power", "on", "nobody"], "has no outlet nobody"),
        (["power", "read", "pdu9:1"], "has no outlet pdu9:1"),
        (["power", "cycle", "sw1", "--off-s", "-1", "--yes"], "0 to 3600"),
    ],
)
def test_refusals_are_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert run(words) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert says in told.err
    assert told.err.count("\n") == 1
