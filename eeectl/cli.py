"""`eeectl`: the command line. Exit status: 0 done, 1 refused or failed, 2 wrong use, 3 changes or trials pending."""

import os
import sys
import threading
import traceback
from typing import Final, NamedTuple, NoReturn

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from eeectl.exit_status import DONE, INTERRUPTED, REFUSED, WRONG_USE
from eeectl.lab_time import join_lab
from lab.errors import LabError


class Verb(NamedTuple):
    """A verb, its module, and the first line of its help."""

    name: str
    place: str
    help: str


VERBS: Final = (
    Verb(
        "adopt",
        "eeectl.verbs.apply:adopt_app",
        "Accept a lab as it is found; an unfinished apply is forgotten.",
    ),
    Verb(
        "apply",
        "eeectl.verbs.apply:apply_app",
        "Bring a lab to multi-tree routing: plan, prove, ask, send, read back; a failure rolls everything back.",
    ),
    Verb(
        "bench",
        "eeectl.verbs.bench:bench_app",
        "Run an MPI program on hosts of a lab: check its answer, show its figures, and sample all devices meanwhile.",
    ),
    Verb(
        "compare",
        "eeectl.verbs.compare:compare_app",
        "Compare two runs, or two levels of a factor within one run: medians, ratios, energy, with 95 % intervals.",
    ),
    Verb("confirm", "eeectl.verbs.apply:confirm_app", "Keep the changes of an apply with --confirm-in."),
    Verb(
        "eee",
        "eeectl.verbs.eee:eee_app",
        "Energy-Efficient Ethernet at both ends of links: switch it, and see what it does.",
    ),
    Verb(
        "fit",
        "eeectl.verbs.fit:fit_app",
        "Fit links' EEE policies, power of switches and nodes, and run time under EEE to runs; write a calibration.",
    ),
    Verb(
        "lab",
        "eeectl.verbs.lab.commands:lab_app",
        "Virtual labs: software switches, hosts and power strips that real tools can use.",
    ),
    Verb(
        "link",
        "eeectl.verbs.link:link_app",
        "Turn links between switches off and on, and set their speed; traffic moves first.",
    ),
    Verb(
        "plan",
        "eeectl.verbs.plan:plan_app",
        "Show how a lab would be brought to multi-tree routing, proved step by step; nothing is sent.",
    ),
    Verb(
        "power",
        "eeectl.verbs.power:power_app",
        "Metered power strips: read watts and joules, switch outlets.",
    ),
    Verb(
        "predict",
        "eeectl.verbs.predict:predict_app",
        "Predict a measured program's run time and energy: any EEE, links off or slower, in this lab or elsewhere.",
    ),
    Verb(
        "probe",
        "eeectl.verbs.probe:probe_app",
        "Send echoes from one host to another after pauses; show round-trip time by pause, and the links' EEE policy.",
    ),
    Verb(
        "recover",
        "eeectl.verbs.apply:recover_app",
        "Bring a lab back to a state that was verified, after a crash or a switch that lost its settings.",
    ),
    Verb(
        "report",
        "eeectl.verbs.report:report_app",
        "Make a report of runs: an HTML file that opens offline, and figures as SVG and PDF in the first run's folder.",
    ),
    Verb("rollback", "eeectl.verbs.apply:rollback_app", "Roll back the last apply, confirmed or not."),
    Verb(
        "run",
        "eeectl.verbs.run:run_app",
        "Run an experiment: trials in interleaved random blocks, everything sampled, the lab restored at the end.",
    ),
    Verb(
        "simulate",
        "eeectl.verbs.simulate:simulate_app",
        "Simulate an interconnect packet by packet: latency, accepted traffic and energy by load, with 95 % intervals.",
    ),
    Verb(
        "status",
        "eeectl.verbs.apply:status_app",
        "Show who works on a lab, what was done last, and whether the switches still have the settings left then.",
    ),
    Verb(
        "study",
        "eeectl.verbs.study:study_app",
        "Measure a lab, from its links' EEE policy to its power; fit the models, and write a report.",
    ),
    Verb(
        "sweep",
        "eeectl.verbs.sweep:sweep_app",
        "Run a program of the table at all combinations of some factors' levels: `run` without a file.",
    ),
    Verb(
        "watch",
        "eeectl.verbs.watch:watch_app",
        "Show a run or a lab live: links, power, LPI, trials, alarms; export it to Prometheus and InfluxDB.",
    ),
)
"""Only the module of the verb in use is loaded, as all together take half a second."""

app = App(
    name="eeectl",
    help="Set up, measure and predict Energy-Efficient Ethernet on a cluster of switches, real or virtual.",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
for _verb in VERBS:
    app.command(_verb.place, name=_verb.name, help=_verb.help)


def run(tokens: list[str]) -> int:
    """Execute one command line and return the exit status; LabErrors become one sentence on standard error."""
    debug = "--debug" in tokens[: tokens.index("--")] if "--" in tokens else "--debug" in tokens
    if debug:
        tokens.remove("--debug")
    try:
        result = app(tokens, exit_on_error=False, print_error=True)
    except CycloptsError:
        return WRONG_USE
    except LabError as error:
        if debug:
            traceback.print_exc()
        print(f"eeectl: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        if debug:
            traceback.print_exc()
        print("eeectl: interrupted; what was begun has been undone.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return DONE  # the reader, such as `head`, has seen enough
    except Exception as error:  # noqa: BLE001 - the one place that catches everything: a person reads this
        if debug:
            traceback.print_exc()
        print(
            f"eeectl: unexpected {type(error).__name__}: {error}; run it again with --debug and report the trace.",
            file=sys.stderr,
        )
        return REFUSED
    return result if isinstance(result, int) else DONE


def main() -> None:
    """Entry point of the command `eeectl`."""
    join_lab(sys.argv[1:])
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()
    _leave(status)


def _leave(status: int) -> NoReturn:
    """Exit; without the interpreter's own shutdown if a device that hangs, or Ctrl-C, left a thread in a library.

    That shutdown unwinds such a thread wherever it is; in native code this aborts the whole process.
    """
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    for thread in others:
        if not thread.daemon:
            thread.join()
    if any(thread.is_alive() for thread in others):
        if not sys.stderr.closed:
            sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
