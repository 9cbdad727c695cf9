"""Parts of a file with programs: what contradicts itself is refused in one sentence."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.description_paths import relative_to
from eee_testbed.simulation.replay.hosts import HOSTS, Hosts, hosts_of
from eee_testbed.simulation.replay.jobs import FileProgram, load_program
from eee_testbed.simulation.replay.program import write_program
from tests.support.replays import described, stencil


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loads": [0.1]}, "either loads, a curve or programs"),
        ({"traffic": {"kind": "tornado", "base": 4, "digits": 1}}, "without traffic: leave it out"),
        ({"engine": "flit"}, "without engine: flit"),
        ({"links": {"mode": "deep", "coalesce": 5}}, "without links that coalesce or are slower"),
        ({"router": {"vcs": 2}}, "write router: {switching: cut_through}"),
        ({"programs": {"jobs": [stencil(2), stencil(2, placement="scheduled")]}}, "places all jobs or none"),
        ({"programs": {"jobs": [stencil(2, placement="given")]}}, "write placement: given, nodes: [0, 1]"),
        ({"programs": {"jobs": [stencil(2, nodes=[0, 1])]}}, "nodes and placement given belong together"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(words)):
        described(**changes)


@pytest.mark.parametrize("key", ["node_links", "card_links"])
def test_links_to_nodes_sleep_with_programs_alone(key: str) -> None:
    plain = described().model_dump() | {"programs": None, "loads": [0.1], key: {"mode": "deep"}}
    with pytest.raises(ValidationError, match="links to nodes sleep where programs run"):
        type(described()).model_validate(plain)


def test_costs_have_names_and_may_be_given() -> None:
    assert hosts_of("ompi-tcp") == HOSTS["ompi-tcp"][1]
    own = Hosts(send_ns=5)
    assert hosts_of(own) is own
    assert own.form()["send"] == 5
    assert len(own.form()) == len(Hosts.model_fields)


def test_a_program_s_file_is_seen_from_the_simulation_s(tmp_path: Path) -> None:
    job = stencil(2)
    made = load_program(described(job).programs.jobs[0].program)  # type: ignore[union-attr]
    write_program(tmp_path / "row.replay", made)
    description = relative_to(described({"program": {"kind": "file", "path": "row.replay"}}), tmp_path)
    assert description.programs is not None
    program = description.programs.jobs[0].program
    assert isinstance(program, FileProgram)
    assert load_program(program).calls.equals(made.calls)
    missing = relative_to(described({"program": {"kind": "file", "path": "other.replay"}}), tmp_path)
    assert missing.programs is not None
    with pytest.raises(UnreadableFile, match="name a replay file"):
        load_program(missing.programs.jobs[0].program)
