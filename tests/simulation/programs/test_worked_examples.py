"""Messages and bytes at 256 ranks, worked out by hand from each program's source."""

import pytest

from eee_testbed.simulation.programs import amg, examinimd, kripke, laghos, miniamr, minife, namd, sw4lite
from eee_testbed.simulation.programs.examinimd import ATOM_TAG, COUNT_TAG, MIGRATION_TAG
from eee_testbed.simulation.programs.grid import Grid
from eee_testbed.simulation.replay.calls import IN_PLACE, Call
from tests.support.traffic import called, sent, sent_by_rank

_INNER = Grid.first_fastest((8, 8, 4)).places.index((3, 3, 1))


def test_kripke_one_iteration() -> None:
    program = kripke.generate(kripke.Kripke())
    inner = Grid.last_fastest((8, 8, 4)).places.index((3, 3, 1))
    assert sent(program, inner) == (48, 12_582_912)
    assert sent(program, 0) == (24, 6_291_456)
    assert sent(program) == (10_240, 2_684_354_560)
    assert called(program, Call.ALLREDUCE) == 1
    assert program.calls.filter(call=int(Call.ALLREDUCE))["flags"].unique().to_list() == [IN_PLACE]


def _laghos(iterations: int) -> laghos.Laghos:
    return laghos.Laghos(iterations=iterations, time_steps=1)


def test_laghos_one_round() -> None:
    """Each further iteration of a time step's four solves is a Bcast and a Reduce round."""
    more, less = (laghos.generate(_laghos(iterations)) for iterations in (2, 1))

    def one(rank: int | None) -> tuple[int, int]:
        pairs = zip(sent(more, rank), sent(less, rank), strict=True)
        messages, size = ((big - small) / 4 for big, small in pairs)
        return round(messages), round(size)

    assert one(_INNER) == (2 * 7, 2 * 32_280)
    assert one(0) == (7, 35_496)  # Bcast alone: rank 0 owns all that it shares
    assert one(255) == (7, 32_280)  # Reduce alone
    assert one(None) == (2 * 1_319, 2 * 7_074_792)


def test_laghos_one_time_step() -> None:
    program = laghos.generate(_laghos(50))
    assert sent(program, _INNER) == (2_912, 13_428_480)
    assert sent(program) == (548_704, 2_943_113_472)
    assert called(program, Call.ALLREDUCE) == 4 * 101 + 1


def test_amg_level_0_of_one_gmres_iteration() -> None:
    program = amg.generate(amg.Amg(solves=[1], time_steps=1))
    exchanges = 6
    assert sent(program, _INNER, tags=[0]) == (exchanges * 26, exchanges * 52_288) == (156, 313_728)
    assert sent(program, 0, tags=[0]) == (exchanges * 7, exchanges * 25_352) == (42, 152_112)
    assert sent(program, tags=[0]) == (exchanges * 4_584, exchanges * 11_039_936) == (27_504, 66_239_616)
    assert called(program, Call.ALLREDUCE) == 2 + 2


@pytest.mark.parametrize("iterations", range(1, 45))
def test_amg_iteration_i_has_i_plus_1_allreduces(iterations: int) -> None:
    blocks = amg.iterations_with_dots(iterations)
    assert sum(number for number, _ in blocks) == iterations
    assert sum(number * dots for number, dots in blocks) == sum(i % 20 + 2 for i in range(iterations))


def test_examinimd_normal_step() -> None:
    program = examinimd.generate(examinimd.ExaMiniMd(steps=1))
    assert examinimd.ExaMiniMd().procs == (4, 8, 8)
    assert examinimd.ExaMiniMd().atoms_near_faces == [1_042, 2_362, 2_992]
    assert {sent(program, rank) for rank in (0, 77, 255)} == {(6, 2 * (25_008 + 56_688 + 71_808))} == {(6, 307_008)}
    assert sent(program) == (1_536, 78_594_048)
    assert called(program, Call.ALLREDUCE) == 0


def test_examinimd_new_halo() -> None:
    halo = (COUNT_TAG, ATOM_TAG)
    more, less = (examinimd.generate(examinimd.ExaMiniMd(steps=steps)) for steps in (20, 19))
    assert sent(more, 0, halo)[0] - sent(less, 0, halo)[0] == 12
    assert sent(more, 0, halo)[1] - sent(less, 0, halo)[1] == 6 * 4 + 921_024
    assert sent(more, None, halo)[0] - sent(less, None, halo)[0] == 3_072
    assert sent(more, None, halo)[1] - sent(less, None, halo)[1] == 235_788_288
    assert sent(more, 0, [MIGRATION_TAG]) == (6, 6 * 4)
    assert called(more, Call.ALLREDUCE) == 2 * 3


def test_sw4lite_one_time_step() -> None:
    parameters = sw4lite.Sw4lite()
    program = sw4lite.generate(parameters)
    assert parameters.procs == (16, 16)
    assert [parameters.points_of(0, at) for at in range(16)] == [32] * 11 + [31] * 5
    assert sent(program, 5 * 16 + 5) == (8, 8_220_672)
    assert sent(program, 13 * 16 + 13) == (8, 7_963_776)
    assert sent(program, 0) == (4, 4_110_336)
    assert sent(program) == (1_920, 1_953_694_080)


def test_minife_one_cg_iteration() -> None:
    more, less = (minife.generate(minife.MiniFe(iterations=iterations)) for iterations in (3, 2))

    def one(rank: int | None) -> tuple[int, int]:
        messages, size = (big - small for big, small in zip(sent(more, rank), sent(less, rank), strict=True))
        return messages, size

    inner = Grid.split(minife.MiniFe().splits, 3).places.index((1, 3, 3))
    assert one(inner) == (26, 236_608)
    assert one(0) == (7, 116_488)
    assert one(255) == (7, 120_120)
    assert one(None) == (4_584, 51_900_720)
    assert called(more, Call.ALLREDUCE) - called(less, Call.ALLREDUCE) == 2


def test_minife_runs_200_iterations() -> None:
    program = minife.generate(minife.MiniFe())
    assert sent(program, 0)[0] == 201 * 7
    assert called(program, Call.ALLREDUCE) == 400


def test_minife_ranks_are_halvings() -> None:
    """Bits of a rank from the top: z2 y2 x1 z1 y1 x0 z0 y0."""
    grid = Grid.split(minife.MiniFe().splits, 3)
    assert grid.sizes == (4, 8, 8)
    assert grid.places[0b10000000] == (0, 0, 4)
    assert grid.places[0b01000000] == (0, 4, 0)
    assert grid.places[0b00100100] == (3, 0, 0)
    assert grid.places[0b00010011] == (0, 1, 3)


def test_miniamr_one_stage() -> None:
    program = miniamr.generate(miniamr.MiniAmr(stages=1, time_steps=1))
    by_rank = sent_by_rank(program)
    assert max(by_rank.values()) == (6, 122_880)
    assert by_rank[0] == by_rank[255] == min(by_rank.values()) == (3, 61_440)
    assert sent(program) == (1_280, 26_214_400)
    assert called(program, Call.ALLREDUCE) == 40


def test_miniamr_one_time_step() -> None:
    program = miniamr.generate(miniamr.MiniAmr(time_steps=1))
    by_rank = sent_by_rank(program)
    assert by_rank[0] == by_rank[255] == (60, 1_228_800)
    assert max(by_rank.values()) == (120, 2_457_600)
    assert sent(program) == (25_600, 524_288_000)
    assert called(program, Call.ALLREDUCE) == 160


def test_namd_one_step_without_pme() -> None:
    program = namd.generate(namd.Namd(steps=1))
    assert namd.Namd().patches == (13, 6, 4)
    assert sent(program) == (6_864, 56_809_984)
    assert round(6_864 / 256, 1) == 26.8
    assert round(56_809_984 / 256) == 221_914


@pytest.mark.parametrize(("ranks", "patches", "homes"), [(128, 144, 7), (256, 312, 11), (512, 676, 17)])
def test_namd_halves_patches_for_more_ranks(ranks: int, patches: int, homes: int) -> None:
    program = namd.generate(namd.Namd(ranks=ranks, steps=1))
    assert sent(program)[0] == 2 * patches * homes
