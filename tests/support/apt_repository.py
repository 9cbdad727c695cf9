"""A small package repository in a folder: what this machine's own mirror would send for some packages."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.support.needs import lacking

_LINE = re.compile(r"^(Inst|Remv) (\S+)", re.MULTILINE)


def _apt(*words: str, cwd: Path) -> str:
    done = subprocess.run(["apt-get", *words], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        lacking(f"no packages can be downloaded here: {done.stderr.strip()[-300:]}")
    return done.stdout


def _dpkg(*words: str) -> str:
    return subprocess.run(["dpkg-query", *words], capture_output=True, text=True, check=True).stdout


def _pack_installed(name: str, folder: Path) -> None:
    """The package as it is installed here, whatever version the mirror has by now."""
    root = folder / name
    places = [Path(line) for line in _dpkg("-L", name).splitlines()]
    holders = {place.parent for place in places}  # /lib may be a link here, and is a folder in the package
    for place in places:
        copy = root / place.relative_to("/")
        if place in holders or (place.is_dir() and not place.is_symlink()):
            copy.mkdir(parents=True, exist_ok=True)
        elif os.path.lexists(place):
            shutil.copy2(place, copy, follow_symlinks=False)
    (root / "DEBIAN").mkdir()
    for script in map(Path, _dpkg("--control-path", name).splitlines()):
        shutil.copy2(script, root / "DEBIAN" / script.suffix.removeprefix("."))
    status = _dpkg("-s", name)
    control = re.sub(r"^(Status|Conffiles):.*\n(?: .*\n)*", "", status, flags=re.MULTILINE)
    (root / "DEBIAN" / "control").write_text(control, encoding="utf-8")
    kept = re.findall(r"^ (/\S+) [0-9a-f]{32}$", status, flags=re.MULTILINE)
    (root / "DEBIAN" / "conffiles").write_text("".join(f"{path}\n" for path in kept), encoding="utf-8")
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", root, folder], capture_output=True, check=True)
    shutil.rmtree(root)


def make_repository(folder: Path, names: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Fill the folder with these packages, what they need, and what they displace: (new, displaced).

    What they displace has the version that is installed, as the packages beside it need. Skips the test where apt-get
    cannot download the others.
    """
    folder.mkdir()
    going = _LINE.findall(_apt("install", "-s", "--no-install-recommends", *names, cwd=folder))
    new, displaced = ({name for what, name in going if what == kind} for kind in ("Inst", "Remv"))
    if new:
        _apt("-q", "-o", "APT::Sandbox::User=root", "download", *sorted(new), cwd=folder)
    for name in displaced:
        _pack_installed(name, folder)
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
