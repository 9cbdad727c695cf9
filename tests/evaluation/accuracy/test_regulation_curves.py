"""What a record has of a regulation's table."""

from typing import Any

from evaluation.accuracy.regulation_curves import figures_of
from evaluation.records import Figure


def _choice(level: str, off: list[int], **levels: str) -> dict[str, Any]:
    share = {"value": 0.011, "low": -0.002, "high": 0.0123}
    return {"level": level, "off": off, "levels": levels, "slowdown": share, "saving_metered": share}


def test_a_choice_is_named_by_what_it_does_to_links() -> None:
    table = {
        "choices": [
            _choice("a", [3, 4], x="off"),
            _choice("b", [5, 6], x="off"),
            _choice("c", [], x="eee", y="on", z="eee"),
            _choice("d", [1], x="off") | {"saving_metered": None},
        ]
    }
    share = {"value": 1.1, "low": -0.2, "high": 1.23, "saving": "1.1 % (-0.2 - 1.2)"}
    assert figures_of(table, ["a", "baseline", "a", "c", "b"]) == {
        "2 off": Figure.model_validate(share | {"n": 2}),
        "2 asleep": Figure.model_validate(share | {"n": 1}),
    }
