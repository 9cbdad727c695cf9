"""Time to configure a lab, compared with a netmiko script run alternately on the same virtual lab.

``python -m evaluation.speed.actuation`` (root) brings a lab up and measures

* `eeectl apply` of multi-tree routing from the startup state, with planning, proof and read-back after each round,
  without the hosts' check, against one `send_config_set` with the same settings for each port, without any proof
  (timed on a sample of the ports);
* `eeectl link off`, from the start of the command until ifOperStatus is down (polled every other millisecond by this
  program), for a link that no tree uses, so that both sides have the same work.

Prints Markdown, or with ``--json`` one object.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from eee_testbed.controller.applying.observe import observe_lab
from eee_testbed.controller.drivers.driver import Command, Line
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.model.state import Change, PortChange, State, VlanChange, diff
from eee_testbed.controller.transports.port_watch import PortWatch
from eee_testbed.controller.transports.switches import open_session
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab, Link
from evaluation import quiet, recording
from evaluation.running_lab import eeectl
from evaluation.speed.figures import Ratio, paired

_DOWN_WITHIN_S = 120.0
_SAMPLE = 3
"""About how many sets the script sends to each switch; its time is scaled up to all sets.

On `virtual`, all sets take more than nine minutes.
"""


def _argv(*words: str) -> list[str]:
    return [sys.executable, "-m", "eee_testbed.eeectl.cli", *words]


def _timed(argv: list[str]) -> float:
    begun_s = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return time.monotonic() - begun_s


def _lines_of(orders: tuple[Command, ...], change: Change) -> list[str]:
    """Orders as lines of a configuration session; SNMP orders as the equivalent commands."""
    lines = [order.text for order in orders if isinstance(order, Line)]
    if len(lines) < len(orders) and isinstance(change, PortChange):
        lines += [f"interface {change.port}", "no shutdown" if change.after.admin_up else "shutdown", "exit"]
    return [line for line in lines if line.split()[0] not in {"configure", "end"}]


def _script(lab: Lab, changes: tuple[Change, ...]) -> dict[str, list[list[str]]]:
    """Lines for each port, VLAN and table, by switch."""
    sets: dict[str, list[list[str]]] = {}
    for change in changes:
        switch = lab.switch(change.switch)
        orders = driver_of(switch).render(switch, [change])
        sets.setdefault(change.switch, []).append(_lines_of(orders, change))
    return sets


def _netmiko(lab: Lab, sets: dict[str, list[list[str]]], folder: Path) -> list[str]:
    file = folder / "sets.json"
    file.write_text(json.dumps(sets), encoding="utf-8")
    return [sys.executable, "-m", "evaluation.speed.netmiko_ports", lab.name, str(file)]


def _apply_times(lab: Lab, rounds: int, folder: Path) -> tuple[list[float], list[float]]:
    """Seconds of both sides, by round; each round ends with a restart of the lab."""
    ours: list[float] = []
    theirs: list[float] = []
    before = observe_lab(lab)
    for number in range(rounds):
        ours.append(_timed(_argv("apply", lab.name, "--yes", "--no-host-check")))
        after = observe_lab(lab)
        _timed(_argv("rollback", lab.name, "--yes"))
        changes = _without_destroying(diff(before, after))
        sets = _script(lab, changes)
        sample = {name: lines[:: max(1, len(lines) // _SAMPLE)] for name, lines in sets.items()}
        count, tried = (sum(map(len, of.values())) for of in (sets, sample))
        theirs.append(_timed(_netmiko(lab, sample, folder)) * count / tried)
        _log(f"apply, round {number + 1} of {rounds}: {ours[-1]:.1f} s, netmiko {theirs[-1]:.1f} s")
        _restart(lab)
    return ours, theirs


def _without_destroying(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    return tuple(change for change in changes if not (isinstance(change, VlanChange) and not change.after))


def _restart(lab: Lab) -> None:
    eeectl("lab", "down", lab.name)
    eeectl("lab", "up", lab.name)


def _unused(lab: Lab, state: State) -> Link:
    """A trunk that no tree uses."""
    for link in lab.trunks():
        if not any(state.port(end.device, end.port).tagged_vids for end in (link.a, link.b)):
            return link
    sys.exit("every link is in a tree, so none can be shut without moving traffic: use another lab.")


def _down_after_s(lab: Lab, link: Link, argv: list[str]) -> float:
    """Seconds from the start of a command until the link's first end is down."""
    end = link.a
    with PortWatch(lab.switch(end.device), [end.port]) as watch:
        begun_ns = time.monotonic_ns()
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as command:
            seen = watch.wait_for(end.port, up=False, timeout_s=_DOWN_WITHIN_S, since_ns=begun_ns)
            _, said = command.communicate()
        if seen is None or command.returncode:
            sys.exit(f"{' '.join(argv)} did not take {link.name} down: {said[-2000:]}")
        return (seen.seen_ns - begun_ns) / 1e9


def _wake(lab: Lab, link: Link) -> None:
    """Put the link up again by SNMP, and wait for it."""
    with PortWatch(lab.switch(link.a.device), [link.a.port]) as watch:
        begun_ns = time.monotonic_ns()
        for end in (link.a, link.b):
            switch = lab.switch(end.device)
            driver = driver_of(switch)
            state = observe_lab(lab).port(end.device, end.port)
            session = open_session(switch)
            try:
                for order in driver.render(
                    switch, [PortChange(end.device, end.port, state, replace(state, admin_up=True))]
                ):
                    session.send(order)
            finally:
                session.close()
        watch.wait_for(link.a.port, up=True, timeout_s=_DOWN_WITHIN_S, since_ns=begun_ns)


def _link_times(lab: Lab, rounds: int, folder: Path) -> tuple[list[float], list[float]]:
    link = _unused(lab, observe_lab(lab))
    _wake(lab, link)
    state = observe_lab(lab)
    changes = tuple(
        PortChange(
            end.device,
            end.port,
            state.port(end.device, end.port),
            replace(state.port(end.device, end.port), admin_up=False),
        )
        for end in (link.a, link.b)
    )
    sides = {
        "ours": _argv("link", "off", str(link.a), "--lab", lab.name, "--yes", "--no-host-check"),
        "theirs": _netmiko(lab, _script(lab, changes), folder),
    }
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for number in range(rounds):
        for side in ("ours", "theirs") if number % 2 == 0 else ("theirs", "ours"):
            times[side].append(_down_after_s(lab, link, sides[side]))
            _wake(lab, link)
        _log(
            f"link off, round {number + 1} of {rounds}: {times['ours'][-1]:.2f} s, netmiko {times['theirs'][-1]:.2f} s"
        )
    return times["ours"], times["theirs"]


def _log(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lab", default="koibuchi", help="a virtual lab (default %(default)s)")
    parser.add_argument("--applies", type=int, default=3, help="rounds of whole applies (default %(default)s)")
    parser.add_argument("--links", type=int, default=10, help="rounds of link off (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    asked = parser.parse_args()
    records = recording.begin(asked)
    lab = load_lab(find_lab(asked.lab))
    eeectl("lab", "up", lab.name)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            os.environ["EEE_CONTROLLER_DIR"] = str(folder)
            applied = _apply_times(lab, asked.applies, folder)
            _timed(_argv("apply", lab.name, "--yes", "--no-host-check", "--policy", "one"))
            shut = _link_times(lab, asked.links, folder)
    finally:
        eeectl("lab", "down", lab.name)
    ratios: list[Ratio] = [
        paired(f"multi-tree apply, {len(lab.hosts)} hosts", "s", *applied),
        paired("link off until down", "s", *shut),
    ]
    p95 = [float(np.percentile(side, 95)) for side in shut]
    _show(ratios, p95, as_json=asked.json)
    records.append({ratio.what: ratio.figure() for ratio in ratios})


def _show(ratios: list[Ratio], p95: list[float], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"ratios": [ratio.as_dict() for ratio in ratios], "link_off_p95_s": p95}))
        return
    print("| | eeectl | netmiko | ratio (95 % interval) |\n| --- | --- | --- | --- |")
    for ratio in ratios:
        print(ratio.row())
    print(f"\nlink off p95: {p95[0]:.2f} s, netmiko {p95[1]:.2f} s")


if __name__ == "__main__":
    main()
