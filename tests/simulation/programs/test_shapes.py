"""Grids, steps and traffic of the generators whose numbers follow from their parameters alone."""

import math

import numpy as np
import polars as pl
import pytest

from eee_testbed.simulation.programs import alltoall, graph500, gromacs, namd, random_access, stencil, subcom_a2a
from eee_testbed.simulation.programs.table import GENERATORS, program_of
from eee_testbed.simulation.replay.calls import SENDS, Call
from eee_testbed.simulation.replay.program import Program
from tests.support.traffic import busiest_ns, called, made, sent

_SMALL = {
    "amg": {"solves": [2], "procs": [2, 3, 2]},
    "hpl": {"order": 900},
    "kripke": {"procs": [4, 2, 2]},
    "namd": {"ranks": 32},
    "random_access": {"updates": 2000, "ranks": 16},
}


def _peers(program: Program, rank: int) -> set[int]:
    sends = program.calls.filter(pl.col("call").is_in([int(call) for call in SENDS]), pl.col("rank") == rank)
    return set(sends["peer"])


@pytest.mark.parametrize("dimensions", [2, 3, 4])
@pytest.mark.parametrize("variant", ["chatterbug", "tracer"])
def test_a_stencil_sends_a_face_to_each_neighbour(dimensions: int, variant: str) -> None:
    parameters = stencil.Stencil.model_validate(
        {"procs": [4] * dimensions, "variant": variant, "steps": 7, "face_byte": 131_072}
    )
    program = stencil.generate(parameters)
    assert sent(program, 0) == (7 * 2 * dimensions, 7 * 2 * dimensions * 131_072)
    steps = [4**axis for axis in range(dimensions)]
    assert _peers(program, 0) == set(steps) | {3 * step for step in steps}
    assert called(program, Call.BARRIER) == (7 if variant == "tracer" else 0)
    assert called(program, Call.SEND) == (7 * 2 * dimensions if variant == "tracer" else 0)


def test_a_stencils_faces_follow_from_its_points() -> None:
    program = stencil.generate(stencil.Stencil(procs=[3, 3, 3], points=[2, 3, 5], variables=4, steps=1))
    assert sent(program, 13) == (6, 2 * 8 * 4 * (3 * 5 + 2 * 5 + 2 * 3))
    lattice = stencil.generate(stencil.Stencil(points=[32] * 4, steps=1))
    assert sent(lattice, 0) == (8, 8 * 8 * 32**3)


def test_lines_of_an_fft_are_communicators() -> None:
    program = subcom_a2a.generate(subcom_a2a.SubcomA2a(procs=(4, 3, 2), block_byte=(10, 0, 30), steps=5))
    of_rank = program.calls.filter(pl.col("rank") == 7, pl.col("call") == int(Call.ALLTOALL))
    lines = [list(program.communicators[number]) for number in of_rank["communicator"]]
    assert lines == [[4, 5, 6, 7], [7, 19]]
    assert of_rank["bytes"].to_list() == [10, 30]
    assert called(program, Call.ALLTOALL, rank=7) == 5 * 2


def test_alltoall_cuts_an_array_to_whole_integers() -> None:
    parameters = alltoall.AlltoallPause(ranks=7, array_byte=4096, iterations=12, grain_ns=50)
    program = alltoall.generate(parameters)
    assert set(program.calls.filter(call=int(Call.ALLTOALL))["bytes"]) == {4096 // 4 // 7 * 4}
    assert called(program, Call.ALLTOALL) == 12
    assert busiest_ns(program) == 12 * 50


@pytest.mark.parametrize(("ranks", "bitmap"), [(128, 1024), (256, 512), (512, 512), (100, 2048)])
def test_graph500_pads_bitmaps(ranks: int, bitmap: int) -> None:
    program = graph500.generate(graph500.Graph500(ranks=ranks, roots=3, levels=6))
    gathers = program.calls.filter(pl.col("call") == int(Call.ALLGATHER), pl.col("rank") == 0)
    assert gathers["bytes"].to_list() == [bitmap, bitmap // 64]
    assert called(program, Call.ALLGATHER) == 3 * 5 * 2
    assert called(program, Call.ALLREDUCE) == 3 * 6


@pytest.mark.parametrize(("ranks", "mean_byte"), [(128, 135), (256, 72)])
def test_random_access_sends_the_fullest_bucket(ranks: int, mean_byte: int) -> None:
    """In the steady state: means that an independent simulation found."""
    messages = random_access._messages(random_access.RandomAccess(ranks=ranks, updates=16_384), rank=1)
    steady = messages[len(messages) // 4 : len(messages) * 3 // 4]
    assert np.mean([one.updates for one in steady]) * 8 == pytest.approx(mean_byte, rel=0.06)


def test_random_access_sends_every_update_for_others_once() -> None:
    parameters = random_access.RandomAccess(ranks=8, updates=5000, seed=3)
    program = random_access.generate(parameters)
    finished = sent(program, tags=[random_access.FINISHED_TAG])
    assert finished == (8 * 7, 0)
    updates = sent(program, tags=[random_access.UPDATE_TAG])[1] / 8
    assert updates == pytest.approx(8 * 5000 * 7 / 8, rel=0.02)
    assert busiest_ns(program) == 5000 * parameters.grain_ns
    assert called(program, Call.CANCEL) == 4
    largest = program.calls.filter(pl.col("tag") == random_access.UPDATE_TAG)["bytes"].max()
    assert isinstance(largest, int)
    assert largest <= 8192


def test_random_access_follows_its_seed() -> None:
    one, same, other = (
        random_access.generate(random_access.RandomAccess(ranks=4, updates=3000, seed=seed)) for seed in (1, 1, 2)
    )
    assert one.calls.equals(same.calls)
    assert not one.calls.equals(other.calls)


def test_gromacs_sends_positions_down_and_forces_up() -> None:
    parameters = gromacs.Gromacs(
        procs=(4, 4, 2), box=(4.0, 8.0, 4.0), atoms=12_800, reach=1.5, steps=10, energies_every=5
    )
    assert parameters.pulses_of(0) == [400, 200]  # ranks are 1 nm long: the second pulse has the rest of the reach
    program = gromacs.generate(parameters)
    atoms = sum(sum(parameters.pulses_of(axis)) for axis in range(3))
    assert atoms == 600 + round(100 * 1.5 * 2.5 * 2) + round(100 * 1.5 * 2.5 * 3.5)
    assert sent(program, 0) == (10 * 2 * 4, 10 * 2 * atoms * 12)
    assert called(program, Call.ALLREDUCE) == 2


def test_namds_grid_goes_to_slabs_and_is_transposed() -> None:
    program = namd.generate(namd.Namd(steps=8))
    charges, potentials = (sent(program, tags=[tag]) for tag in (namd.CHARGE_TAG, namd.POTENTIAL_TAG))
    assert charges == potentials
    points = math.ceil(108 / 6 + 3) * (80 // 4 + 3)
    spread = sum(108 * (x + 1) // 13 + 3 - 108 * x // 13 for x in range(13)) * 6 * 4
    assert charges[1] <= 2 * spread * points * 4
    assert charges[1] >= 0.97 * 2 * spread * points * 4  # what stays on a patch's own rank is not sent
    transposes = made(program).filter(call=int(Call.ALLTOALL))
    assert transposes["times"].sum() == 2 * 2 * 108
    assert transposes["bytes"].unique().to_list() == [108 * 108 * 41 * 8 // 108**2]


@pytest.mark.parametrize("kind", sorted(GENERATORS))
def test_equal_parameters_give_equal_programs(kind: str) -> None:
    parameters = GENERATORS[kind].parameters.model_validate(_SMALL.get(kind, {}))
    one, other = (program_of(parameters) for _ in range(2))
    assert one.calls.equals(other.calls)
    assert kind in one.source
