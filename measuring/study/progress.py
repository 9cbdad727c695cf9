"""How far a study got, in words: for one that was stopped, by its time or by a person."""

from collections.abc import Iterator
from pathlib import Path

from eee_testbed.measuring.study.folder import StudyFolder
from eee_testbed.record.store import read_facts
from eee_testbed.record.trials import read_trials


def far_words(folder: StudyFolder) -> str:
    """Which experiments are measured, how many trials the others have, and which were not begun."""
    runs = folder.all_runs()
    ended = [name for name, is_finished, _ in map(_state, runs) if is_finished]
    begun = [f"{name} has {count}" for name, is_finished, count in map(_state, runs) if not is_finished]
    waiting = [name for name in folder.names if folder.run_of(name) is None]
    return "; ".join(_parts(ended, begun, waiting))


def _state(run: Path) -> tuple[str, bool, str]:
    """The name of a run, whether it is finished, and how many of its trials count."""
    facts = read_facts(run)
    valid = sum(trial.valid for trial in read_trials(run))
    return str(facts["name"]), facts.get("state") == "finished", f"{valid} of {facts.get('slot_count', 0)} trials"


def _parts(ended: list[str], begun: list[str], waiting: list[str]) -> Iterator[str]:
    if ended:
        yield f"measured {', '.join(ended)}"
    yield from begun
    if waiting:
        yield f"not begun {', '.join(waiting)}"
