"""Whatever the parameters, each send meets its receive and each collective all members, small messages or large."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.simulation.programs.alltoall import AlltoallPause
from eee_testbed.simulation.programs.amg import Amg
from eee_testbed.simulation.programs.examinimd import ExaMiniMd
from eee_testbed.simulation.programs.graph500 import Graph500
from eee_testbed.simulation.programs.gromacs import Gromacs
from eee_testbed.simulation.programs.hpl import Hpl
from eee_testbed.simulation.programs.kripke import Kripke
from eee_testbed.simulation.programs.laghos import Laghos
from eee_testbed.simulation.programs.miniamr import MiniAmr
from eee_testbed.simulation.programs.minife import MiniFe
from eee_testbed.simulation.programs.namd import Namd
from eee_testbed.simulation.programs.part import Generated
from eee_testbed.simulation.programs.random_access import RandomAccess
from eee_testbed.simulation.programs.stencil import Stencil
from eee_testbed.simulation.programs.subcom_a2a import SubcomA2a
from eee_testbed.simulation.programs.sw4lite import Sw4lite
from eee_testbed.simulation.programs.table import GENERATORS, program_of
from tests.support import untimed
from tests.support.laws import law

_procs = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
_few = st.integers(1, 3)
_sizes = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))


def _kripke(draw: st.DrawFn) -> Generated:
    procs = draw(_procs)
    zones = tuple(size * draw(_few) for size in procs)
    sets, groups = draw(st.sampled_from((8, 16))), draw(_few)
    return Kripke(
        procs=procs, zones=zones, direction_sets=sets, directions=sets * draw(_few), group_sets=groups,
        groups=groups * 2, iterations=draw(_few),
    )  # fmt: skip


def _stencil(draw: st.DrawFn) -> Generated:
    procs = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    points = draw(st.none() | st.lists(st.integers(1, 4), min_size=len(procs), max_size=len(procs)))
    variant: Any = draw(st.sampled_from(("chatterbug", "tracer")))
    return Stencil(procs=procs, points=points, steps=draw(_few), variant=variant)


def _hpl(draw: st.DrawFn) -> Generated:
    kind: Any = draw(st.sampled_from(("1ring", "1ringM", "2ring", "2ringM", "blong", "blongM")))
    mapping: Any = draw(st.sampled_from(("row", "column")))
    return Hpl(
        order=draw(st.integers(1, 60)), block=draw(st.integers(1, 12)), rows=draw(st.integers(1, 7)),
        columns=draw(st.integers(1, 7)), broadcast=kind, mapping=mapping,
    )  # fmt: skip


def _subcom(draw: st.DrawFn) -> Generated:
    return SubcomA2a(procs=draw(_procs), block_byte=draw(st.tuples(*[st.integers(0, 9)] * 3)), steps=draw(_few))


def _amg(draw: st.DrawFn) -> Generated:
    solves = draw(st.lists(st.integers(1, 4), max_size=2))
    return Amg(procs=draw(_procs), points=draw(_sizes), levels=draw(_few), solves=solves, time_steps=2)


def _miniamr(draw: st.DrawFn) -> Generated:
    return MiniAmr(
        procs=draw(_procs), cells=draw(_sizes), variables=draw(_few), stages=draw(st.integers(1, 7)),
        checksum_every=draw(_few), time_steps=draw(_few),
    )  # fmt: skip


def _gromacs(draw: st.DrawFn) -> Generated:
    return Gromacs(
        procs=draw(_procs), reach=draw(st.floats(0.1, 4)), steps=draw(st.integers(1, 7)), energies_every=draw(_few)
    )


_DRAWN = {
    "alltoall": lambda draw: AlltoallPause(ranks=draw(st.integers(1, 9)), iterations=draw(_few)),
    "amg": _amg,
    "examinimd": lambda draw: ExaMiniMd(
        ranks=draw(st.integers(1, 24)), steps=draw(st.integers(1, 9)), halo_every=draw(_few), migrating=draw(_few) - 1
    ),
    "graph500": lambda draw: Graph500(
        ranks=draw(st.integers(1, 9)), scale=draw(st.integers(1, 20)), roots=draw(_few), levels=draw(_few)
    ),
    "gromacs": _gromacs,
    "hpl": _hpl,
    "kripke": _kripke,
    "laghos": lambda draw: Laghos(
        procs=draw(_procs), elements=draw(_sizes), iterations=draw(_few), time_steps=draw(_few)
    ),
    "miniamr": _miniamr,
    "minife": lambda draw: MiniFe(ranks=1 << draw(st.integers(0, 5)), elements=(9, 8, 10), iterations=draw(_few)),
    "namd": lambda draw: Namd(
        ranks=draw(st.integers(1, 40)), atoms=2000, cell=(40, 50, 33), pme_grid=(12, 9, 8), steps=draw(_few),
        pme_every=draw(_few),
    ),
    "stencil": _stencil,
    "subcom_a2a": _subcom,
    "sw4lite": lambda draw: Sw4lite(
        ranks=draw(st.integers(1, 12)), size=(1, 1.5, 0.5), spacing=0.05, time_steps=draw(_few)
    ),
}  # fmt: skip
"""By kind, small parameters of all sorts. RandomAccess waits for nothing before its end, and has a test of its own."""


@st.composite
def _parameters(draw: st.DrawFn, kind: str) -> Generated:
    return _DRAWN[kind](draw)


@pytest.mark.parametrize("kind", sorted(_DRAWN))
@law(60)
@given(data=st.data(), buffered=st.booleans())
def test_everything_that_is_sent_is_received(kind: str, data: st.DataObject, buffered: bool) -> None:  # noqa: FBT001
    untimed.run(program_of(data.draw(_parameters(kind))), buffered=buffered)


@law(20)
@given(ranks=st.integers(2, 12), updates=st.integers(1, 4000), seed=st.integers(0, 5))
def test_random_access_takes_all_messages_and_cancels_the_rest(ranks: int, updates: int, seed: int) -> None:
    untimed.run(program_of(RandomAccess(ranks=ranks, updates=updates, seed=seed)))


def test_every_generator_is_tried() -> None:
    assert {*_DRAWN, "random_access"} == set(GENERATORS)
