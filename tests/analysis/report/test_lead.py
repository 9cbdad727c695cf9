"""The first line says what was found, in plain words."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from eee_testbed.analysis.report.lead import NOTHING, lead_sentence
from eee_testbed.analysis.report.page import page, report_of
from eee_testbed.analysis.report.report_data import read_report_data
from tests.support.measured.synthetic_run import Writer, calibration, write_alltoall, write_regulation, write_run


def _program(blocks: int, on: float, watt: float | None = None) -> Callable[[Writer], None]:
    def part(writer: Writer) -> None:
        for block in range(blocks):
            for eee, share in (("off", 1.0), ("on", on)):
                time_s = 10.0 * share * 1.1**block * (1 + float(writer.random.normal(0, 0.002)))
                begun_ns, ended_ns = writer.write(
                    {"eee": eee}, time_s, figures=[("time", time_s, "s")], block=block, program="p", hosts=("n01",)
                )
                if watt is not None:
                    writer.watts(begun_ns - 1_000_000_000, ended_ns + 1_000_000_000, 60.0 if eee == "off" else watt)

    return part


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ((_program(3, 1.05),), r"EEE makes p on 1 host [45]\.?\d* % slower; what it saves was not measured"),
        ((_program(3, 1.05, 45.0),), r"EEE makes p on 1 host [45]\.?\d* % slower, and saves 2[0-3] % of the .* energy"),
        ((_program(3, 1.0),), r"EEE makes p on 1 host no slower than 3 blocks resolve \([\d.]+ %\); what it .*"),
        ((_program(3, 0.9),), r"EEE makes p on 1 host (9|10|11)\.?\d* % faster; what .*"),
        ((_program(1, 1.05),), r"What EEE costs p on 1 host is not known yet: \+[\d.]+ % in 1 block may be chance"),
        ((write_alltoall,), r"EEE makes alltoall on 4 hosts up to 33 % slower, and saves .*% .*"),
        ((write_regulation,), r"With links of trunks off, links of uplink off, hpl on 4 hosts .* is 23 % slower, .*"),
        ((), NOTHING),
    ],
)  # fmt: skip
def test_it_has_the_two_numbers_that_matter(tmp_path: Path, parts: tuple[object, ...], sentence: str) -> None:
    said = lead_sentence(read_report_data([write_run(tmp_path, *parts)], None, ""))
    assert re.fullmatch(sentence, said), said


def test_without_a_program_the_links_are_what_was_found(tmp_path: Path) -> None:
    data = read_report_data([write_run(tmp_path)], calibration(), "c.yaml")
    assert lead_sentence(data) == "Links sleep after 1000 µs without frames, and wake in 60 µs"


def test_it_is_the_title_and_five_findings_follow(tmp_path: Path) -> None:
    data = read_report_data([write_run(tmp_path, _program(3, 1.05))], None, "")
    text = page(data, report_of(data))
    title = re.search(r"<h1>(.*)</h1>", text)
    assert title is not None
    assert title[1].startswith("EEE makes p on 1 host")
    first = text[text.index('id="findings"') : text.index('class="more"')]
    assert first.count("<dt") == 5
    assert "Lab virtual: study." in text
