"""A lab that root brought up, for somebody who is not root: one sentence that says so."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.labs.engineer import Engineer
from tests.support.labs.lab_client import EEECTL, Done

NOBODY = 65_534

_DROP = """
mount --make-rprivate /
mount --bind /root "$1/root"
mount -t tmpfs -o mode=755 tmpfs /root
home=$1
shift
while [ "$1" != -- ]; do
    mkdir -p "$1"
    mount --bind "$home/root/${1#/root/}" "$1"
    shift
done
shift
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"""
"""In a mount namespace of its own: root's home shows nothing but the Python and the checkout, if they are in it."""

COMMANDS = ("lab status", "lab check", "lab exec n01 -- id", "lab capture n01", "eee show", "link off 7 --yes")


@pytest.fixture
def nobodys(engineer: Engineer) -> Iterator[Path]:
    """A folder that everybody may read, with the lab's files and a folder of that user's; pytest's are its owner's."""
    folder = Path(tempfile.mkdtemp(prefix="eee-other-users-", dir="/run"))
    folder.chmod(0o755)
    (folder / "root").mkdir()
    (mine := folder / "mine").mkdir()
    os.chown(mine, NOBODY, NOBODY)
    shutil.copytree(engineer.folder, folder / engineer.lab.name)
    yield folder
    shutil.rmtree(folder)


def _as_nobody(folder: Path, *words: str) -> Done:
    argv = [*EEECTL, *words]
    if hidden := [path for path in (sys.base_prefix, str(ROOT)) if Path(path).is_relative_to("/root")]:
        argv = ["unshare", "-m", "sh", "-ec", _DROP, "sh", str(folder), *hidden, "--", *argv]
    else:
        argv = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *argv]
    mine = str(folder / "mine")
    environment = {**os.environ, "HOME": mine, "EEE_CONTROLLER_DIR": mine, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT, env=environment,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_a_lab_of_roots_is_said_to_be_roots(engineer: Engineer, nobodys: Path) -> None:
    folder = str(nobodys / engineer.lab.name)
    for words in COMMANDS:
        head, dashes, command = words.partition(" -- ")
        typed = [*head.split(), "--lab", folder, *(["--", command] if dashes else [])]
        done = _as_nobody(nobodys, *typed)
        assert done.returncode == 1, (typed, done.stdout, done.stderr)
        assert done.stderr == f"eeectl: lab {engineer.lab.name} belongs to root, who brought it up: use sudo.\n", typed
    listed = _as_nobody(nobodys, "lab", "list")
    assert [line.split()[1] for line in listed.stdout.splitlines() if engineer.lab.name in line] == ["root's"]
    ended = _as_nobody(nobodys, "lab", "down", folder)
    assert (ended.returncode, "needs root" in ended.stderr) == (1, True)
