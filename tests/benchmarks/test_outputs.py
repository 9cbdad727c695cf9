"""Programs read what real runs printed, and see what is wrong in it."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from eee_testbed.benchmarks.program import Answer, Placement
from eee_testbed.benchmarks.table import PROGRAMS

UNITS = {"s", "us", "byte", "bit/s", "byte/s", "flop/s", "op/s", "update/s", "frame", "call", "1"}
FOUR = Placement(("n01", "n02", "n03", "n04"), addresses=("198.19.1.1", "198.19.1.2", "198.19.1.3", "198.19.1.4"))
TWO = Placement(("n01", "n02"), addresses=("198.19.1.1", "198.19.1.2"))

Recorded = Callable[[str], str]


def read(program: str, text: str, placement: Placement = FOUR, **parameters: Any) -> Answer:
    known = PROGRAMS[program]
    answer = known.read(known.parameters.model_validate(parameters), placement, text)
    assert all(figure.unit in UNITS for figure in answer.figures)
    assert answer.right is not False or answer.why.endswith(".")
    return answer


def value(answer: Answer, name: str) -> float:
    return answer.figure(name).value


def is_wrong(program: str, text: str, before: str, after: str, why: str, **parameters: Any) -> None:
    """What it printed, changed so, is an answer that is not right for this reason."""
    assert before in text
    wrong = read(program, text.replace(before, after), **parameters)
    assert wrong.right is False
    assert why in wrong.why


# -- HPCC


def test_hpcc(recorded: Recorded) -> None:
    answer = read("hpcc", recorded("hpcc_4_ranks"), order=100)
    assert answer.right is True
    told = dict(line.split("=") for line in recorded("hpcc_4_ranks").splitlines() if line.count("=") == 1)
    assert value(answer, "hpl") == pytest.approx(float(told["HPL_Tflops"]) * 1e12)
    assert value(answer, "random_access") == pytest.approx(float(told["MPIRandomAccess_GUPs"]) * 1e9)
    assert value(answer, "ptrans") == pytest.approx(float(told["PTRANS_GBs"]) * 1e9)
    assert value(answer, "fft") == pytest.approx(float(told["MPIFFT_Gflops"]) * 1e9)
    assert answer.figure("hpl_time").unit == "s"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("...... PASSED\n", "...... FAILED\n", "HPL's residual"),
        ("0 tests completed and failed residual checks.", "1 tests completed and failed residual checks.", "PTRANS"),
        ("MPIRandomAccess_ErrorsFraction=0\n", "MPIRandomAccess_ErrorsFraction=0.011\n", "RandomAccess"),
        ("MPIFFT_maxErr=", "MPIFFT_maxErr=1", "FFT"),
        ("Success=1", "Success=0", "did not succeed"),
        ("CommWorldProcs=4", "CommWorldProcs=2", "on 2 ranks"),
        ("HPL_N=100", "HPL_N=90", "order 90"),
        ("End of Summary section.", "", "summary"),
        ("HPL_Tflops=", "HPL_Zflops=", "cannot be read"),
    ],
)
def test_hpcc_that_went_wrong(recorded: Recorded, before: str, after: str, why: str) -> None:
    text = recorded("hpcc_4_ranks")
    assert before in text
    changed = text.replace(before, after)
    if before.startswith("MPIFFT_maxErr"):
        changed = text.replace("MPIFFT_maxErr=", "MPIFFT_maxErr=1e-9#").replace("#", "\nrest=")
    answer = read("hpcc", changed, order=100)
    assert answer.right is False
    assert why in answer.why


def test_hpcc_is_given_a_grid_of_all_ranks() -> None:
    hpcc = PROGRAMS["hpcc"]
    for hosts, per_host, grid in ((4, 1, (2, 2)), (6, 1, (2, 3)), (5, 1, (1, 5)), (4, 4, (4, 4))):
        placement = Placement(tuple(f"n{n}" for n in range(hosts)), per_host)
        text = hpcc.launch(hpcc.parameters(), placement).files["hpccinf.txt"].decode().splitlines()
        assert (int(text[10].split()[0]), int(text[11].split()[0])) == grid
        assert text[5].split() == ["1000", "Ns"]


# -- HPL


def test_hpl(recorded: Recorded) -> None:
    text = recorded("hpl_4_ranks")
    answer = read("hpl", text, order=1000)
    assert answer.right is True
    printed = next(line.split() for line in text.splitlines() if line.startswith("WR"))
    assert value(answer, "hpl") == pytest.approx(float(printed[6]) * 1e9)
    assert value(answer, "time") == pytest.approx(float(printed[5]), abs=0.0051)

    for before, after, why in (
        ("...... PASSED\n", "...... FAILED\n", "its residual"),
        ("1000    80     2     2 ", " 900    80     2     2 ", "order 900 on 4 ranks"),
        ("1000    80     2     2 ", "1000    80     1     2 ", "order 1000 on 2 ranks"),
        ("WR10C2R4", "", "before its result"),
    ):
        is_wrong("hpl", text, before, after, why, order=1000)


def test_hpl_of_a_later_version_prints_one_digit_more(recorded: Recorded) -> None:
    later = recorded("hpl_4_ranks").replace("e+00", "1e+00").replace("WR10C2R4", "WR11C2R4")
    assert read("hpl", later, order=1000).right is True


def test_hpl_that_prints_no_rate_gives_no_time(recorded: Recorded) -> None:
    text = re.sub(r"[0-9.]+e\+00$", "0.000e+00", recorded("hpl_4_ranks"), flags=re.MULTILINE)
    answer = read("hpl", text, order=1000)
    assert answer.right is False
    assert "too short" in answer.why


@pytest.mark.parametrize(("program", "file"), [("hpcc", "hpccinf.txt"), ("hpl", "HPL.dat")])
def test_hpl_broadcasts_in_a_ring_as_koibuchis_did(program: str, file: str) -> None:
    """BCAST of Table 3 (2011) is 1ring, which HPL calls 0; 1 would be 1ringM."""
    known = PROGRAMS[program]
    text = known.launch(known.parameters(), Placement(("n1", "n2"), 1)).files[file].decode().splitlines()
    (broadcasts,) = (line.split() for line in text if line.endswith("BCASTs"))
    assert broadcasts == ["0", "BCASTs"]


# -- NPB


@pytest.mark.parametrize("benchmark", ["is", "cg"])
def test_npb(recorded: Recorded, benchmark: str) -> None:
    text = recorded(f"npb_{benchmark}_S_4")
    told = {"folder": "/opt/npb/bin", "benchmark": benchmark, "problem_class": "S"}
    answer = read("npb", text, **told)
    assert answer.right is True
    mops = float(next(line for line in text.splitlines() if "Mop/s total" in line).split()[-1])
    assert value(answer, "operations") == pytest.approx(mops * 1e6)
    assert value(answer, "time") > 0

    for before, after, why in (
        ("=               SUCCESSFUL", "=             UNSUCCESSFUL", "UNSUCCESSFUL"),
        ("Total processes =                        4", "Total processes =                        2", "on 2 ranks"),
        ("Class           =                        S", "Class           =                        A", "class A"),
        ("Verification", "Veri", "before its results"),
    ):
        is_wrong("npb", text, before, after, why, **told)


def test_npb_binaries_by_version() -> None:
    npb = PROGRAMS["npb"]
    for version, name in (("3.4", "ft.B.x"), ("3.3", "ft.B.4")):
        given = npb.parameters.model_validate(
            {"folder": "/opt/bin", "benchmark": "ft", "problem_class": "B", "version": version}
        )
        assert npb.launch(given, FOUR).argv == (f"/opt/bin/{name}",)


# -- OSU


def test_osu_sizes_and_their_validation(recorded: Recorded) -> None:
    told = {"folder": "/opt/osu", "benchmark": "osu_latency", "most_byte": 64}
    answer = read("osu", recorded("osu_latency"), TWO, **told)
    assert answer.right is True
    assert (value(answer, "latency_1"), answer.figure("latency_1").unit) == (0.66, "us")
    assert len(answer.figures) == 7
    failed = read(
        "osu", recorded("osu_latency").replace("0.75              Pass", "0.75              Fail"), TWO, **told
    )
    assert failed.right is False
    assert "for 8 byte" in failed.why
    cut = read("osu", recorded("osu_latency").partition("\n16 ")[0], TWO, **told)
    assert cut.right is False
    assert "before 64 byte" in cut.why


def test_osu_bandwidth_is_in_bit_per_second(recorded: Recorded) -> None:
    told = {"folder": "/opt/osu", "benchmark": "osu_bw", "most_byte": 64, "validate_contents": False}
    answer = read("osu", recorded("osu_bw"), TWO, **told)
    assert answer.right is None
    assert value(answer, "throughput_64") == pytest.approx(349.43e6 * 8)


def test_osu_collectives(recorded: Recorded) -> None:
    folder = {"folder": "/opt/osu"}
    assert read("osu", recorded("osu_alltoall"), **folder, benchmark="osu_alltoall", most_byte=64).right is True
    barrier = read("osu", recorded("osu_barrier"), **folder, benchmark="osu_barrier")
    assert barrier.right is None
    assert value(barrier, "latency") == 4.26


# -- NetPIPE


def test_netpipe(recorded: Recorded) -> None:
    answer = read("netpipe", recorded("netpipe"), TWO, most_byte=64)
    assert answer.right is None
    size, mbps, took_s = recorded("netpipe").splitlines()[-1].split()
    assert value(answer, f"throughput_{size}") == pytest.approx(float(mbps) * 1e6)
    assert value(answer, f"latency_{size}") == pytest.approx(float(took_s) * 1e6)
    cut = "\n".join(recorded("netpipe").splitlines()[:5])
    assert read("netpipe", cut, TWO, most_byte=64).right is False


def test_netpipe_checks_contents(recorded: Recorded) -> None:
    text = recorded("netpipe_integrity")
    assert read("netpipe", text, TWO, most_byte=64, integrity=True).right is True
    broken = read("netpipe", text.replace("passed", "failed", 1), TWO, most_byte=64, integrity=True)
    assert broken.why == "1 of 8 sizes failed its integrity check."
    assert read("netpipe", "", TWO, integrity=True).right is False


# -- ours


def _alltoall(**changed: Any) -> str:
    told = {"ranks": 4, "iterations": 10, "array_byte": 4096, "wrong": 0, "time_ns": 2_000_000, "begun_ns": 1}
    told |= {"ended_ns": 2, "shares": [0.0, 0.5, 1.0], "iteration_ns": [100_000, 200_000, 300_000]}
    told |= {"call_ns": [10_000, 20_000, 30_000], "mean_call_ns": 20_500.0}
    told |= {"processor_wait_ns": 1_500_000, "processor_wait_share": 0.03, "steal_share": 0.02}
    told |= {"steady_ns": 1_900_000, "slow_ns": 100_000, "slow_beyond_ns": 2_000_000}
    return f"some warning\nalltoall {json.dumps(told | changed)}\n"


def test_alltoall() -> None:
    answer = read("alltoall", _alltoall(), iterations=10)
    assert answer.right is True
    assert (value(answer, "time"), value(answer, "iteration_p50"), value(answer, "call_max")) == (0.002, 200.0, 30.0)
    assert (value(answer, "communications"), value(answer, "communication_size")) == (10, 3072)
    assert value(answer, "processor_wait") == 0.0015
    assert (value(answer, "time_steady"), value(answer, "slow_iterations")) == (0.0019, 0.0001)
    assert (value(answer, "processor_wait_share"), value(answer, "steal_share")) == (0.03, 0.02)
    assert answer.loop_ns == (1, 2)


@pytest.mark.parametrize(("sleep_us", "least_s", "measured"), [(0, 0.1, 1_896), (80, 0.1, 754), (80, 0.0, 10)])
def test_short_pauses_have_as_many_iterations_as_a_least_time_needs(
    sleep_us: int, least_s: float, measured: int
) -> None:
    """A function of the parameters alone: runs that are compared have as many."""
    given = {"iterations": 10, "sleep_us": sleep_us, "least_s": least_s}
    answer = read("alltoall", _alltoall(iterations=measured), **given)
    assert answer.right is True
    assert next(one.value for one in answer.figures if one.name == "communications") == measured
    if measured > 10:
        assert read("alltoall", _alltoall(iterations=10), **given).right is False


def test_alltoall_of_two_ranks_a_node() -> None:
    placement = Placement(("n01", "n02"), 2)
    answer = read("alltoall", _alltoall(), placement, iterations=10)
    assert (value(answer, "communications"), value(answer, "communication_size")) == (20, 2048)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "result line"),
        ("alltoall {", "result line"),
        ("alltoall {}", "result line"),
        (_alltoall() * 2, "result line"),
        (_alltoall(wrong=3), "3 integers"),
        (_alltoall(ranks=3), "on 3 ranks"),
        (_alltoall(iterations=9), "9 iterations"),
    ],
)
def test_alltoall_that_went_wrong(text: str, why: str) -> None:
    answer = read("alltoall", text, iterations=10)
    assert answer.right is False
    assert why in answer.why


def _pattern(*changes: tuple[int, str, int]) -> str:
    """Bit reversal of four ranks: 1 and 2 send to each other, 0 and 3 to nobody."""
    ranks: list[dict[str, int]] = [{"rank": 0, "source": 0, "sent": 0}]
    for rank, source in ((1, 2), (2, 1)):
        came = {"frames": 90, "byte": 90 * 1428, "wrong": 0, "disordered": 0}
        ranks.append({"rank": rank, "source": source, "sent": 100, **came})
    ranks.append({"rank": 3, "source": 3, "sent": 0})
    for rank, key, changed in changes:
        ranks[rank][key] = changed
    return f"pattern {json.dumps({'ranks': ranks})}\n"


def test_patterns_count_what_arrived() -> None:
    answer = read("bit-reversal", _pattern(), duration_s=2.0)
    assert answer.right is True
    assert value(answer, "throughput") == pytest.approx(90 * 1428 * 8 / 2)
    assert value(answer, "lost") == pytest.approx(0.1)
    assert value(answer, "pairs") == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((1, "wrong", 2), "from rank 2 to 1 came 2"),
        ((2, "byte", 0), "nothing came from rank 1 to 2"),
        ((1, "sent", -1), "the sender from rank 1 to 2 failed"),
        ((2, "frames", 101), "some came twice"),
    ],
)
def test_patterns_that_went_wrong(change: tuple[int, str, int], why: str) -> None:
    answer = read("bit-reversal", _pattern(change))
    assert answer.right is False
    assert why in answer.why


def test_tcp_has_to_bring_everything() -> None:
    whole = _pattern((1, "sent", 90 * 1428), (2, "sent", 90 * 1428))
    assert read("bit-reversal", whole, transport="tcp").right is True
    assert read("bit-reversal", _pattern((1, "sent", 90 * 1428)), transport="tcp").right is False


def test_any_command() -> None:
    assert read("command", "hello", words="echo hello").right is None
    assert read("command", "hello", words=["echo", "hello"], expect="^hel+o$").right is True
    hullo = read("command", "hullo", words="echo hullo", expect="hello")
    assert hullo.why == "it did not print 'hello'; its last line is 'hullo'."
    with pytest.raises(ValidationError, match="not a regular expression"):
        PROGRAMS["command"].parameters.model_validate({"words": "true", "expect": "("})
