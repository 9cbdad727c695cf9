"""Where more echoes tell more."""

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.links.probe_design import about_edge


def test_gaps_about_an_edge_hold_all_that_is_uncertain_of_it_and_little_else() -> None:
    low_us, high_us = about_edge(Interval(1000.0, 990.0, 1010.0), Interval(200.0, 180.0, 230.0))
    assert 940.0 <= low_us < 990.0
    assert 1240.0 < high_us <= 1400.0


def test_gaps_about_an_edge_that_is_known_begin_just_before_it() -> None:
    low_us, high_us = about_edge(Interval(1000.0, 1000.0, 1000.0), Interval(200.0, 200.0, 200.0))
    assert low_us == 999.0
    assert high_us > 1200.0
