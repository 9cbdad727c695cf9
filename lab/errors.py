"""Errors that every package knows; docs/reference/errors.md draws the whole tree.

Every error's text is one sentence: what is wrong, where, and what to do. A leaf carries its data as attributes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from eee_testbed.lab.plain_text import one_line


class LabError(Exception):
    """Anything the user can understand and act upon; its text is one clear sentence."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in an inventory's or an experiment's file; `line` is 1-based, 0 where a whole file is meant."""

    file: str
    line: int
    key: str
    sentence: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        key = f" {self.key}:" if self.key else ""
        return one_line(f"{where}:{key} {self.sentence}; {self.remedy}")


class InventoryError(LabError):
    """The inventory cannot be used; `problems` holds every mistake found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ExperimentError(LabError):
    """The experiment cannot be run as it is written; `problems` holds every mistake found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class PlanError(LabError):
    """What was asked for cannot be reached safely."""


class NoTree(PlanError):
    """No tree from switch `root` over the links allowed joins all hosts; `unreached` names switches left out."""

    def __init__(self, root: str, unreached: Sequence[str]) -> None:
        self.root = root
        self.unreached = tuple(unreached)
        super().__init__(f"no tree from {root} reaches {', '.join(unreached)}: allow or open more links.")


class UnsafePlan(PlanError):
    """A prefix of the plan closes a loop or cuts a path; `path` shows it, `step` is 1-based, 0 for the state found."""

    def __init__(self, step: int, harm: str, path: Sequence[str]) -> None:
        self.step = step
        self.harm = harm
        self.path = tuple(path)
        where = f"{harm}: {' - '.join(path)}; nothing was sent"
        super().__init__(
            f"step {step} would {where}."
            if step
            else f"the settings found (step 0) may {where}: run `eeectl recover` if a switch restarted, else mend this "
            "by hand first."
        )

    @property
    def locks_out(self) -> bool:
        """Whether a switch may lose its last path of management."""
        return "management" in self.harm


class UnsafeRollback(PlanError):
    """Every known order of rollback steps makes the lab worse; `cause` is what the first order would do."""

    def __init__(self, cause: UnsafePlan) -> None:
        self.cause = cause
        super().__init__(
            f"no safe rollback is known: it would {cause.harm} ({' - '.join(cause.path)}), so nothing was sent: set "
            "up the switches named there from their consoles and try again, or accept the lab as it is with "
            "`eeectl adopt`."
        )


class LockOut(PlanError):
    """No order of steps is known in which a switch that answers surely keeps its path of management."""

    def __init__(self, switch: str, entry: str, vid: int) -> None:
        self.switch = switch
        self.entry = entry
        self.vid = vid
        super().__init__(
            f"no safe rollback is known: it might cut {switch} off from its management, which comes from {entry} in "
            f"VLAN {vid}, so nothing was sent: at their consoles, turn spanning tree off at the switches that lost "
            f"their settings, or set {switch} up, then try again."
        )


class NotExpressible(PlanError):
    """The switch family lacks a feature that the plan needs."""

    def __init__(self, switch: str, family: str, feature: str) -> None:
        self.switch = switch
        self.family = family
        self.feature = feature
        super().__init__(f"{switch} is a {family}, which does not support {feature}: choose another plan or family.")


class TableFull(NotExpressible):
    """A switch's table is too small for what the plan needs at once."""


class DeviceError(LabError):
    """Something between us and one device; `device` is its name in the inventory."""

    def __init__(self, device: str, sentence: str) -> None:
        self.device = device
        super().__init__(one_line(f"{device}: {sentence}"))


class Unreachable(DeviceError):
    """Nothing answers at the device's address."""


class AccessDenied(Unreachable):
    """The device answers, but accepts neither password nor key (or the reference to them is wrong)."""


class HostKeyChanged(Unreachable):
    """The device's SSH host key is unknown, or another than the one that is trusted."""


class Rejected(DeviceError):
    """The device refused a command; `output` is what it said."""

    def __init__(self, device: str, command: str, output: str) -> None:
        self.command = command
        self.output = output
        super().__init__(device, f"refused '{command}' with: {output.strip()}")


class Unreadable(DeviceError):
    """The device's answer does not parse; `output` is what it said."""

    def __init__(self, device: str, command: str, output: str) -> None:
        self.command = command
        self.output = output
        super().__init__(device, f"cannot read the answer to '{command}': {output.strip()[:200]}")


class PortMismatch(Unreadable):
    """A port of the inventory cannot be matched with an interface of the device for certain."""

    def __init__(self, device: str, command: str, sentence: str) -> None:
        self.command = command
        self.output = sentence
        DeviceError.__init__(self, device, f"{sentence} ({command}).")


class Ignored(DeviceError):
    """The device accepted a change without complaint, but its state differs."""

    def __init__(self, device: str, wanted: str, found: str) -> None:
        self.wanted = wanted
        self.found = found
        super().__init__(device, f"accepted a change and ignored it: wanted {wanted}, found {found}.")


class Drift(LabError):
    """The lab was read back and differs from what is desired; `changes` would mend it."""

    def __init__(self, changes: Sequence[object]) -> None:
        self.changes = tuple(changes)
        count = len(self.changes)
        super().__init__(f"{count} setting{'s differ' if count != 1 else ' differs'} from what is desired.")


class JournalFailed(LabError):
    """The journal could not be written; nothing is sent that it does not announce."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"the journal {path} could not be written ({reason}): make room there, then try again.")


class RunFolderFailed(LabError):
    """A run's folder cannot be written, and no more can be held in memory."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"the run's folder {path} could not be written ({reason}): make room there, then resume it.")


class UnreadableFile(LabError):
    """A file cannot be used; `line` is 1-based, 0 where the whole file is meant."""

    def __init__(self, path: str, line: int, sentence: str, remedy: str) -> None:
        self.path = path
        self.line = line
        self.sentence = one_line(sentence)
        self.remedy = one_line(remedy)
        where = f"{path}:{line}" if line else path
        super().__init__(one_line(f"{where} {sentence}: {remedy}."))


class RollbackFailed(LabError):
    """The rollback failed; only status, recover and adopt work until a person decides."""


class NeverMatched(LabError):
    """Trial after trial printed nothing like an expression of the user's; a resumed run would expect the same."""


class TwinLate(LabError):
    """The twin fell behind the wall clock; what was measured meanwhile is invalid."""

    def __init__(self, late_us: float) -> None:
        self.late_us = late_us
        super().__init__(
            f"the twin was {late_us:.0f} us late: use fewer ranks than cores or a slower program, and let nothing else "
            "keep this machine busy."
        )
