"""Every verb of `eeectl`: its module, what it is for, and the first line of its help; and the help of `eeectl` itself.

Nothing is imported here, so that `eeectl --help` is printed before the library that parses command lines is loaded.
"""

from textwrap import wrap
from typing import Final, Literal, NamedTuple

Purpose = Literal["labs", "change", "measure", "analyse", "eeectl"]


class Verb(NamedTuple):
    """A verb, its module, its purpose, and the first line of its help."""

    name: str
    place: str
    purpose: Purpose
    help: str


VERBS: Final = (
    Verb(
        "adopt",
        "eee_testbed.eeectl.verbs.apply:adopt_app",
        "change",
        "Accept the present state of a lab as the right one; forget an unfinished apply.",
    ),
    Verb(
        "apply",
        "eee_testbed.eeectl.verbs.apply:apply_app",
        "change",
        "Set up multi-tree routing: plan, prove, ask, send, read back; a failure rolls everything back.",
    ),
    Verb(
        "bench",
        "eee_testbed.eeectl.verbs.bench:bench_app",
        "measure",
        "Run an MPI program on hosts of a lab: check its answer, show its figures, and sample all devices meanwhile.",
    ),
    Verb(
        "check",
        "eee_testbed.eeectl.verbs.check:check_app",
        "analyse",
        "Check figures of runs against limits, such as --expect 'time.slowdown < 1 %'; the exit status is the answer.",
    ),
    Verb(
        "compare",
        "eee_testbed.eeectl.verbs.compare:compare_app",
        "analyse",
        "Compare two runs, or two levels of a factor within one run: medians, ratios, energy, with 95 % intervals.",
    ),
    Verb(
        "completion",
        "eee_testbed.eeectl.verbs.setup.completion:completion_app",
        "eeectl",
        "Let the shell complete verbs, options, labs, hosts, ports and runs: `completion install`.",
    ),
    Verb(
        "confirm",
        "eee_testbed.eeectl.verbs.apply:confirm_app",
        "change",
        "Keep the changes of an apply with --confirm-in.",
    ),
    Verb(
        "dataset",
        "eee_testbed.eeectl.verbs.dataset:dataset_app",
        "analyse",
        "Build a data set of power against packet interval; check and export measured files for it.",
    ),
    Verb(
        "doctor",
        "eee_testbed.eeectl.verbs.setup.doctor:doctor_app",
        "labs",
        "Check this machine and, with LAB, a lab; print a command that fixes each problem.",
    ),
    Verb(
        "eee",
        "eee_testbed.eeectl.verbs.eee:eee_app",
        "change",
        "Show Energy-Efficient Ethernet at both ends of every link; turn it on and off.",
    ),
    Verb(
        "examples",
        "eee_testbed.eeectl.verbs.setup.examples:examples_app",
        "eeectl",
        "Copy the playbooks, experiments, labs and docs that came with eeectl: `examples copy FOLDER`.",
    ),
    Verb(
        "fit",
        "eee_testbed.eeectl.verbs.fit:fit_app",
        "analyse",
        "Fit links' EEE policies, power of switches and nodes, and run time under EEE to runs; write a calibration.",
    ),
    Verb(
        "history",
        "eee_testbed.eeectl.verbs.history:history_app",
        "change",
        "Show the changes of a lab: number, when, by whom, which command, on what, and whether it is still in force.",
    ),
    Verb(
        "lab",
        "eee_testbed.eeectl.verbs.lab.commands:lab_app",
        "labs",
        "Bring virtual labs up and down and work in them; check, discover and set up racks.",
    ),
    Verb(
        "link",
        "eee_testbed.eeectl.verbs.link:link_app",
        "change",
        "Turn links between switches off and on, set their speed and flow control, set up LAGs; traffic moves first.",
    ),
    Verb(
        "plan",
        "eee_testbed.eeectl.verbs.plan:plan_app",
        "change",
        "Show the steps of `apply` that set up multi-tree routing, with their proof; nothing is sent.",
    ),
    Verb(
        "power",
        "eee_testbed.eeectl.verbs.power:power_app",
        "labs",
        "Metered power strips: read watts and joules, switch outlets.",
    ),
    Verb(
        "predict",
        "eee_testbed.eeectl.verbs.predict:predict_app",
        "analyse",
        "Predict a program's run time and energy for other EEE policies, links off or slower, or other networks.",
    ),
    Verb(
        "probe",
        "eee_testbed.eeectl.verbs.probe:probe_app",
        "measure",
        "Send echoes from one host to another after pauses; show round-trip time by pause, and the links' EEE policy.",
    ),
    Verb(
        "recover",
        "eee_testbed.eeectl.verbs.apply:recover_app",
        "change",
        "Bring a lab back to its last verified state, after a crash or after a switch lost its settings.",
    ),
    Verb(
        "regulate",
        "eee_testbed.eeectl.verbs.regulate:regulate_app",
        "measure",
        "Find the links that a program needs, measure it with the others off, then restore the lab.",
    ),
    Verb(
        "report",
        "eee_testbed.eeectl.verbs.report:report_app",
        "analyse",
        "Make a report of runs, or of simulations: an HTML file that opens offline, and figures beside it.",
    ),
    Verb(
        "rollback",
        "eee_testbed.eeectl.verbs.history:rollback_app",
        "change",
        "Roll back the last change of a lab, a numbered change of `eeectl history` and all after it, or all.",
    ),
    Verb(
        "run",
        "eee_testbed.eeectl.verbs.run:run_app",
        "measure",
        "Run an experiment: trials in interleaved random blocks, everything sampled, the lab restored at the end.",
    ),
    Verb(
        "simulate",
        "eee_testbed.eeectl.verbs.simulate:simulate_app",
        "analyse",
        "Simulate an interconnect packet by packet: latency, accepted traffic and energy by load, with 95 % intervals.",
    ),
    Verb(
        "status",
        "eee_testbed.eeectl.verbs.status:status_app",
        "labs",
        "Show who works on a lab, its last change, and whether the switches still have the settings of that change.",
    ),
    Verb(
        "study",
        "eee_testbed.eeectl.verbs.study:study_app",
        "measure",
        "Measure a lab, from its links' EEE policy to its power; fit the models, and write a report.",
    ),
    Verb(
        "sweep",
        "eee_testbed.eeectl.verbs.sweep:sweep_app",
        "measure",
        "Run a program at all combinations of the levels of some factors: like `run`, without an experiment file.",
    ),
    Verb(
        "trace",
        "eee_testbed.eeectl.verbs.trace:trace_app",
        "analyse",
        "Make, show and export replay files: the MPI calls of programs.",
    ),
    Verb(
        "watch",
        "eee_testbed.eeectl.verbs.watch:watch_app",
        "labs",
        "Show a run or a lab live: links, power, LPI, trials, alarms; export it to Prometheus and InfluxDB.",
    ),
)
"""Only the module of the verb in use is loaded, as all together take half a second."""

ABOUT: Final = "Set up, measure and predict Energy-Efficient Ethernet on a cluster of switches, real or virtual."

_HEADINGS: Final[dict[Purpose, str]] = {
    "labs": "Labs and their state",
    "change": "Change the switches, proved and reversible",
    "measure": "Measure",
    "analyse": "Fit, predict, compare, report",
    "eeectl": "eeectl itself",
}
"""Verbs are shown by their purpose, in this order."""

_NAME_WIDTH: Final = max(len(verb.name) for verb in VERBS) + 4  # with the indent before and after it


def overview(width: int) -> str:
    """The help of `eeectl`: every verb with what it does, by purpose, in lines of at most `width` characters."""
    lines = ["Usage: eeectl VERB ...", "", *wrap(ABOUT, width)]
    for purpose, heading in _HEADINGS.items():
        verbs = [verb for verb in VERBS if verb.purpose == purpose]
        lines += ["", heading] if verbs else []
        for verb in verbs:
            first, *rest = wrap(_brief(verb.help, width - _NAME_WIDTH), max(20, width - _NAME_WIDTH))
            lines.append(f"  {verb.name:<{_NAME_WIDTH - 2}}{first}")
            lines += [" " * _NAME_WIDTH + line for line in rest]
    lines += [
        "",
        *wrap(
            "`eeectl VERB --help` shows its options, `eeectl --version` the version. With --debug an error "
            "is shown with its trace.",
            width,
        ),
    ]
    return "\n".join(lines)


def _brief(text: str, width: int) -> str:
    """The whole sentence if it fits a line, else what stands before its first colon or semicolon."""
    return text if len(text) <= width else text.replace("; ", ": ").partition(": ")[0].removesuffix(".") + "."
