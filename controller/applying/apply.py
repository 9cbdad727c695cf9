"""Bring a lab to what somebody wants, step by step, or leave it as it was.

Observe, plan, prove, show, ask; look again whether anybody else was at work meanwhile; then round after round, and the
whole lab once more at the end. Whatever goes wrong, and a Ctrl-C, takes everything back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol

from controller.applying.journal import Begun, Guarded, Journal, JournalState, Reached, read_journal
from controller.applying.lock import Holder
from controller.applying.recover import finish, take_back
from controller.applying.rounds import Sink, Stopped
from controller.applying.statefolder import digest_of
from controller.applying.work import Work
from controller.model.state import State, diff
from controller.planning.check import Management, check
from controller.planning.limits import require_expressible
from controller.planning.plan import Plan
from controller.planning.plan_text import target_of, words_of
from lab.errors import Drift, JournalFailed, LabError


class Intention(Protocol):
    """A proved plan from the state that was observed; how it was chosen is the caller's."""

    @property
    def plan(self) -> Plan:
        """The steps."""

    @property
    def management(self) -> Management | None:
        """In-band management that the plan was proved with."""


Planner = Callable[[State], Intention]
"""From what was observed to what is to be done; PlanError if it cannot be had."""

Ask = Callable[[Intention], bool]
"""Show a plan and ask whether to go on."""


_SHOWN = 10  # of the settings that somebody else changed


@dataclass(frozen=True, slots=True)
class Options:
    """How an apply is to be done. `confirm_s`: taken back unless confirmed within that time of its verification."""

    command: str
    confirm_s: float | None = None
    save: bool = False
    check_hosts: bool = True
    proved: bool = False
    """The planner proves its plans itself: a way out of a state that is unsafe already cannot pass the usual proof."""


@dataclass(frozen=True, slots=True)
class Result:
    """How an apply ended; `sentence` says what the lab is now, `cause` what went wrong."""

    ending: Literal[
        "nothing to do", "declined", "applied", "to be confirmed", "taken back", "left between", "unfinished"
    ]
    sentence: str
    cause: LabError | None = None
    journaled: JournalState | None = None

    @property
    def interrupted(self) -> bool:
        """Whether a person stopped it."""
        return isinstance(self.cause, Stopped)


def apply(work: Work, planner: Planner, ask: Ask, options: Options) -> Result:
    """Plan, ask and carry out; the lab is then wholly after or wholly before, or RollbackFailed is raised."""
    require_rest(work)
    before = work.executor.observe()
    intention = planner(before)
    plan = intention.plan
    require_expressible(work.lab, before, plan.changes, work.backend.abilities)
    if not options.proved:
        check(work.lab, before, plan.changes, intention.management)
    if not plan.steps:
        return Result("nothing to do", "nothing to do: the lab is as it is to be.")
    if not ask(intention):
        return Result("declined", "nothing was sent.")
    _require_untouched(work, before, work.executor.observe())
    return carry_out(work, before, intention, options)


def require_rest(work: Work) -> None:
    """LabError if something that was begun on the lab is neither finished nor taken back."""
    journaled = read_journal(work.folder.journal)
    if journaled is None or journaled.finished:
        return
    begun = f"`{journaled.begun.command}` by {journaled.begun.actor}"
    if journaled.waiting and journaled.deadline is not None:
        raise LabError(f"{begun} waits to be confirmed: `eeectl confirm` or `eeectl rollback` it first.")
    raise LabError(f"{begun} was neither finished nor taken back: run `eeectl recover` first.")


def _require_untouched(work: Work, before: State, now: State) -> None:
    drift = diff(before, now)
    for change in drift[:_SHOWN]:
        work.progress.say(f"changed meanwhile by somebody else: {target_of(change)}: {words_of(change)}")
    if drift:
        raise Drift(drift)


def carry_out(work: Work, before: State, intention: Intention, options: Options) -> Result:
    """Go through a proved plan from `before`, which is what the lab is."""
    with Journal(work.folder.new_journal()) as journal:
        journal.write(
            Begun(
                lab=work.lab.name,
                digest=digest_of(work.lab),
                actor=str(Holder.me(options.command)),
                command=options.command,
                before=before,
                steps=intention.plan.steps,
                management=intention.management,
                confirm_s=options.confirm_s,
                save=options.save,
            )
        )
        work.folder.begin()
        if options.confirm_s is None or work.backend.guard is None:
            return _carry_out(work, journal, options)
        with work.backend.guard(work.lab) as pid:
            journal.write(Guarded(pid=pid))
            return _carry_out(work, journal, options)


def _carry_out(work: Work, journal: Journal, options: Options) -> Result:
    begun = journal.journaled.begun
    try:
        after = work.executor.go(
            begun.before,
            begun.steps,
            Sink(journal.write, journal.note),
            halt=work.stop.asked,
            progress=work.progress,
            between=work.lock.renew,
            watch=work.backend.watch_links,
        )
        left = diff(work.executor.observe(), after)
        if left:
            raise Drift(left)
        check_hosts = work.backend.check_hosts
        if options.check_hosts and check_hosts is not None:
            work.progress.say("the hosts look for each other")
            work.stop.unless_asked(lambda: check_hosts(work.lab, after))
        if work.stop.asked():
            raise Stopped("stopped when everything was done.")
        deadline = None if options.confirm_s is None else datetime.now(UTC) + timedelta(seconds=options.confirm_s)
        journal.write(Reached(deadline=deadline))
    except LabError as error:
        return _give_up(work, journal, error)
    if deadline is not None:
        sentence = (
            f"the lab is as it is to be, until {deadline:%H:%M:%S} UTC: `eeectl confirm {work.lab.name}` before that "
            "keeps it so, else everything is taken back."
        )
        return Result("to be confirmed", sentence, journaled=journal.journaled)
    try:
        finish(work, journal)
    except LabError as error:
        sentence = f"the lab is as it is to be, but that is not all: `eeectl recover {work.lab.name}` does the rest."
        return Result("unfinished", sentence, error, journal.journaled)
    return Result("applied", "the lab is as it is to be; read back and verified.", journaled=journal.journaled)


def _give_up(work: Work, journal: Journal, cause: LabError) -> Result:
    work.progress.say(str(cause))
    try:
        take_back(work, journal, str(cause), stops=2)
    except Stopped as stopped:
        sentence = f"the lab is between two states, safe but unfinished: run `eeectl recover {work.lab.name}`."
        return Result("left between", sentence, stopped, journal.journaled)
    sentence = "everything was taken back: the lab is as it was before."
    if isinstance(cause, JournalFailed) or journal.failure is not None:
        sentence += f" The journal does not say so: make room, then `eeectl recover {work.lab.name}` closes it."
    return Result("taken back", sentence, cause, journal.journaled)
