"""Every program that can be generated, in one visible table."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from eee_testbed.simulation.programs import (
    alltoall,
    amg,
    examinimd,
    graph500,
    gromacs,
    hpl,
    kripke,
    laghos,
    miniamr,
    minife,
    namd,
    random_access,
    stencil,
    subcom_a2a,
    sw4lite,
)
from eee_testbed.simulation.programs.part import Generated
from eee_testbed.simulation.replay.program import Program


class Generator(NamedTuple):
    """A program: the model of its parameters, and what makes it of them."""

    parameters: type[Generated]
    generate: Callable[[Any], Program]
    module: ModuleType
    """Its docstring names the sources and what is left out."""


def _row(module: ModuleType, parameters: type[Generated]) -> Generator:
    return Generator(parameters, module.generate, module)


GENERATORS: Final[Mapping[str, Generator]] = {
    "hpl": _row(hpl, hpl.Hpl),
    "random_access": _row(random_access, random_access.RandomAccess),
    "graph500": _row(graph500, graph500.Graph500),
    "stencil": _row(stencil, stencil.Stencil),
    "subcom_a2a": _row(subcom_a2a, subcom_a2a.SubcomA2a),
    "alltoall": _row(alltoall, alltoall.AlltoallPause),
    "kripke": _row(kripke, kripke.Kripke),
    "laghos": _row(laghos, laghos.Laghos),
    "amg": _row(amg, amg.Amg),
    "examinimd": _row(examinimd, examinimd.ExaMiniMd),
    "sw4lite": _row(sw4lite, sw4lite.Sw4lite),
    "minife": _row(minife, minife.MiniFe),
    "miniamr": _row(miniamr, miniamr.MiniAmr),
    "namd": _row(namd, namd.Namd),
    "gromacs": _row(gromacs, gromacs.Gromacs),
}
"""By the `kind` of their parameters."""

AnyParameters = Annotated[
    hpl.Hpl
    | random_access.RandomAccess
    | graph500.Graph500
    | stencil.Stencil
    | subcom_a2a.SubcomA2a
    | alltoall.AlltoallPause
    | kripke.Kripke
    | laghos.Laghos
    | amg.Amg
    | examinimd.ExaMiniMd
    | sw4lite.Sw4lite
    | minife.MiniFe
    | miniamr.MiniAmr
    | namd.Namd
    | gromacs.Gromacs,
    Field(discriminator="kind"),
]
"""Parameters of any of them, as a file has them; `kind` says of which."""


def program_of(parameters: Generated) -> Program:
    """The program that parameters describe."""
    return GENERATORS[parameters.kind].generate(parameters)
