"""Apply a plan to a lab step by step, or leave the lab as it was.

Observe, plan, show, ask; if that took a while, observe again, in case somebody else changed a setting meanwhile; then
send round after round, and read back the whole lab at the end. Whatever fails, and a Ctrl-C, rolls everything back.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from eee_testbed.controller.applying.history import next_number
from eee_testbed.controller.applying.holder import Holder
from eee_testbed.controller.applying.journal import Begun, Guarded, Journal, JournalState, Reached, read_journal
from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.put_back import as_it_was, differs, put_back
from eee_testbed.controller.applying.recover import finish, roll_back
from eee_testbed.controller.applying.rounds import Sink, Stopped
from eee_testbed.controller.applying.statefolder import digest_of
from eee_testbed.controller.applying.work import Work
from eee_testbed.controller.model.state import State, diff
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.plan_text import target_of, words_of
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.proof import ProvedPlan, ProvedRollback, require_start
from eee_testbed.controller.planning.rollback import Return, restore_plan
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.wishes import Wish
from eee_testbed.lab.errors import Drift, JournalFailed, LabError

Applicable = ProvedPlan | ProvedRollback
"""What may be applied: a plan that was proved from the state of the lab."""

Aim = Wish | Return
"""Where a lab is brought: to what somebody wishes, or back to a state that it had."""

Ask = Callable[[Applicable], bool]
"""Show a plan and ask whether to apply it."""


_SHOWN_SETTINGS = 10  # of the settings that somebody else changed


@dataclass(frozen=True, slots=True)
class Options:
    """How to apply a plan. `confirm_s`: roll back unless confirmed within that time after the verification.

    `run` is the folder of the run that asks for it, if one does. `attended`: a person is asked, who may take their time
    or be quick: the state is read once more after the answer, however fresh it is. `expected`: the settings that the
    lab should have before the change, if anybody knows them.
    """

    command: str
    confirm_s: float | None = None
    save: bool = False
    check_hosts: bool = True
    run: str = ""
    attended: bool = False
    expected: State | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """How an apply ended; `sentence` says what state the lab is in, `cause` what failed."""

    ending: Literal[
        "nothing to do", "declined", "applied", "to be confirmed", "taken back", "left between", "unfinished"
    ]
    sentence: str
    cause: LabError | None = None
    record: JournalState | None = None
    stays: tuple[str, ...] = ()
    """Of a rollback: lines that stay in configurations."""

    @property
    def interrupted(self) -> bool:
        """Whether a person stopped it."""
        return isinstance(self.cause, Stopped)


def apply(work: Work, aim: Aim, management: Management | None, ask: Ask, options: Options) -> Result:
    """Plan, ask and execute; the lab is then fully applied or fully rolled back, or RollbackFailed is raised.

    PlanError if no safe plan is found, Drift if the lab has other settings than expected: then nothing was sent.
    """
    require_rest(work)
    before = work.executor.observe()
    found_s = time.monotonic()
    if options.expected is not None and (drift := diff(options.expected, before)):
        raise Drift(drift)
    site = Site(work.lab, management, work.backend.abilities)
    plan = restore_plan(site, before, aim) if isinstance(aim, Return) else plan_for(site, before, aim)
    require_start(plan, before, work.backend.abilities)
    if not plan.steps and not (isinstance(plan, ProvedRollback) and differs(before, plan.end)):
        return Result("nothing to do", "nothing to do: the lab already has these settings.")
    if not ask(plan):
        return Result("declined", "nothing was sent.")
    _prove_ports(work, {step.change.switch for step in plan.steps})
    if options.attended or time.monotonic() - found_s > work.backend.fresh_s:
        _require_unchanged(work, plan.start, work.executor.observe())
    return _begin(work, aim, plan, options)


def _prove_ports(work: Work, names: set[str]) -> None:
    """Before the first write to a switch: its services mean the same ports."""
    prove = work.backend.prove_ports
    if prove is None:
        return
    work.folder.make()
    proofs = PortProofs(work.folder.port_proofs, say=work.progress.say)
    work.executor.at_each(sorted(names), lambda switch, session: prove(switch, session, proofs))


def require_rest(work: Work) -> None:
    """LabError if an earlier apply to the lab is neither finished nor rolled back."""
    record = read_journal(work.folder.journal, work.folder.operand)
    if record is None or record.finished:
        return
    begun, lab = f"`{record.begun.command}` by {record.begun.actor}", work.folder.operand
    if record.waiting and record.deadline is not None:
        raise LabError(f"{begun} waits to be confirmed: run `eeectl confirm {lab}` or `eeectl rollback {lab}` first.")
    raise LabError(f"{begun} was neither finished nor rolled back: run `eeectl recover {lab}` first.")


def _require_unchanged(work: Work, planned_from: State, now: State) -> None:
    drift = diff(planned_from, now)
    for change in drift[:_SHOWN_SETTINGS]:
        work.progress.say(f"changed by somebody else since planning: {target_of(change)}: {words_of(change)}")
    if drift:
        raise Drift(drift)


def _begin(work: Work, aim: Aim, plan: Applicable, options: Options) -> Result:
    number = next_number(work.folder)
    with Journal(work.folder.new_journal(), sync=work.backend.sync) as journal:
        journal.write(
            Begun(
                number=number,
                run=options.run,
                lab=work.lab.name,
                digest=digest_of(work.lab),
                actor=str(Holder.me(options.command)),
                command=options.command,
                before=plan.start,
                steps=plan.steps,
                management=plan.management,
                confirm_s=options.confirm_s,
                save=options.save,
                wish=None if isinstance(aim, Return) else aim,
            )
        )
        work.folder.begin(number, of_run=bool(options.run))
        if options.confirm_s is None or work.backend.guard is None:
            return _execute(work, journal, options, plan)
        with work.backend.guard(work.lab) as pid:
            journal.write(Guarded(pid=pid))
            return _execute(work, journal, options, plan)


def _execute(work: Work, journal: Journal, options: Options, plan: Applicable) -> Result:
    begun = journal.record.begun
    stay: tuple[str, ...] = ()
    try:
        after = work.executor.execute(
            begun.before,
            begun.steps,
            Sink(journal.write, journal.note),
            halt=work.stop.asked,
            progress=work.progress,
            between=work.lock.renew,
            watch=work.backend.watch_links,
        )
        if isinstance(plan, ProvedRollback):
            stay = put_back(work, plan.end, journal.write, work.stop.asked)
        elif left := diff(work.executor.observe(), after):
            raise Drift(left)
        check_hosts = work.backend.check_hosts
        if options.check_hosts and check_hosts is not None:
            work.progress.say("checking that all hosts reach each other")
            work.stop.unless_asked(lambda: check_hosts(work.lab, after))
        if work.stop.asked():
            raise Stopped("stopped after the last step.")
        deadline = None if options.confirm_s is None else datetime.now(UTC) + timedelta(seconds=options.confirm_s)
        journal.write(Reached(deadline=deadline))
    except LabError as error:
        return _give_up(work, journal, error)
    if deadline is not None:
        sentence = (
            f"applied and verified, until {deadline:%H:%M:%S} UTC: run `eeectl confirm {work.folder.operand}` before "
            "that to keep it, or everything is rolled back."
        )
        return Result("to be confirmed", sentence, record=journal.record)
    try:
        finish(work, journal)
    except LabError as error:
        sentence = f"applied and verified, but not finished: run `eeectl recover {work.folder.operand}` to finish it."
        return Result("unfinished", sentence, error, journal.record)
    sentence = "applied; every setting was read back and verified."
    if stay:
        sentence = f"applied and verified: {as_it_was(stay, 'to be')}."
    return Result("applied", sentence, record=journal.record, stays=stay)


def _give_up(work: Work, journal: Journal, cause: LabError) -> Result:
    work.progress.say(str(cause))
    try:
        stay = roll_back(work, journal, str(cause), stops=2)
    except Stopped as stopped:
        sentence = f"the lab is between two states, safe but unfinished: run `eeectl recover {work.folder.operand}`."
        return Result("left between", sentence, stopped, journal.record)
    sentence = f"everything was rolled back: {as_it_was(stay, 'before')}."
    if isinstance(cause, JournalFailed) or journal.failure is not None:
        sentence += f" The journal does not say so: free disk space, then run `eeectl recover {work.folder.operand}`."
    return Result("taken back", sentence, cause, journal.record)
