"""Who runs where and sends to whom, what a placement refuses, and the traffic matrix."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.benchmarks.patterns import bit_reversal, matrix_transpose
from eee_testbed.benchmarks.program import Placement, Unfit
from eee_testbed.benchmarks.table import PROGRAMS
from eee_testbed.eeectl.set_options import value
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.launchers.launcher import Start
from eee_testbed.measuring.experiments.launchers.openmpi import argv, diagnose
from eee_testbed.measuring.experiments.traffic import monitored, node_traffic
from tests.support.laws import law

FOLDER = {"folder": "/opt/bin"}


def test_ranks_are_numbered_host_by_host() -> None:
    placement = Placement(("a", "b"), 2)
    assert [placement.host_of(rank) for rank in range(placement.ranks)] == ["a", "a", "b", "b"]


def test_bit_reversal_of_the_paper() -> None:
    assert bit_reversal(8) == (0, 4, 2, 6, 1, 5, 3, 7)
    for wrong in (1, 2, 3, 6):
        with pytest.raises(Unfit, match="choose other hosts"):
            bit_reversal(wrong)


def test_matrix_transpose_of_the_paper() -> None:
    # 3 x 3, (x, y) at x + 3 y: (0, 0) sends to (2, 2); (0, 2), on the diagonal of x + y = 2, to (2, 0).
    assert matrix_transpose(9) == (8, 5, 6, 7, 4, 1, 2, 3, 0)
    with pytest.raises(Unfit):
        matrix_transpose(8)


@given(st.integers(2, 9))
@law(20)
def test_patterns_are_their_own_inverse(size: int) -> None:
    for partners in (bit_reversal(1 << size), matrix_transpose(size * size)):
        assert [partners[partner] for partner in partners] == list(range(len(partners)))


@pytest.mark.parametrize("version", ["3.3", value("3.3")])
def test_names_and_versions_that_look_like_numbers_are_taken(version: object) -> None:
    """As `--set version=3.3` gives them, and YAML."""
    known = PROGRAMS["npb"]
    parameters = known.parameters.model_validate({"folder": value("2024"), "benchmark": "cg", "version": version})
    assert known.launch(parameters, Placement(("a", "b"), 2)).argv == ("2024/cg.A.4",)


@pytest.mark.parametrize(
    ("program", "parameters", "ranks", "why"),
    [
        ("alltoall", {"array_byte": 8}, 4, "at least 16 byte"),
        ("netpipe", {}, 3, "two ranks"),
        ("osu", {**FOLDER, "benchmark": "osu_bw"}, 4, "two ranks"),
        ("npb", {**FOLDER, "benchmark": "bt"}, 8, "square number"),
        ("npb", {**FOLDER, "benchmark": "cg"}, 6, "power of two"),
        ("npb", {**FOLDER, "benchmark": "lu"}, 10, "twice as long as wide"),
        ("hpcc", {"grid_rows": 3}, 4, "equal rows"),
        ("matrix-transpose", {}, 6, "4, 9, 16"),
    ],
)
def test_what_does_not_go_together(program: str, parameters: dict[str, object], ranks: int, why: str) -> None:
    known = PROGRAMS[program]
    placement = Placement(tuple(f"n{rank}" for rank in range(ranks)), addresses=("198.19.0.1",) * ranks)
    with pytest.raises(Unfit, match=why):
        known.launch(known.parameters.model_validate(parameters), placement)


# -- Open MPI


def test_the_command_of_open_mpi() -> None:
    hpcc = PROGRAMS["hpcc"]
    placement = Placement(("n01", "n02"), 2)
    launch = hpcc.launch(hpcc.parameters(), placement)
    plain = argv(Start(launch, placement, "12ab", "/run/eee-12ab"))
    assert plain[:5] == ["mpirun", "--host", "n01:2,n02:2", "-np", "4"]
    assert plain[-1] == "hpcc"
    assert "env EEE_JOB=12ab orted" in plain
    assert not [word for word in plain if "monitoring" in word or "yield" in word]
    watched = argv(Start(launch, placement, "12ab", "/run/eee-12ab", traffic=True, crowded=True))
    assert "/run/eee-12ab/monitor" in watched
    assert "mpi_yield_when_idle" in watched


_STATUS_3 = """\
Traceback (most recent call last):
ValueError: no room
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[25570,1],2]
  Exit code:    3
--------------------------------------------------------------------------
"""
_KILLED = """\
--------------------------------------------------------------------------
mpirun noticed that process rank 1 with PID 0 on node n02 exited on signal 9 (Killed).
--------------------------------------------------------------------------
"""
_NO_LOGIN = """\
lab@n03: Permission denied (publickey).
--------------------------------------------------------------------------
ORTE was unable to reliably start one or more daemons.
This usually is caused by:

  lack of common network interfaces and/or no route found between
  them. Please check network connectivity of n01 (including firewalls
  and network routing requirements).
"""


# Of Open MPI 5.0.
_STATUS_3_OF_PRRTE = """\
ValueError: no room
--------------------------------------------------------------------------
prterun detected that one or more processes exited with non-zero status,
thus causing the job to be terminated. The first process to do so was:

   Process name: [prterun-n01-20195@1,2]
   Exit code:    3
--------------------------------------------------------------------------
"""
_KILLED_BY_PRRTE = """\
--------------------------------------------------------------------------
prterun noticed that process rank 2 with PID 19967 on node n02 exited on
signal 9 (Killed).
--------------------------------------------------------------------------
"""
_LOST_BY_PRRTE = """\
--------------------------------------------------------------------------
PRTE has lost communication with a remote daemon.

  HNP daemon   : [prterun-n01-19671@0,0] on node n01
  Remote daemon: [prterun-n01-19671@0,1] on node n02

This is usually due to either a failure of the TCP network
connection to the node, or possibly an internal failure of
the daemon itself. We cannot recover from this failure, and
therefore will terminate the job.
--------------------------------------------------------------------------
"""


def test_a_signal_without_the_rank() -> None:
    assert diagnose(139, "", ("n01",)) == ("", "a rank was ended by signal 11 (no output): check its output.")


@pytest.mark.parametrize(
    ("said", "host", "words"),
    [
        (_STATUS_3, "", "rank 2 ended with status 3 (ValueError: no room)"),
        (_KILLED, "n02", "rank 1 was ended there by signal 9"),
        (_NO_LOGIN, "n03", "n01 could not start Open MPI there over SSH (lab@n03: Permission denied (publickey)): set"),
        (_STATUS_3_OF_PRRTE, "", "rank 2 ended with status 3 (ValueError: no room)"),
        (_KILLED_BY_PRRTE, "n02", "rank 2 was ended there by signal 9"),
        (_LOST_BY_PRRTE, "n02", "was lost while the program ran"),
        (
            f"Host key verification failed.\n{_LOST_BY_PRRTE}",
            "n02",
            "there over SSH (Host key verification failed): set",
        ),
        ("", "", "mpirun ended with status 1 (no output)"),
    ],
)
def test_diagnoses_of_open_mpi(said: str, host: str, words: str) -> None:
    blamed, sentence = diagnose(1, said, ("n01", "n02", "n03"))
    assert blamed == host
    assert words in sentence


# -- the traffic matrix: files of Open MPI 4.1.4, of 4 ranks and ten all-to-alls of 400 byte for each


def _prof(rank: int, *more: str) -> str:
    lines = ["# POINT TO POINT", *more]
    lines += [f"I\t{rank}\t{other}\t4000 bytes\t11 msgs sent\t1,0,10" for other in range(4) if other != rank]
    lines += ["# OSC", "# COLLECTIVES", f"C\t{rank}\t{(rank + 1) % 4}\t4000 bytes\t11 msgs sent"]
    return "\n".join([*lines, f"A2A\t{rank}\t12000 bytes\t11 msgs sent", ""])


def test_the_matrix_counts_messages_once() -> None:
    texts = [_prof(0, "E\t0\t1\t25 bytes\t1 msgs sent\t1,0"), *(_prof(rank) for rank in (1, 2, 3))]
    found = monitored(4, texts)
    assert found.messages[0] == (0, 12, 11, 11)
    assert found.size_byte[0] == (0, 4025, 4000, 4000)
    assert found.messages[3] == (11, 11, 11, 0)


def test_messages_within_a_node_reach_no_link() -> None:
    found = monitored(4, [_prof(rank) for rank in range(4)])
    first, second = node_traffic(found, Placement(("a", "b"), 2))
    assert (first.host, first.count, first.size_byte) == ("a", 44, 4000 / 11)
    assert second.count == 44
    (alone,) = node_traffic(found, Placement(("a",), 4))
    assert (alone.count, alone.size_byte) == (0, 0.0)


def test_a_rank_without_a_file_is_reported() -> None:
    with pytest.raises(LabError, match="3 of 4 ranks"):
        monitored(4, [_prof(rank) for rank in range(3)])
    with pytest.raises(LabError, match="unknown format"):
        monitored(1, ["something else"])
    with pytest.raises(LabError, match="names rank 2 of 2"):
        monitored(2, [_prof(0), _prof(1)])
