"""Open MPI's command line, and the diagnosis of its error messages. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from eee_testbed.measuring.experiments.launchers.launcher import Start
from eee_testbed.measuring.experiments.traffic import PREFIX

_ABORTED: Final = re.compile(r"process rank (\d+) with PID \d+ on node (\S+) exited on\s+signal (\d+)")
_LOST: Final = re.compile(
    r"[OP]RTE has lost communication with a remote daemon.*?Remote daemon: \S+ on node (\S+)", re.DOTALL
)
_STATUS: Final = re.compile(r"Process name: \[(?:\[\d+,\d+\]|\S+@\d+),(\d+)\]\s+Exit code:\s+(\d+)")
_NO_START: Final = re.compile(r"unable to reliably start one or more daemons")
_NO_LOGIN: Final = re.compile(r"^ssh: |Permission denied|Host key verification failed", re.MULTILINE)
_SSH_SAYS: Final = re.compile(rf"{_NO_LOGIN.pattern}|^Connection (to|closed|reset)", re.MULTILINE)
_RULE: Final = re.compile(
    r"^-{20,}$|^\s*$|^Primary job|^a non-zero|^(?:mpirun|prterun) detected|^(?:thus causing )?the job to be terminated"
)
_WORDS: Final = 240
_SIGNALLED: Final = 128


def argv(start: Start) -> list[str]:
    """`mpirun`; ranks are numbered host by host.

    Open MPI 5.0 starts ranks by PRRTE and not by ORTE, and has other names for it: a version ignores the other's.
    Where hosts have fewer processors than ranks, the ranks are not bound and yield while they wait. With `traffic`,
    messages go through Open MPI's own point-to-point layer (ob1), which is the one for Ethernet anyway, and are counted
    there.
    """
    placement, folder = start.placement, start.folder
    ssh = "-o BatchMode=yes -o ConnectTimeout=10"
    settings = {
        "plm_rsh_args": ssh,
        "plm_ssh_args": ssh,
        # Marks the processes that Open MPI starts on the other nodes, so that the keeper there finds them.
        "orte_launch_agent": f"env EEE_JOB={start.job} orted",
        "prte_launch_agent": f"env EEE_JOB={start.job} prted",
        # How often a rank looks for TCP's messages. By itself Open MPI 4.1.4 looks every 10 ms where it counts no user
        # of its event library; about one run in six came to that, and its iterations took up to 10 ms more.
        "mpi_event_tick_rate": "1",  # us
    }
    mapping = ["--map-by", "slot"]
    if start.crowded:
        mapping = ["--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none"]
        settings["mpi_yield_when_idle"] = "1"
    if start.traffic:
        settings |= {
            "pml": "ob1,monitoring",
            "pml_monitoring_enable": "2",
            "pml_monitoring_enable_output": "3",
            "pml_monitoring_filename": f"{folder}/{PREFIX}",
        }
    hosts = ",".join(f"{host}:{placement.ranks_per_host}" for host in placement.hosts)
    words = ["mpirun", "--host", hosts, "-np", str(placement.ranks), *mapping, "--wdir", folder]
    for name, value in settings.items():
        words += ["--mca", name, value]
    for name, value in start.environment.items():
        words += ["-x", f"{name}={value}"]
    return [*words, *start.words, *start.launch.argv]


def diagnose(status: int, errors_text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Diagnose a failed `mpirun` from its standard error: the host at fault ("" if unknown), and what happened."""
    lost = _LOST.search(errors_text)
    if lost and not _NO_LOGIN.search(errors_text):
        return lost[1], "was lost while the program ran: check its power and cable, then run it again."
    if found := _ABORTED.search(errors_text):
        return found[2], f"rank {found[1]} was ended there by signal {found[3]}: check its output."
    # Open MPI 5.0 says that it lost a daemon, also where none was started.
    if (lost or _NO_START.search(errors_text)) and "Exit code" not in errors_text:
        ssh_lines = [line.strip() for line in errors_text.splitlines() if _SSH_SAYS.search(line)]
        faulty_host = next(
            (host for host in hosts if any(re.search(rf"\b{re.escape(host)}\b", line) for line in ssh_lines)),
            lost[1] if lost else "",
        )
        reason = (
            ssh_lines[0].rstrip(".") if ssh_lines else last_words(errors_text.partition("This usually is caused by")[0])
        )
        return (
            faulty_host,
            f"{hosts[0]} could not start Open MPI there over SSH ({reason}): set up key-based login for its user.",
        )
    words = last_words(errors_text)
    if found := _STATUS.search(errors_text):
        return "", f"rank {found[1]} ended with status {found[2]} ({words}): check its output."
    if _SIGNALLED < status < _SIGNALLED + 65:  # Open MPI does not always name the rank
        return "", f"a rank was ended by signal {status - _SIGNALLED} ({words}): check its output."
    return "", f"mpirun ended with status {status} ({words}): check its output."


def last_words(errors_text: str) -> str:
    """The last line that is not Open MPI's boilerplate."""
    lines = [line.strip() for line in errors_text.splitlines() if not _RULE.search(line)]
    specific = [line for line in lines if not line.startswith(("Process name:", "Exit code:", "*", "["))]
    return (specific[-1] if specific else "no output")[:_WORDS].rstrip(".")
