"""Networks that a recorded program is put on: files with and without programs, and a lab's inventory."""

from pathlib import Path

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Links
from eee_testbed.simulation.description_file import read_description
from eee_testbed.simulation.replay.jobs import Job
from eee_testbed.simulation.replay.on_network import (
    network_for,
    node_links_follow,
    rate_mbps,
    recorded_job,
    size_of,
    with_measured_cards,
)
from eee_testbed.simulation.replay.replayed import replay
from tests.support.measured.synthetic_run import calibration
from tests.support.replays import described, stencil

_HEAD = "name: net\nnetwork: {kind: hyperx, sizes: [4], concentration: 2}\nrouting: dor\n"
_ROUTER = "router: {vcs: 2, buffer_flits: 64, packet_flits: 8, switching: cut_through}\n"


def _file(folder: Path, text: str) -> str:
    (folder / "net.yaml").write_text(_HEAD + text, encoding="utf-8")
    return str(folder / "net.yaml")


def test_a_file_without_programs_gets_them_at_the_rate_of_the_run(tmp_path: Path) -> None:
    name = _file(tmp_path, _ROUTER + "loads: [0.1]\n")
    found = network_for(name, 1000.0, recorded_job(Path("x.replay"), 2))
    assert found.programs is not None
    assert found.programs.jobs[0].ranks_per_node == 2
    assert rate_mbps(found) == pytest.approx(1000.0)
    assert size_of(found) == (4, 8, 6)
    assert node_links_follow(found)
    with pytest.raises(LabError, match="switching: cut_through}, or store_and_forward"):
        network_for(_file(tmp_path, "loads: [0.1]\n"), 1000.0, recorded_job(Path("x.replay"), 1))


def test_a_file_with_programs_keeps_all_but_the_first_program(tmp_path: Path) -> None:
    jobs = "[{program: {kind: graph500, ranks: 4}, placement: random}, {program: {kind: graph500, ranks: 4}}]"
    text = f"node_links: {{mode: 'off'}}\nprograms: {{cycle_ns: 2, flit_byte: 16, hosts: codes, jobs: {jobs}}}\n"
    found = network_for(_file(tmp_path, _ROUTER + text), 1000.0, recorded_job(Path("x.replay"), 2))
    assert found.programs is not None
    first, second = found.programs.jobs
    assert (first.program.kind, first.placement) == ("file", "random")
    assert second.program.kind == "graph500"
    assert found.programs.hosts == "codes"
    assert not node_links_follow(found)


def test_programs_run_on_a_labs_own_network() -> None:
    for lab, switches in (("miwa", 1), ("virtual", 6)):
        found = network_for(f"lab:{lab}", 1000.0, Job.model_validate(stencil(2)))
        assert size_of(found)[0] == switches
        assert 900 < rate_mbps(found) < 1000  # payload
        assert replay(found, 1, sleeping=False).messages > 0


def _ping(tmp_path: Path, byte: int, switching: str) -> float:
    """Cycles of a message over three switches in a line, alone."""
    text = (
        "name: line\nnetwork: {kind: graph, routers: 3, nodes: [0, 2], links: [[0, 1], [1, 2]], link_latency: 3}\n"
        f"routing: shortest\nrouter: {{vcs: 1, buffer_flits: 64, packet_flits: 8, switching: {switching}}}\n"
        "programs: {cycle_ns: 10, flit_byte: 8, jobs: [{program: {kind: alltoall, ranks: 2, "
        f"array_byte: {2 * byte}, iterations: 1, grain_ns: 0}}}}]}}\n"
    )
    path = tmp_path / "line.yaml"
    path.write_text(text, encoding="utf-8")
    return replay(read_description(path), 1, sleeping=False).run_time_s / 10e-9


@pytest.mark.parametrize(("byte", "flits"), [(8, 1), (40, 5), (64, 8)])
def test_each_switch_waits_for_the_rest_of_a_frame_of_its_own_length(tmp_path: Path, byte: int, flits: int) -> None:
    through, stored = (_ping(tmp_path, byte, switching) for switching in ("cut_through", "store_and_forward"))
    assert stored - through == pytest.approx(3 * (flits - 1), abs=1e-6)


def test_a_lab_stores_frames() -> None:
    assert network_for("lab:miwa", 1000.0, Job.model_validate(stencil(2))).router.switching == "store_and_forward"


@pytest.mark.parametrize(
    ("ends", "hosts", "awake"),
    [
        (("sw1:1", "sw1:2"), ("n01", "n02"), True),
        (("n01:eth0", "sw1:1"), ("n01", "n02"), False),
        (("sw1:1",), (), False),
        ((), ("n01",), False),
    ],
)
def test_cards_that_were_not_seen_asleep_stay_awake(
    ends: tuple[str, ...], hosts: tuple[str, ...], *, awake: bool
) -> None:
    link = next(iter(calibration().links.values())).model_copy(update={"ends": ends})
    found = with_measured_cards(described(), link, hosts)
    assert (found.card_links == Links()) == awake
    own = described(node_links={"mode": "off"})
    assert with_measured_cards(own, link, hosts) == own
