"""A small package repository in a folder: what this machine's own mirror would send for some packages."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

_LINE = re.compile(r"^(Inst|Remv) (\S+)", re.MULTILINE)


def _apt(*words: str, cwd: Path) -> str:
    done = subprocess.run(["apt-get", *words], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"packages cannot be had here: {done.stderr.strip()[-300:]}")
    return done.stdout


def make_repository(folder: Path, names: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Fill the folder with these packages, what they need, and what they displace: (new, displaced).

    Skips the test where apt-get cannot download them.
    """
    folder.mkdir()
    going = _LINE.findall(_apt("install", "-s", "--no-install-recommends", *names, cwd=folder))
    new, displaced = ({name for what, name in going if what == kind} for kind in ("Inst", "Remv"))
    if going:
        _apt("-q", "-o", "APT::Sandbox::User=root", "download", *sorted(new | displaced), cwd=folder)
    entries = []
    for package in sorted(folder.glob("*.deb")):
        control = subprocess.run(["dpkg-deb", "-f", package], capture_output=True, text=True, check=True).stdout
        data = package.read_bytes()
        entries.append(
            f"{control.strip()}\nFilename: ./{package.name}\nSize: {len(data)}\n"
            f"SHA256: {hashlib.sha256(data).hexdigest()}\n"
        )
    (folder / "Packages").write_text("\n".join(entries), encoding="utf-8")
    return new, displaced
