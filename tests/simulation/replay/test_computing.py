"""Computing is scaled until programs take as long as wanted."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.replay.computing import fit_computing, run_time_awake
from tests.support.laws import law

_KRIPKE = {"kind": "kripke", "procs": [2, 2, 1], "zones": [8, 8, 8], "grain_ns": 100}
_NETWORK = {
    "name": "four",
    "network": {"kind": "hyperx", "sizes": [4], "concentration": 1},
    "routing": "dor",
    "router": {"vcs": 2, "buffer_flits": 256, "packet_flits": 8, "switching": "cut_through"},
}


def _described(*jobs: dict[str, object]) -> Description:
    programs = {"cycle_ns": 1.6, "flit_byte": 16, "jobs": list(jobs)}
    return Description.model_validate({**_NETWORK, "programs": programs})


def test_a_sweep_takes_as_long_as_wanted() -> None:
    """A sweep waits for computing of other ranks, so its run time is not its own computing and its messages."""
    described = _described({"program": _KRIPKE, "compute_scale": 2})
    once_s = run_time_awake(described)
    for wanted_s in (once_s, 0.7 * once_s, 3 * once_s):
        found = fit_computing(described, wanted_s)
        assert found.run_time_s == pytest.approx(wanted_s, rel=1e-4)
        (scale,) = found.compute_scale
        fitted = _described({"program": _KRIPKE, "compute_scale": scale})
        assert run_time_awake(fitted) == found.run_time_s


@law(100)
@given(
    messages_s=st.floats(0.001, 1),
    hidden=st.floats(0, 2),
    slopes=st.lists(st.floats(0.01, 100), min_size=1, max_size=3),
    more=st.floats(1.01, 1000),
)
def test_any_run_time_that_grows_is_met(messages_s: float, hidden: float, slopes: list[float], more: float) -> None:
    """Run time is the longest of several paths; up to some factor, computing hides behind messages."""

    def run_time_s(described: Description) -> float:
        assert described.programs is not None
        factor = described.programs.jobs[0].compute_scale
        return messages_s + max(slope * max(0.0, factor - hidden * number) for number, slope in enumerate(slopes))

    found = fit_computing(_described({"program": _KRIPKE}), messages_s * more, run_time_s)
    assert math.isclose(found.run_time_s, messages_s * more, rel_tol=2e-4)


def test_every_job_keeps_its_share_of_computing() -> None:
    described = _described({"program": {**_KRIPKE, "procs": [2, 1, 1]}}, {"program": {**_KRIPKE, "procs": [1, 2, 1]}})
    programs = described.programs
    assert programs is not None
    jobs = [job.model_copy(update={"compute_scale": scale}) for job, scale in zip(programs.jobs, (1, 3), strict=True)]
    described = described.model_copy(update={"programs": programs.model_copy(update={"jobs": jobs})})
    first, second = fit_computing(described, 1.0).compute_scale
    assert second == pytest.approx(3 * first)


def test_what_no_factor_gives_is_refused() -> None:
    with pytest.raises(LabError, match=r"^four: messages alone take [\d.e-]+ s: ask for at least that"):
        fit_computing(_described({"program": _KRIPKE}), 1e-9)
    with pytest.raises(LabError, match="the jobs compute nothing"):
        fit_computing(_described({"program": {**_KRIPKE, "grain_ns": 0}}), 1.0)
