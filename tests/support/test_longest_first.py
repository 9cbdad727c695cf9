"""The order of live tests."""

from tests.support import ROOT
from tests.support.longest_first import APART, SECONDS, longest_first


def test_each_worker_begins_with_a_long_group_and_has_a_short_one_behind_it() -> None:
    seconds = {"a": 5.0, "b": 50.0, "c": 1.0, "d": 20.0, "e": 100.0, "f": 2.0}
    assert longest_first(seconds, 2) == ("e", "b", "c", "f", "d", "a")
    assert longest_first(seconds, 5) == ("e", "b", "d", "a", "f", "c")
    assert longest_first({}, 2) == ()


def test_the_files_that_are_named_exist() -> None:
    assert all((ROOT / name).is_file() for name in (*SECONDS, *APART))
