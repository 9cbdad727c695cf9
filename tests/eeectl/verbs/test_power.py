"""`eeectl power` without a strip: the mistakes that it reports before anything is sent."""

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
def test_a_mistake_is_reported_in_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert run(words) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert says in printed.err
    assert printed.err.count("\n") == 1
