"""The papers behind what a report used, as BibTeX."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.analysis.configurations import LAB_KINDS
from eee_testbed.analysis.report.changes import changes_of
from eee_testbed.analysis.report.report_data import FEW, ReportData
from eee_testbed.lab.errors import LabError

Used = Callable[[ReportData, Collection[str]], bool]
"""Whether a report with sections of these names rests on it."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper, a standard or a program: why it is cited, and its entry. `fields` are LaTeX text."""

    key: str
    kind: str
    for_what: str
    fields: tuple[tuple[str, str], ...]
    used: Used

    @property
    def bibtex(self) -> str:
        """The entry."""
        lines = "".join(f"  {name} = {{{text}}},\n" for name, text in self.fields)
        return f"@{self.kind}{{{self.key},\n{lines}}}\n"


def references_of(data: ReportData, sections: Collection[str]) -> tuple[Reference, ...]:
    """Those that a report rests on, in the order of the table."""
    return tuple(reference for reference in REFERENCES if reference.used(data, sections))


def save_bibtex(references: Collection[Reference], folder: Path) -> Path:
    """Write references.bib; LabError if that fails."""
    path = folder / "references.bib"
    try:
        folder.mkdir(exist_ok=True)
        path.write_text("\n".join(reference.bibtex for reference in references), encoding="ascii")
    except OSError as error:
        raise LabError(f"{path} cannot be written ({error.strerror}): check its permissions and free space.") from error
    return path


def _kinds(data: ReportData) -> set[str]:
    """Kinds of the lab's settings that were varied."""
    return {kind for run in data.runs for kind in run.factors.kinds.values()} & LAB_KINDS


def _of_eee(data: ReportData, _: Collection[str]) -> bool:
    return bool({"eee", "hold_us"} & _kinds(data)) or (data.calibration is not None and bool(data.calibration.links))


def _of_miwa(data: ReportData, sections: Collection[str]) -> bool:
    programs = {trial.program for run in data.runs for trial in run.programs()}
    return bool({"overhead", "estimates", "delay"} & {*sections}) or "alltoall" in programs


def _of_koibuchi(data: ReportData, _: Collection[str]) -> bool:
    return bool({"link", "speed_mbps", "routing", "regulation"} & _kinds(data))


def _of_andujar(data: ReportData, sections: Collection[str]) -> bool:
    return "networks" in sections or (data.calibration is not None and data.calibration.power.andujar is not None)


def _blocks(data: ReportData) -> list[int]:
    return [change.time.blocks for change in changes_of(data) if change.time.has_interval]


REFERENCES: Final = (
    Reference(
        "ieee8023az",
        "misc",
        "Energy-Efficient Ethernet",
        (
            ("author", "{IEEE}"),
            (
                "title",
                ("{IEEE} Std 802.3az-2010: Media Access Control Parameters, Physical Layers, and Management "
                "Parameters for {Energy-Efficient Ethernet}"),
            ),
            ("year", "2010"),
        ),
        _of_eee,
    ),
    Reference(
        "miwa2013",
        "article",
        "mean gap, overhead of a communication, echoes after pauses, Alltoall with sleeps",
        (
            ("author", "Miwa, Shinobu and Aita, Sho and Nakamura, Hiroshi"),
            (
                "title",
                ("Performance estimation of high performance computing systems with {Energy Efficient Ethernet} "
                "technology"),
            ),
            ("journal", "Computer Science -- Research and Development"),
            ("year", "2013"),
            ("note", "Published online 25 July 2013"),
        ),
        _of_miwa,
    ),
    Reference(
        "koibuchi2011",
        "inproceedings",
        "links off and slower, multi-tree routing",
        (
            (
                "author",
                ("Koibuchi, Michihiro and Watanabe, Takafumi and Minamihata, Atsushi and Nakao, Masahiro and "
                "Hiroyasu, Tomoyuki and Matsutani, Hiroki and Amano, Hideharu"),
            ),
            ("title", "Performance Evaluation of Power-aware Multi-tree {Ethernet} for {HPC} Interconnects"),
            ("booktitle", "International Conference on Networking and Computing ({ICNC})"),
            ("year", "2011"),
        ),
        _of_koibuchi,
    ),
    Reference(
        "andujar2023",
        "article",
        "power model of networks and nodes, networks that were predicted",
        (
            (
                "author",
                ("And{\\'u}jar, Francisco J. and Coll, Salvador and Alonso, Marina and Mart{\\'i}nez, "
                "Juan-Miguel and L{\\'o}pez, Pedro and S{\\'a}nchez, Jos{\\'e} L. and Alfaro, Francisco J."),
            ),
            ("title", "Energy efficient {HPC} network topologies with on/off links"),
            ("journal", "Future Generation Computer Systems"),
            ("volume", "139"),
            ("pages", "126--138"),
            ("year", "2023"),
        ),
        _of_andujar,
    ),
    Reference(
        "student1908",
        "article",
        "intervals of three to five blocks",
        (
            ("author", "{Student}"),
            ("title", "The Probable Error of a Mean"),
            ("journal", "Biometrika"),
            ("volume", "6"),
            ("number", "1"),
            ("pages", "1--25"),
            ("year", "1908"),
        ),
        lambda data, _: any(blocks < FEW for blocks in _blocks(data)),
    ),
    Reference(
        "efron1979",
        "article",
        "intervals of six blocks or more",
        (
            ("author", "Efron, Bradley"),
            ("title", "Bootstrap Methods: Another Look at the Jackknife"),
            ("journal", "The Annals of Statistics"),
            ("volume", "7"),
            ("number", "1"),
            ("pages", "1--26"),
            ("year", "1979"),
        ),
        lambda data, _: any(blocks >= FEW for blocks in _blocks(data)),
    ),
)  # fmt: skip
"""Every paper that a report may rest on. A new one is an entry here."""
