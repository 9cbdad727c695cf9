"""Every host probes every other at once, and reports what else it saw: the check after each change of a lab.

The agents start as SSH lets them, one long after the other where many share a processor; `meet_s` bounds how long each
waits for one that it has not met, after the last that it has.
"""

import importlib.util
import secrets
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from eee_testbed.controller.applying.reachability import Report, Verdict, confirm, judge, read_report
from eee_testbed.controller.transports.hosts import Json, Program, run_on_hosts
from eee_testbed.lab.errors import DeviceError, LabError
from eee_testbed.lab.model import Host, Lab
from eee_testbed.lab.topology import Topology

_BURST: Final = 5
_TIMEOUT_S: Final = 60.0
_TURNS: Final = 24
"""Most hosts that take turns, a few milliseconds for each pair; of more, only who suspects a flood is known."""

Run = Callable[[Program, Mapping[Host, Json], float], Mapping[str, Json | DeviceError]]
"""Runs a program on all hosts at once, each with its argument, for a number of seconds at most."""


def over_ssh(program: Program, arguments: Mapping[Host, Json], timeout_s: float) -> Mapping[str, Json | DeviceError]:
    """All at once: the agents wait for each other."""
    return run_on_hosts(program, arguments, timeout_s=timeout_s, at_once=len(arguments))


def check_hosts(
    lab: Lab,
    hosts: Collection[str] | None = None,
    *,
    run: Run = over_ssh,
) -> Verdict:
    """Let the named hosts (all that are plugged in, if none are given) probe each other, and judge what they saw.

    Hosts that answer with an error are `silent` in the verdict. Where hosts lack the right to see frames for others and
    their NICs count too many, they check again in turns, which shows whose frames they are. What is serious is checked
    again, and floods until two checks in a row show the same or three have been made: only what the last one shows
    counts, and of its floods those that the one before shows too. With fewer than two hosts nothing is sent.
    They meet within 3 s, and 0.25 s for each host, since all share this machine's processors for their SSH sessions.
    """
    hosts_by_name = Topology.of(lab).hosts
    senders = {name: host for name, host in hosts_by_name.items() if hosts is None or name in hosts}
    if len(senders) < 2:
        return judge([], {})
    patience_s = 3.0 + 0.25 * len(senders)
    verdict = _check_once(senders, run, patience_s, turns=False)
    turns = bool(verdict.suspects) and len(senders) <= _TURNS
    if turns:
        verdict = _check_once(senders, run, patience_s, turns=True)
    if not verdict.serious:
        return verdict
    second = _check_once(senders, run, patience_s, turns=turns)
    if confirm(verdict, second) == second:
        return second
    return confirm(second, _check_once(senders, run, patience_s, turns=turns))


def _check_once(hosts: Mapping[str, Host], run: Run, meet_s: float, *, turns: bool) -> Verdict:
    given: dict[str, Json] = {
        "burst": _BURST,
        "meet_s": meet_s,
        "run": secrets.randbits(63),
        "turns": turns,
        "hosts": {name: host.data_address for name, host in hosts.items()},
    }
    arguments = {host: {**given, "host": name, "interface": host.interface} for name, host in hosts.items()}
    answers = run(_program(), arguments, _TIMEOUT_S + 2 * meet_s)
    reports: list[Report] = []
    silent: dict[str, str] = {}
    for name in hosts:
        answer = answers[name]
        if isinstance(answer, DeviceError):
            silent[name] = str(answer).removeprefix(f"{name}: ")
        else:
            reports.append(read_report(name, answer))
    return judge(reports, silent)


def _program() -> Program:
    spec = importlib.util.find_spec("eee_testbed.agents.all_pairs")
    if spec is None or spec.origin is None:
        raise LabError("agents/all_pairs.py is not installed beside the controller: install the whole package.")
    return Program("all_pairs.py", Path(spec.origin).read_text(encoding="utf-8"))
