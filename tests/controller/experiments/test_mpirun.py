"""What Open MPI is told, beside where to run what."""

from benchmarks.program import Launch, Placement
from controller.experiments.mpirun import mpirun_argv


def test_ranks_look_for_messages_all_the_time() -> None:
    """Else some runs find messages only every 10 ms."""
    placement = Placement(hosts=("n01", "n02"), ranks_per_host=1, addresses=("198.18.0.1", "198.18.0.2"))
    argv = mpirun_argv(Launch(("true",)), placement, "12ab", "/run/eee-12ab", traffic=False, crowded=True)
    place = argv.index("mpi_event_tick_rate")
    assert argv[place - 1 : place + 2] == ["--mca", "mpi_event_tick_rate", "1"]
