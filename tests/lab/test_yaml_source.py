"""Mistakes of a command line name its options."""

import pytest

from eee_testbed.lab.yaml_source import CommandLine


@pytest.mark.parametrize(
    ("place", "option"),
    [
        (("measure", "program", "hosts", 1), "--hosts"),
        (("measure", "program", "parameters", "sleep_us"), "--set sleep_us"),
        (("measure", "program", "name"), "the program"),
        (("measure", "program", "timeout_s"), "--timeout-s"),
        (("factors", "eee", "levels"), "--factor eee"),
        (("recordings", "user"), "--agent-user"),
        ((), "the command line"),
    ],
)
def test_a_mistake_names_the_option(place: tuple[str | int, ...], option: str) -> None:
    problem = CommandLine({}).problem(place, "is unknown", "use another")
    assert str(problem) == f"{option}: is unknown; use another"
