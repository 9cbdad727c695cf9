"""Apply a plan with a person at the terminal: show it, ask, handle Ctrl-C, print the result."""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from types import FrameType
from typing import Any, Final

from eee_testbed.controller.applying.actuation import first_order_ns, timings
from eee_testbed.controller.applying.apply import Aim, Applicable, Result, apply
from eee_testbed.controller.applying.backend import real_backend
from eee_testbed.controller.applying.guardian import guardian, ring
from eee_testbed.controller.applying.journal import read_journal
from eee_testbed.controller.applying.path_probe import PathLoss, path_loss
from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.progress import Bars
from eee_testbed.controller.applying.rounds import Stop
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import Work, at_work
from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.multi_tree import head_of
from eee_testbed.controller.planning.plan_text import print_head, print_steps, step_json
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.site import management_of
from eee_testbed.controller.planning.wishes import MultiTree, Wish
from eee_testbed.controller.transports.ping import INTERVAL_S, Ping
from eee_testbed.eeectl.apply_options import ApplyOptions
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, REFUSED, Unsuccessful
from eee_testbed.eeectl.set_options import pair_in
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.lab.model import Lab
from eee_testbed.record.clock_offsets import Exchange, offset_of

_ENDED_WELL: Final = ("nothing to do", "applied", "to be confirmed")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Ctrl-C, a closed terminal and `kill` ask to stop; the third time, the program ends at once."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._before: dict[int, Any] = {}

    def arm(self) -> None:
        """From now on signals ask to stop; before, Ctrl-C ends the program at once, as nothing was sent."""
        for number in _SIGNALS:
            self._before.setdefault(number, signal.signal(number, self._handle))

    @property
    def armed(self) -> bool:
        """Whether anything may have been sent since."""
        return bool(self._before)

    def disarm(self) -> None:
        """Restore the former signal handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._stop.ask()
        if self._stop.asked(3):
            raise KeyboardInterrupt


@contextmanager
def attended(lab: Lab, command: str, *, guard: bool = False) -> Iterator[tuple[Work, Signals]]:
    """Work on a lab with its lock held and its devices; Ctrl-C asks to stop once the signals are armed."""
    stop = Stop()
    signals = Signals(stop)
    with Bars() as bars:
        backend = real_backend(lab, guard=guardian if guard else None, say=bars.say)
        try:
            with at_work(lab, backend, command, bars, stop) as work:
                try:
                    yield work, signals
                except KeyboardInterrupt as error:
                    raise KeyboardInterrupt(left_words(work.folder, signals)) from error
                finally:
                    ring(work.folder)
        finally:
            signals.disarm()


def left_words(folder: StateFolder, signals: Signals) -> str:
    """What a Ctrl-C leaves that ended a command at once, as its journal has it."""
    record = read_journal(folder.journal, folder.operand)
    if record is not None and not record.finished and not record.waiting:
        return f"{record.described} is unfinished: run `eeectl recover {folder.operand}`."
    if PortProofs(folder.port_proofs).replaced:
        return f"port descriptions are replaced by the marks of a proof: run `eeectl recover {folder.operand}`."
    return "" if signals.armed else "nothing was sent."


def grant(lab: Lab, wish: Wish, command: str, apply_options: ApplyOptions) -> int:
    """As `plan_and_apply`, with the management that the options or the inventory name."""
    return plan_and_apply(lab, wish, command, apply_options, management_of(lab, apply_options.management))


def plan_and_apply(lab: Lab, aim: Aim, command: str, apply_options: ApplyOptions, management: Management | None) -> int:
    """Plan, show, ask and apply; returns the exit status. Unsuccessful if the lab is not as wished in the end."""
    options = apply_options.options(command)
    if apply_options.json and not apply_options.yes:
        raise LabError("--json does not ask: give --yes with it, or check `eeectl plan --json` first.")
    with attended(lab, command, guard=options.confirm_s is not None) as (work, signals):

        def ask(plan: Applicable) -> bool:
            if not apply_options.json:
                if isinstance(aim, MultiTree) and isinstance(plan, ProvedPlan):
                    print_head(lab, head_of(lab, aim, plan))
                print_steps(plan)
            agreed = apply_options.yes or ask_person("apply this?")
            if agreed:
                signals.arm()
            return agreed

        with ExitStack() as stack:
            probe = stack.enter_context(_probed(lab, apply_options.probe)) if apply_options.probe else None
            quiet = _quiet_while_hosts_check(work, probe) if probe else work
            result = apply(quiet, aim, management, ask, options)
            loss = _loss(probe, apply_options.probe, result) if probe and apply_options.probe else None
    _print(result, loss, as_json=apply_options.json)
    if result.ending not in _ENDED_WELL:
        raise Unsuccessful([result.sentence], INTERRUPTED if result.interrupted else REFUSED)
    return DONE


def _probed(lab: Lab, pair: str) -> Ping:
    known = {host.name: host for host in lab.hosts}
    first, second = pair_in(pair, known)
    return Ping(known[first], known[second])


def _quiet_while_hosts_check(work: Work, probe: Ping) -> Work:
    """The same work; the probe has ended when hosts check each other, as they would take its echoes for a flood."""
    check_hosts = work.backend.check_hosts
    if check_hosts is None:
        return work

    def check(lab: Lab, state: State) -> None:
        probe.end()
        check_hosts(lab, state)

    return replace(work, backend=replace(work.backend, check_hosts=check))


def _loss(probe: Ping, pair: str, result: Result) -> PathLoss:
    exchanges = [Exchange(*one) for one in probe.exchanges]
    offset = offset_of(pair, "ssh round trips", exchanges)
    first_ns = first_order_ns(result.record) if result.record else None
    first_there_ns = None if first_ns is None else first_ns + offset.offset_ns
    return path_loss(pair, INTERVAL_S, probe.lines(), first_there_ns, offset.bound_ns)


def ask_person(question: str) -> bool:
    """Ask on the terminal; LabError if standard input is not a terminal."""
    if not sys.stdin.isatty():
        raise LabError("standard input is not a terminal, so eeectl cannot ask: give --yes; nothing was sent.")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print(result: Result, loss: PathLoss | None, *, as_json: bool) -> None:
    """Print how it ended; of what failed the sentence is in the JSON alone, as `main` prints it."""
    if as_json:
        record = result.record
        payload = {
            "ending": result.ending,
            "sentence": result.sentence,
            "cause": str(result.cause) if result.cause else None,
            "deadline": record.deadline.isoformat() if record and record.deadline else None,
            "steps": [step_json(step) for step in record.begun.steps] if record else [],
            "times": timings(record) if record else [],
            "probe": asdict(loss) if loss else None,
        }
        print(json.dumps(payload, indent=1))
        return
    if loss is not None:
        print(f"probe {loss}")
    if result.ending in _ENDED_WELL:
        print_text(result.sentence)
