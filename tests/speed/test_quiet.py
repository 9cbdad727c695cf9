"""When a machine counts as quiet."""

from tests.speed.quiet import MachineState, state_between

_BEFORE = "cpu  100 0 100 1000 0 0 0 50 0 0\ncpu0 50 0 50 500 0 0 0 25 0 0\ncpu1 50 0 50 500 0 0 0 25 0 0\nintr 1\n"


def _after(user: int, idle: int, steal: int) -> str:
    return _BEFORE.replace("cpu  100 0 100 1000 0 0 0 50", f"cpu  {100 + user} 0 100 {1000 + idle} 0 0 0 {50 + steal}")


def test_an_idle_machine_is_quiet() -> None:
    state = state_between(_BEFORE, _after(4, 396, 0))
    assert state == MachineState(2, 0.02, 0.0)
    assert state.quiet


def test_one_busy_core_or_a_busy_host_is_not_quiet() -> None:
    assert not state_between(_BEFORE, _after(200, 200, 0)).quiet
    stolen = state_between(_BEFORE, _after(0, 380, 20))
    assert stolen.steal_share == 0.05
    assert not stolen.quiet
    assert "5.0% of its time taken by its host" in str(stolen)
