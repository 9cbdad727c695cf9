"""A fit and a report say what they do, in as many steps as they announced."""

from pathlib import Path

import pytest

from eee_testbed.analysis.fit_runs import fit_runs
from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.report.page import SECTIONS, report_of, save_figures
from eee_testbed.analysis.report.report_data import read_report_data
from eee_testbed.record.samples import RunSamples
from tests.support.measured.stage_run import StageRun
from tests.support.measured.synthetic_run import Writer, write_run


class _Heard:
    """What was told, and how many steps are left."""

    def __init__(self) -> None:
        self.left = 0
        self.doing: list[str] = []

    def begin(self, doing: str, rounds: int) -> None:
        assert self.left == 0
        self.left = rounds
        self.doing = [doing]

    def step(self, doing: str) -> None:
        self.left -= 1
        self.doing.append(doing)


def _two_states(writer: Writer) -> None:
    for block in range(3):
        for eee in ("on", "off"):
            writer.write({"eee": eee}, 1.0, figures=[("time", 1.0 + block, "s")], block=block, program="p")


def test_a_fit_says_which_part_it_fits(tmp_path: Path) -> None:
    heard = _Heard()
    run = RunSamples(write_run(tmp_path, StageRun(blocks=1), name="power"))
    with pytest.raises(NotEnoughData, match="9 windows are too few"):
        fit_runs([run], progress=heard)
    assert heard.left == 0
    assert heard.doing == ["reading", "links together", "power", "run time", ""]


def test_a_report_says_which_section_and_which_figure_it_draws(tmp_path: Path) -> None:
    heard = _Heard()
    report = report_of(read_report_data([write_run(tmp_path, _two_states)], None, ""), heard)
    assert heard.left == 0
    assert heard.doing[1] == "section run times"
    assert len(heard.doing) == len(SECTIONS) + 2
    drawn = save_figures(report, tmp_path / "figures", progress=heard)
    assert heard.left == 0
    assert drawn
    assert heard.doing[1:-1] == [f"figure {one.name}" for one in drawn]
