"""Tables of what was measured or written elsewhere: the same as the pages that print it."""

import json
import re

import polars as pl

from eee_testbed.dataset.published import booksim2, link_rows
from eee_testbed.simulation.description import Description
from evaluation.accuracy.booksim2_cases import CASES
from tests.support import ROOT

_HEADING = "| network | saturation | BookSim2's mean latency, cycles |"


def printed() -> list[tuple[object, ...]]:
    """Rows of the table in docs/reference/simulation.md, one a load."""
    page = (ROOT / "docs" / "reference" / "simulation.md").read_text(encoding="utf-8")
    lines = page[page.index(_HEADING) :].partition("\n\n")[0].splitlines()[2:]
    found: list[tuple[object, ...]] = []
    for line in lines:
        case, saturation, means, differences, late = (cell.strip() for cell in line.strip("|").split("|"))
        tail = tuple(float(one) for one in late.split("/")) if late != "-" else (None, None)
        for share, mean, difference in zip((0.3, 0.7, 0.8, 0.9), means.split(";"), differences.split(";"), strict=True):
            off, half = (float(one) for one in difference.split("±"))
            ends = tail if share == 0.8 else (None, None)
            found.append((case, float(saturation), share, float(mean), off, half, *ends))
    return found


def test_latencies_are_those_of_the_page() -> None:
    assert booksim2().drop("simulation").rows() == printed()


def test_each_network_is_the_one_that_was_simulated() -> None:
    found = booksim2().group_by("case", maintain_order=True).agg(pl.col("simulation").unique())
    assert set(found["case"]) <= set(CASES)
    for name, (simulation,) in found.iter_rows():
        case = CASES[name]
        described = Description.model_validate({"name": "one", "loads": [0.1], **json.loads(simulation)})
        again = Description.model_validate(
            {"name": "one", "loads": [0.1], "network": case.network.ours, "routing": case.network.routing,
             "router": {**described.router.model_dump(), **case.own}, "traffic": case.traffic.ours}
        )  # fmt: skip
        assert described == again
        router = described.router
        assert (router.vcs, router.buffer_flits, router.packet_flits) == (case.vcs, case.buffer, case.flits)
        assert (router.speedup, router.pipelined, router.credit_delay) == (
            case.speedup,
            case.pipelined,
            case.credit_delay,
        )
        assert (router.routing_delay, router.traversal_delay) == (case.routing_delay, case.traversal_delay)


def test_links_have_what_the_standard_gives_and_nothing_else() -> None:
    rows = {row["phy"]: row for row in link_rows()}
    assert (rows["100GBASE-KR4"]["sleep_us"], rows["100GBASE-KR4"]["wake_us"]) == (0.9, 5.5)
    assert rows["100GBASE-KR4"]["lacks"] is None
    fast = rows["400GBASE-R"]
    assert (fast["sleep_us"], fast["wake_us"], fast["fast_wake_us"]) == (None, None, 0.34)
    for name in ("128G", "800GBASE-R"):
        assert {value for key, value in rows[name].items() if key.endswith("_us")} == {None}
        assert rows[name]["lacks"]


def test_the_page_has_the_same_links() -> None:
    page = (ROOT / "docs" / "reference" / "simulation.md").read_text(encoding="utf-8")
    printed_rows = re.findall(r"^\| ([\w, -]+GBASE-\w+) \| ([^|]+) \| ([^|]+) \|$", page, flags=re.MULTILINE)
    said = {name: (deep, fast) for names, deep, fast in printed_rows for name in names.split(", ")}
    rows = {row["phy"]: row for row in link_rows() if row["phy"] != "128G"}
    assert said.keys() == rows.keys()
    for name, row in rows.items():
        unknown = "not known" if row["fast_wake_us"] is None else "none"
        deep = unknown if row["sleep_us"] is None else f"{row['sleep_us']:g}, {row['wake_us']:g}"
        assert said[name] == (deep, unknown if row["fast_wake_us"] is None else f"{row['fast_wake_us']:g}")
