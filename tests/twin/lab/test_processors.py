"""Processor time of hosts in lab time."""

from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.twin.lab.processors import LabCpu

_STRETCHES = st.lists(
    st.tuples(st.floats(0.001, 10.0), st.floats(0.001, 50.0), st.floats(0.0, 1.0)), min_size=1, max_size=20
)


class _Host:
    """Uses a share of one core, while lab time passes at a rate."""

    def __init__(self) -> None:
        self.cpu_s = 7.0
        self.lab_s = 100.0
        self.wall_s = 1000.0

    def go_on(self, wall_s: float, rate: float, share: float) -> None:
        self.cpu_s += wall_s * share
        self.lab_s += wall_s * rate
        self.wall_s += wall_s

    def times_s(self) -> tuple[float, float]:
        return self.lab_s, self.wall_s


@given(_STRETCHES)
def test_a_host_is_busy_for_the_same_share_of_lab_time(stretches: list[tuple[float, float, float]]) -> None:
    host = _Host()
    lab_cpu = LabCpu(lambda: host.cpu_s, host.times_s)
    assert lab_cpu() == 0.0
    wanted_s = 0.0
    for wall_s, rate, share in stretches:
        host.go_on(wall_s, rate, share)
        wanted_s += wall_s * rate * share
        assert abs(lab_cpu() - wanted_s) <= 1e-6 * max(wanted_s, 1.0)


def test_a_host_whose_group_went_keeps_what_it_used() -> None:
    host = _Host()
    lab_cpu = LabCpu(lambda: host.cpu_s, host.times_s)
    host.go_on(1.0, 0.5, 1.0)
    used_s = lab_cpu()
    host.cpu_s, host.wall_s = 0.0, host.wall_s + 1.0
    assert lab_cpu() == used_s
