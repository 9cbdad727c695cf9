"""Judge mutants one after the other: which test fails for each, if any does."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.mutants.checkout import Checkout
from tests.mutants.running import Ended, Ending, Runner
from tests.mutants.table import Mutant, TableError

Suite = Literal["targeted", "unit"]
"""The tests that a mutant names; and if these let it live, all unit tests of its area."""

Outcome = Literal["killed", "survived", "not judged"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """`by` is the first test that failed, or why the mutant was not judged; `suite` is the one that decided."""

    mutant: Mutant
    outcome: Outcome
    by: str
    seconds: float
    suite: Suite

    @property
    def is_surprise(self) -> bool:
        """Whether a mutant lives of which the table does not say so."""
        return self.outcome == "survived" and not self.mutant.survives


class Judge:
    """Judges in one copy of the checkout. `sound` are runs that passed without any mutant; judges may share it."""

    def __init__(self, checkout: Checkout, runner: Runner, suite: Suite, sound: set[str]) -> None:
        self._checkout = checkout
        self._runner = runner
        self._suite = suite
        self._sound = sound

    def judge(self, mutant: Mutant) -> Judgement:
        """Run a mutant's tests with it, and the one that fails again without it."""
        seconds, suite = 0.0, self._suite
        try:
            with self._checkout.having(mutant):
                suite = "targeted"
                ending = self._run(mutant, mutant.tests)
                seconds += ending.seconds
                if not ending.failed and self._suite == "unit":
                    suite = "unit"
                    ending = self._run(mutant, mutant.unit)
                    seconds += ending.seconds
            if not ending.failed:
                return Judgement(mutant, "survived", "", seconds, suite)
            tests = mutant.tests if suite == "targeted" else mutant.unit
            self._require_sound(mutant, ending.failed, tests)
        except TableError as error:
            return Judgement(mutant, "not judged", str(error), seconds, suite)
        return Judgement(mutant, "killed", ending.failed, seconds, suite)

    def _run(self, mutant: Mutant, tests: str) -> Ending:
        return self._runner.run(self._checkout.folder, tests, rust=mutant.is_rust)

    def _require_sound(self, mutant: Mutant, failed: str, tests: str) -> None:
        """TableError if what failed fails without the mutant, too."""
        again = failed.partition("[")[0] if failed.startswith("tests/") else tests
        if again in self._sound:
            return
        ending = self._run(mutant, again)
        if ending.failed:
            raise TableError(f"{ending.failed} fails without any mutant, too: mend it first.")
        self._sound.add(again)


class _Queue:
    """Mutants to be judged. Rust ones go to one judge only, so that they share one folder of builds."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._lock = threading.Lock()
        self._rust = deque(mutant for mutant in mutants if mutant.is_rust)
        self._python = deque(mutant for mutant in mutants if not mutant.is_rust)

    def take(self, *, first: bool, alone: bool) -> Mutant | None:
        """The next one for the first judge, or another; a judge that is alone begins with those of Python."""
        with self._lock:
            own = (self._rust, self._python) if first else (self._python,)
            for queue in reversed(own) if alone else own:
                if queue:
                    return queue.popleft()
        return None


def judge_all(
    root: Path,
    folder: Path,
    mutants: Sequence[Mutant],
    runner: Runner,
    *,
    suite: Suite,
    jobs: int,
    tell: Callable[[Judgement], None],
) -> list[Judgement]:
    """Judge mutants in copies of the checkout at `root`, which are made in `folder`; `tell` gets each judgement.

    The judgements are in the order of the mutants. Ended if the runner was stopped before all were judged.
    """
    found: dict[str, Judgement] = {}
    failures: list[BaseException] = []
    queue, sound, lock = _Queue(mutants), set[str](), threading.Lock()

    def work(number: int) -> None:
        try:
            judge = Judge(Checkout(root, folder / f"copy{number}"), runner, suite, sound)
            while (mutant := queue.take(first=number == 0, alone=jobs == 1)) is not None:
                judgement = judge.judge(mutant)
                with lock:
                    found[mutant.name] = judgement
                    tell(judgement)
        except Ended:
            return
        except BaseException as error:  # noqa: BLE001 - the thread that waits gets it, whatever it is
            failures.append(error)
            runner.stop()

    threads = [threading.Thread(target=work, args=(number,), name=f"judge {number}") for number in range(jobs)]
    for thread in threads:
        thread.start()
    _wait_for(threads, runner)
    if failures:
        raise failures[0]
    if len(found) < len(mutants):
        raise Ended
    return [found[mutant.name] for mutant in mutants]


def _wait_for(threads: Sequence[threading.Thread], runner: Runner) -> None:
    """Until all have ended, which they do at once after Ctrl-C."""
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        runner.stop()
        for thread in threads:
            thread.join()
        raise
