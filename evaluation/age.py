"""How old a measurement is: how many commits have since changed the code that it is about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from eee_testbed.record.checkout import git
from evaluation.records import Record

MOST_COMMITS: Final = 30
"""So many may change the code of a claim before its page says that it has aged."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, its parents, and the paths that it changed: before and after, which differ where a file was moved."""

    name: str
    parents: tuple[str, ...]
    changes: tuple[tuple[str, str], ...]


class History:
    """All commits that a checkout's code comes from, newest first."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self._commits = tuple(commits)
        self._parents: Mapping[str, tuple[str, ...]] = {commit.name: commit.parents for commit in commits}

    @classmethod
    def read(cls, checkout: Path) -> Self | None:
        """The history of a clone; None for a shallow one, and for a folder that is none."""
        if git(checkout, "rev-parse", "--is-shallow-repository")[0].strip() != "false":
            return None
        log, _ = git(checkout, "log", "--topo-order", "-M", "--name-status", "-z", "--format=%x01%H %P")
        return cls(parsed(log))

    def whole_name(self, commit: str) -> str | None:
        """The name of the commit that an abbreviation stands for; None if the history has no or several such."""
        names = [name for name in self._parents if name.startswith(commit)]
        return names[0] if len(names) == 1 else None

    def commits_since(self, commit: str, paths: Iterable[str]) -> int:
        """How many commits after one changed files of these paths, also under the names that they had before.

        Raises ValueError for a commit that is not in the history.
        """
        begin = self.whole_name(commit)
        if begin is None:
            raise ValueError(f"{commit} is no commit of this history: name one of `git log`.")
        seen = self._ancestors(begin)
        folders = tuple(f"{path}/" for path in paths)
        files = {path.removesuffix("/") for path in folders}
        count = 0
        for one in self._commits:
            if one.name in seen:
                continue
            touched = [before for before, after in one.changes if after in files or after.startswith(folders)]
            files.update(touched)
            count += bool(touched)
        return count

    def _ancestors(self, name: str) -> set[str]:
        seen, waiting = {name}, [name]
        while waiting:
            fresh = set(self._parents.get(waiting.pop(), ())) - seen
            seen |= fresh
            waiting += fresh
        return seen


def has_aged(record: Record, history: History) -> bool:
    """Whether too much of the code has changed since the measurement that is shown; ValueError as `commits_since`."""
    return record.shown is not None and history.commits_since(record.shown.commit, record.about) > MOST_COMMITS


def parsed(log: str) -> list[Commit]:
    """Commits of `git log -z --name-status --format=%x01%H %P`."""
    commits = []
    for text in log.split("\x01")[1:]:
        head, *fields = text.replace("\n", "").split("\0")
        name, *parents = head.split()
        words = iter(field for field in fields if field)
        changes = []
        for status in words:
            before = next(words)
            changes.append((before, next(words) if status[0] == "R" else before))
        commits.append(Commit(name, tuple(parents), tuple(changes)))
    return commits
