"""What Open MPI is told: exactly, and beside where to run what."""

from eee_testbed.benchmarks.program import Launch, Placement
from eee_testbed.measuring.experiments.launchers.launcher import Start
from eee_testbed.measuring.experiments.launchers.openmpi import argv

PLACEMENT = Placement(hosts=("n01", "n02"), ranks_per_host=2, addresses=("198.18.0.1", "198.18.0.2"))


def test_ranks_look_for_messages_all_the_time() -> None:
    """Else some runs find messages only every 10 ms."""
    words = argv(Start(Launch(("true",)), PLACEMENT, "12ab", "/run/eee-12ab", crowded=True))
    place = words.index("mpi_event_tick_rate")
    assert words[place - 1 : place + 2] == ["--mca", "mpi_event_tick_rate", "1"]


def test_the_whole_command_line() -> None:
    launch = Launch(("/shared/halo", "a b"), environment={"N": "1 2"})
    words = argv(Start(launch, PLACEMENT, "12ab", "/run/eee-12ab", traffic=True, words=("--report-bindings",)))
    place = ["mpirun", "--host", "n01:2,n02:2", "-np", "4", "--map-by", "slot", "--wdir", "/run/eee-12ab"]
    settings = {
        "plm_rsh_args": "-o BatchMode=yes -o ConnectTimeout=10",
        "plm_ssh_args": "-o BatchMode=yes -o ConnectTimeout=10",
        "orte_launch_agent": "env EEE_JOB=12ab orted",
        "prte_launch_agent": "env EEE_JOB=12ab prted",
        "mpi_event_tick_rate": "1",
        "pml": "ob1,monitoring",
        "pml_monitoring_enable": "2",
        "pml_monitoring_enable_output": "3",
        "pml_monitoring_filename": "/run/eee-12ab/monitor",
    }
    mca = [word for name, value in settings.items() for word in ("--mca", name, value)]
    rest = ["-x", "EEE_JOB=12ab", "-x", "N=1 2", "--report-bindings", "/shared/halo", "a b"]
    assert words == [*place, *mca, *rest]
