"""Hybrid mode against deep sleep, link by link, on simulated links."""

from typing import Any

import polars as pl

from eee_testbed.simulation.replay.replayed import replay
from eee_testbed.simulation.studies.inequality import check_between, check_within, savings
from tests.support.replays import described, stencil

_TIMES = {"hold": 100, "sleep": 50, "wake": 80, "wake_during_sleep": 80, "ends_sleep": True}
_DEEP = {"mode": "deep"} | _TIMES
_HYBRID = {"mode": "hybrid", "deep_after": 100, "fast_wake": 5} | _TIMES


def _links(links: dict[str, Any], **program: Any) -> pl.DataFrame:
    job = stencil(8, placement="random")
    job["program"] |= program
    return pl.DataFrame(replay(described(job, links=links), 1, sleeping=True).links)


def test_every_link_keeps_it_in_hybrid_mode() -> None:
    for steps in (1, 20):
        found = check_within(_links(_HYBRID, steps=steps, grain_ns=500), 100)
        assert found.links > 4
        assert found.beyond == 0


def test_every_link_keeps_it_between_modes_where_gaps_are_long() -> None:
    # Ranks compute for much longer than links take to sleep, so that both modes have the same gaps but for wakes.
    deep, hybrid = _links(_DEEP, steps=20), _links(_HYBRID, steps=20)
    found = check_between(deep, hybrid, 100)
    assert found.links == deep.height > 4
    assert found.beyond == 0
    assert (savings(deep) > savings(hybrid)).all()


def test_a_link_that_stays_in_fast_wake_is_found() -> None:
    links = _links(_HYBRID, steps=20)
    longer = links.with_columns(fast_cycles=pl.col("fast_cycles") + 100 * pl.col("sleeps"))
    found = check_within(longer, 100)
    assert found.beyond == links.height
    assert found.worst > 0
    worse = check_between(_links(_DEEP, steps=20), links.with_columns(quiet_cycles=0), 100)
    assert worse.beyond > 0
