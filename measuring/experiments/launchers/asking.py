"""What the first host of a program says of its MPI, asked once a run."""

from typing import Any, Final

from eee_testbed.controller.transports.hosts import Program, run_on_hosts
from eee_testbed.lab.errors import DeviceError
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.launchers.table import DEFAULT, LAUNCHERS
from eee_testbed.measuring.experiments.validation import first_launch

FACT: Final = "launcher"
"""The fact of a run that has it."""

_WITHIN_S: Final = 30.0
_ASK: Final = Program(
    "the question for its MPI",
    """
import json, subprocess, sys
given = json.loads(sys.argv[1])
def said(words):
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
vendor = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.get_vendor()[0])"
print(json.dumps([said(given["asks"]) if given["asks"] else "",
                  said(["python3", "-c", vendor]).strip() if given["mpi4py"] else ""]))
""",
)


def launcher_fact(experiment: Experiment, lab: Lab) -> dict[str, Any]:
    """Facts for a run: the launcher, and the version that the first host has; none where no program is measured.

    A host that does not answer leaves the version empty: the first trial will say why. DeviceError if the program is a
    Python program, and the host's mpi4py is made for another MPI than the launcher's: each rank would run alone.
    """
    run = experiment.measure.program
    if run is None:
        return {}
    launcher, host = LAUNCHERS[run.launcher], lab.host(run.hosts[0])
    python = launcher.name != DEFAULT and launcher.vendor and "mpi4py" in first_launch(experiment).modules
    answer = run_on_hosts(_ASK, {host: {"asks": list(launcher.asks), "mpi4py": bool(python)}}, timeout_s=_WITHIN_S)
    printed, vendor = ("", "") if isinstance(found := answer[host.name], DeviceError) else map(str, found)
    if vendor and vendor != launcher.vendor:
        sentence = (
            f"has an mpi4py for {vendor}, and {run.name} needs it, so launcher {launcher.name} cannot start it: use "
            f"--launcher openmpi, or install an mpi4py for {launcher.vendor}."
        )
        raise DeviceError(host.name, sentence)
    return {FACT: {"name": launcher.name, "version": launcher.version_in(printed), "host": host.name}}
