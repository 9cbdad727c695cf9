"""What a test needs of the machine: the one place where a test is skipped.

What `make setup` installs must be there: without it a test fails, and says so. What only some machines have (root's
rights, a kernel's or a processor's abilities, a package that a release lacks) may be missing: then a test is skipped,
with the reason.
"""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))


def needs(*programs: str | Path) -> None:
    """Fail if a program that `make setup` installs is missing, by its name or its path."""
    missing = [str(one) for one in programs if shutil.which(one, path=_PATH) is None]
    if missing:
        pytest.fail(f"missing: {', '.join(missing)}; run `make setup`, which installs what tests need.", pytrace=False)


def needs_root(what: str) -> None:
    """Skip a test, of which `what` needs root, for any other user."""
    if os.geteuid() != 0:
        lacking(f"{what} needs root")


def needs_lab() -> None:
    """Skip where no virtual lab can be brought up; fail without what runs on its hosts."""
    needs_root("a virtual lab")
    if not Path("/dev/net/tun").exists():
        lacking("a virtual lab needs /dev/net/tun, which this kernel or container does not have")
    needs("sshd", "ip")


def lacking(reason: str) -> NoReturn:
    """Skip a test as this machine lacks something that `make setup` cannot install."""
    pytest.skip(reason)
