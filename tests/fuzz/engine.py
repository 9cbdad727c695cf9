"""Runs one case and judges it: a reader returns, or raises an error of the product's own tree, in bounded time."""

import contextlib
import io
import os
import random
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.plain_text import is_safe
from eee_testbed.lab.untrusted_files import DamagedPart
from tests.fuzz.mutations import Tree, damaged

SLOW_S: Final = 60.0
"""Of processor time: what takes longer hangs."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader, and files that it reads in order. `files` may be damaged; `read` gets the folder."""

    name: str
    tree: Callable[[], Tree]
    read: Callable[[Path], None]
    files: Callable[[str], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed, and how."""

    case: str
    trace: str


class Hangs(BaseException):
    """The case took too long. No Exception, so that nothing but the engine catches it."""


class Unsafe(AssertionError):
    """Text left the border that is not safe to show."""


def case_name(target: Target, seed: int, number: int) -> str:
    """What repeats a case."""
    return f"{target.name}:{seed}:{number}"


def run_case(target: Target, seed: int, number: int) -> Failure | None:
    """One damaged folder, read; None if the reader did as it should."""
    rng = random.Random(case_name(target, seed, number))  # noqa: S311 - damage is to be the same each time
    tree = target.tree()
    names = tuple(sorted(name for name in tree if target.files(name)))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place, contextlib.chdir(place):
        folder = Path(place)
        for name, data in (damaged(tree, rng, names) if number else tree).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try:
            with _limited(), _caught_warnings():
                target.read(folder)
        except LabError as error:
            if not all(is_safe(line) for line in str(error).split("\n")):
                return Failure(case_name(target, seed, number), f"unsafe text in an error: {str(error)!r}")
        except (Exception, Hangs):  # noqa: BLE001 - any other error is what is looked for
            return Failure(case_name(target, seed, number), traceback.format_exc(limit=-8))
    return None


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Hangs is raised inside after SLOW_S of processor time."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextlib.contextmanager
def _caught_warnings() -> Iterator[None]:
    """Warnings of lost parts must be safe text; arithmetic of numbers in range raises no other."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DamagedPart)
        yield
    for one in caught:
        if not is_safe(str(one.message)):
            raise Unsafe(repr(str(one.message)))


def command(execute: Callable[[list[str]], int], tokens: list[str]) -> str:
    """What a command prints; Unsafe if a line of it is not safe, AssertionError if it ends in "unexpected"."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        execute(tokens)
    if "unexpected " in err.getvalue():
        raise AssertionError(err.getvalue()[-1500:])
    for line in (out.getvalue() + err.getvalue()).split("\n"):
        if not is_safe(line):
            raise Unsafe(repr(line))
    return out.getvalue()


def quiet_native_errors() -> None:
    """Polars prints a panic of its own on the descriptor of standard error, although it becomes an exception."""
    os.environ["RUST_BACKTRACE"] = "0"
