"""Every paper whose statements studies are held to, in one visible table."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from eee_testbed.simulation.studies import andujar, georgakoudis, tcep
from eee_testbed.simulation.studies.statement import Statement
from eee_testbed.simulation.studies.study import PaperName


class Paper(NamedTuple):
    """Who wrote it, and what it states."""

    title: str
    statements: Sequence[Statement]


PAPERS: Final[Mapping[PaperName, Paper]] = {
    "andujar": Paper("Andújar et al. (2023)", andujar.STATEMENTS),
    "georgakoudis-single": Paper("Georgakoudis et al. (2019), single jobs", georgakoudis.SINGLE),
    "georgakoudis-multi": Paper("Georgakoudis et al. (2019), mixes of jobs", georgakoudis.MULTI),
    "tcep": Paper("Kim et al. (2018), TCEP", tcep.STATEMENTS),
}
"""By the `paper` of a study's file."""
