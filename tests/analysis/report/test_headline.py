"""The figure of the first screen: a model's curve is the model's own, whatever was measured."""

from pathlib import Path

import numpy as np
import pytest

from eee_testbed.analysis.programs.miwa import modelled_us
from eee_testbed.analysis.report.headline import headline, modelled_slower_percent
from eee_testbed.analysis.report.report_data import read_report_data
from tests.support.measured.synthetic_run import calibration


def test_the_curve_is_the_share_of_a_call_that_the_model_adds() -> None:
    fit = calibration().run_time["alltoall 4x1"].miwa
    assert fit is not None
    idle_us = np.array([100.0, 2_000.0])
    found = modelled_slower_percent(fit, idle_us, 500.0)
    assert found[0] == 0.0
    assert found[1] == pytest.approx(100 * modelled_us(fit, 2_000.0) / 2_500.0)


@pytest.mark.slow
def test_the_curve_is_drawn_from_the_model_and_estimates_are_not_joined(study: Path) -> None:
    found = headline(read_report_data([study], calibration(), "calibration.yaml"))
    assert found is not None
    drawing, _ = found
    upper = drawing.figure.axes[0]
    lines = {line.get_label(): line for line in upper.get_lines()}
    curve, ours = lines["Miwa's model"], lines["our model"]
    x = np.asarray(curve.get_xdata(), dtype=float)
    assert x.size > 300
    assert np.all(np.diff(x) > 0)
    assert float(np.max(np.asarray(curve.get_ydata(), dtype=float)[x < 0.9])) == 0.0, "the fit's threshold is 900 us"
    assert ours.get_linestyle() == "None"
    assert "fitted to other runs" in drawing.caption
    inside = calibration().model_copy(update={"runs": (study.name,)})
    told = headline(read_report_data([study], inside, "calibration.yaml"))
    assert told is not None
    assert "show the fit and are no test of it" in told[0].caption
