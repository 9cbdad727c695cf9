"""Keeps what provisioning finds on a node, sets values of kernel and card, and puts back what was found.

Ansible sends it to a node and runs it as root with the node's python3 (3.9 or newer, standard library only)::

    node_record.py [--check] keep SPEC          found state of files, folders that are ours whole (`trees`), accounts,
                                                services; once only
    node_record.py [--check] packages-before    what is installed, before packages are added
    node_record.py [--check] packages-after     what was added since, with the accounts that packages made
    node_record.py [--check] set SPEC           sets values and EEE, after keeping what they were
    node_record.py settle                       how provisioning left each kept file
    node_record.py [--check] put-back [--force] everything as it was found; the record goes

SPEC is JSON. It prints JSON: `changed` (sentences; with --check what would change), `notes`, `problems`. Exit status 1
if there are problems. A file that somebody changed after provisioning is left alone and named, unless --force is given.

Simplification: of files, bytes, mode and owner are kept, not their extended attributes.
"""

from __future__ import annotations

import argparse
import base64
import grp
import hashlib
import json
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, Any]
    Run = Callable[[list[str]], subprocess.CompletedProcess[str]]

FOLDER = "/var/lib/eee-testbed-node"
_SECTIONS = ("files", "trees", "left", "users", "groups", "services", "values", "eee")
_EEE = re.compile(r"EEE status:\s*(.+)")


def run_command(argv: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command of the node; one that is missing exits with 127."""
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return subprocess.CompletedProcess(argv, 127, "", f"{argv[0]} is not installed")


def snapshot(path: Path) -> dict[str, Any] | None:
    """What is at a path: a file with its bytes, a folder, a link; None if there is nothing."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(found.st_mode):
        return {"link": str(path.readlink())}
    plain: dict[str, Any] = {"mode": stat.S_IMODE(found.st_mode), "uid": found.st_uid, "gid": found.st_gid}
    if stat.S_ISDIR(found.st_mode):
        return {"folder": True, **plain}
    return {"bytes": base64.b64encode(path.read_bytes()).decode("ascii"), **plain}


def digest(found: dict[str, Any] | None) -> str:
    """What tells two snapshots apart in a few characters."""
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode("ascii")).hexdigest()[:16]


def eee_of(shown: subprocess.CompletedProcess[str]) -> str | None:
    """The word on or off from what `ethtool --show-eee` printed; None if the card or its driver has no EEE."""
    match = _EEE.search(shown.stdout)
    if shown.returncode or not match or match[1].startswith("not supported"):
        return None
    return "off" if match[1].startswith("disabled") else "on"


class Node:
    """A node whose root folder is `root`, and the record on it."""

    def __init__(self, root: Path = Path("/"), run: Run = run_command, *, check: bool = False) -> None:
        self.root = root
        self.run = run
        self.check = check
        self.changed: list[str] = []
        self.notes: list[str] = []
        self.problems: list[str] = []
        self._file = self.path(FOLDER) / "record.json"
        self.record = self._read()
        self._as_read = json.dumps(self.record)

    def path(self, name: str) -> Path:
        """Where a path of the node is."""
        return self.root / name.lstrip("/")

    def _read(self) -> Record:
        empty: Record = {"format": 1, "packages": [], "displaced": [], **{name: {} for name in _SECTIONS}}
        try:
            return {**empty, **json.loads(self._file.read_text(encoding="utf-8"))}
        except FileNotFoundError:
            return empty

    def write(self) -> None:
        """Write the record if something in it is new."""
        text = json.dumps(self.record, indent=1, sort_keys=True)
        if self.check or json.dumps(self.record) == self._as_read:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.parent.chmod(0o700)
        new = self._file.with_suffix(".new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._file)

    # -- keeping

    def keep(self, spec: Record) -> None:
        """Keep the found state of everything in `spec` that the record does not have yet."""
        finders: dict[str, Callable[[str], Any]] = {
            "files": lambda name: snapshot(self.path(name)),
            "trees": lambda name: self.path(name).exists(),
            "users": self._account,
            "groups": lambda name: name in self._names("group"),
            "services": self._service,
        }
        for section, find in finders.items():
            for name in spec.get(section, []):
                if name not in self.record[section]:
                    self.record[section][name] = find(name)
                    self.changed.append(f"found state of {name} kept")

    def _names(self, database: str) -> set[str]:
        lines = self.path(f"/etc/{database}").read_text(encoding="utf-8").splitlines()
        return {line.partition(":")[0] for line in lines if line}

    def _account(self, name: str) -> dict[str, Any] | None:
        if name not in self._names("passwd"):
            return None
        found = pwd.getpwnam(name)
        return {"shell": found.pw_shell, "groups": sorted(one.gr_name for one in grp.getgrall() if name in one.gr_mem)}

    def _systemd(self) -> bool:
        return self.path("/run/systemd/system").is_dir()

    def _service(self, name: str) -> dict[str, Any] | None:
        if not self._systemd():
            return None
        active = self.run(["systemctl", "is-active", name]).stdout.strip() == "active"
        return {"active": active, "enabled": self.run(["systemctl", "is-enabled", name]).stdout.strip()}

    # -- packages

    def _installed(self) -> list[str]:
        if shutil.which("dpkg-query"):
            shown = self.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n"]).stdout
            return sorted({line.split()[1] for line in shown.splitlines() if line.startswith("ii ")})
        return sorted(set(self.run(["rpm", "-qa", "--qf", "%{NAME}\n"]).stdout.split()))

    def packages_before(self) -> None:
        """Remember what is installed; an earlier `packages-before` without its `packages-after` stands."""
        accounts = {name: sorted(self._names(name)) for name in ("passwd", "group")}
        self.record.setdefault("before", {"packages": self._installed(), **accounts})

    def packages_after(self) -> None:
        """Keep the names of packages and accounts that came since, and of packages that had to go for them."""
        before = self.record.pop("before", None)
        if before is None:
            return
        now, then = set(self._installed()), set(before["packages"])
        new = now - then
        self.record["packages"] = sorted(new | set(self.record["packages"]))
        self.record["displaced"] = sorted((then - now) | set(self.record["displaced"]))
        for section, database in (("users", "passwd"), ("groups", "group")):
            for name in sorted(self._names(database) - set(before[database])):
                self.record[section].setdefault(name, None if section == "users" else False)
        if new:
            self.changed.append(f"{len(new)} new packages kept as ours: {', '.join(sorted(new))}")

    # -- values

    def set(self, spec: Record) -> None:
        """Set values below /proc and /sys (a pattern may name several) and EEE of cards; what is missing is noted."""
        for pattern, wanted in spec.get("values", {}).items():
            names = sorted(self.root.glob(pattern.lstrip("/")))
            if not names:
                self.notes.append(f"{pattern} does not exist here: left out")
            for path in names:
                self._set_value("/" + str(path.relative_to(self.root)), str(wanted))
        for card, wanted in spec.get("eee", {}).items():
            self._set_eee(card, str(wanted))

    def _set_value(self, name: str, wanted: str) -> None:
        path = self.path(name)
        found = path.read_text(encoding="ascii").strip()
        if found.split() == wanted.split():
            return
        try:
            if not self.check:
                path.write_text(wanted + "\n", encoding="ascii")
        except OSError as error:
            self.problems.append(f"{name} cannot be set to {wanted} ({error.strerror}).")
            return
        self.record["values"].setdefault(name, found)
        self.changed.append(f"{name}: {found} -> {wanted}")

    def _set_eee(self, card: str, wanted: str) -> None:
        found = eee_of(self.run(["ethtool", "--show-eee", card]))
        if found is None:
            self.notes.append(f"{card} has no EEE, or its driver cannot set it: left out")
        elif found != wanted:
            done = None if self.check else self.run(["ethtool", "--set-eee", card, "eee", wanted])
            if done is not None and done.returncode:
                self.problems.append(f"EEE of {card} cannot be set to {wanted} ({done.stderr.strip()}).")
                return
            self.record["eee"].setdefault(card, found)
            self.changed.append(f"EEE of {card}: {found} -> {wanted}")

    # -- putting back

    def settle(self) -> None:
        """Keep how provisioning left each kept file, so that later changes by others are told from ours."""
        self.record["left"] = {name: digest(snapshot(self.path(name))) for name in self.record["files"]}

    def put_back(self, *, force: bool) -> None:
        """Put everything back, and forget it; what could not be put back stays in the record."""
        for part in ("services", "values", "eee"):
            for name in sorted(self.record[part]):
                if getattr(self, f"_put_back_{part}")(name, self.record[part][name]):
                    del self.record[part][name]
        plain = {name: found for name, found in self.record["files"].items() if not self._is_folder(name)}
        for name in sorted(plain):
            self._put_back_file(name, plain[name], force=force)
        if self._systemd() and not self.check:
            self.run(["systemctl", "daemon-reload"])
        for name, existed in sorted(self.record["trees"].items()):
            self._remove_tree(name, existed=existed)
        self._purge()
        self._reinstall()
        self._accounts()
        for name in sorted(self.record["files"], reverse=True):
            if name not in plain:
                self._put_back_folder(name, self.record["files"][name])
        kept = [name for name in (*_SECTIONS, "packages", "displaced") if name != "left" and self.record[name]]
        if not kept and not self.check:
            shutil.rmtree(self._file.parent, ignore_errors=True)
            self._as_read = json.dumps(self.record)

    def _is_folder(self, name: str) -> bool:
        found = self.record["files"][name]
        return "folder" in found if found else self.path(name).is_dir() and not self.path(name).is_symlink()

    def _put_back_file(self, name: str, found: Record | None, *, force: bool) -> None:
        path = self.path(name)
        now = snapshot(path)
        if now == found:
            self.record["files"].pop(name)
            return
        if name in self.record["left"] and digest(now) != self.record["left"][name] and not force:
            self.problems.append(f"{name} was changed after provisioning and is left; with force it goes back.")
            return
        self.changed.append(f"{name}: {'as it was found' if found else 'removed'}")
        if self.check:
            return
        if now is not None:
            path.unlink()
        if found:
            self._make(path, found)
        self.record["files"].pop(name)

    @staticmethod
    def _make(path: Path, found: Record) -> None:
        if "link" in found:
            path.symlink_to(found["link"])
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(base64.b64decode(found["bytes"]))
        os.chown(path, found["uid"], found["gid"])
        path.chmod(found["mode"])

    def _put_back_folder(self, name: str, found: Record | None) -> None:
        path = self.path(name)
        now = snapshot(path)
        if now != found and now is not None:
            going = set(self.record["files"]) if self.check else set()
            if found is None and {f"{name}/{one.name}" for one in path.iterdir()} - going:
                if self.check and self.record["packages"]:
                    self.notes.append(f"{name}: removed if nothing is left in it by the packages that go")
                    return
                self.problems.append(f"{name} was made by provisioning, and something else is in it now: it stays.")
                return
            self.changed.append(f"{name}: {'mode and owner as found' if found else 'removed'}")
            if self.check:
                return
            if found is None:
                path.rmdir()
            else:
                os.chown(path, found["uid"], found["gid"])
                path.chmod(found["mode"])
        self.record["files"].pop(name)

    def _remove_tree(self, name: str, *, existed: bool) -> None:
        path = self.path(name)
        if not existed and path.exists():
            self.changed.append(f"{name}: removed with all that is in it")
            if not self.check:
                shutil.rmtree(path)
        if not self.check:
            del self.record["trees"][name]

    def _put_back_services(self, name: str, found: Record | None) -> bool:
        if found is None or self._service(name) == found:
            return True
        self.changed.append(f"service {name}: as it was found")
        if not self.check:
            words = {"enabled": ["enable"], "masked": ["mask"], "static": []}.get(found["enabled"], ["disable"])
            done = [self._did(["systemctl", word, name]) for word in (*words, "start" if found["active"] else "stop")]
            return all(done)
        return True

    def _put_back_values(self, name: str, found: str) -> bool:
        path = self.path(name)
        if not path.exists() or path.read_text(encoding="ascii").split() == found.split():
            return True
        try:
            if not self.check:
                path.write_text(found + "\n", encoding="ascii")
        except OSError as error:
            self.problems.append(f"{name} cannot be set to {found} again ({error.strerror}).")
            return False
        self.changed.append(f"{name}: {found} again")
        return True

    def _put_back_eee(self, card: str, found: str) -> bool:
        now = eee_of(self.run(["ethtool", "--show-eee", card]))
        if now not in (None, found):
            self.changed.append(f"EEE of {card}: {found} again")
            done = None if self.check else self.run(["ethtool", "--set-eee", card, "eee", found])
            if done is not None and done.returncode:
                self.problems.append(f"EEE of {card} cannot be set to {found} again ({done.stderr.strip()}).")
                return False
        return True

    def _purge(self) -> None:
        ours = sorted(set(self.record["packages"]) & set(self._installed()))
        if not ours:
            self.record["packages"] = []
            return
        if shutil.which("dpkg-query"):
            trial = self.run(["apt-get", "-s", "purge", *ours]).stdout
            going = {line.split()[1] for line in trial.splitlines() if line.startswith(("Purg ", "Remv "))}
            needed, remove = sorted(going - set(ours)), ["apt-get", "-y", "-q", "purge", *ours]
        else:
            needed, remove = self.run(["rpm", "-e", "--test", *ours]).stderr.split("\n")[1:2], ["rpm", "-e", *ours]
        if needed:
            self.problems.append(f"Packages stay, as others need them now: {', '.join(needed)}.")
            return
        self.changed.append(f"packages removed: {', '.join(ours)}")
        if self.check:
            return
        done = self.run(remove)
        if done.returncode:
            self.problems.append(f"Packages could not be removed ({done.stderr.strip()[-300:]}).")
        else:
            self.record["packages"] = []

    def _reinstall(self) -> None:
        """Packages that ours had displaced, such as systemd-timesyncd by chrony."""
        gone = sorted(set(self.record["displaced"]) - set(self._installed()))
        if gone and (self.check or not self.record["packages"]):
            self.changed.append(f"packages installed again: {', '.join(gone)}")
            words = ["apt-get", "-y", "-q", "install", "--no-install-recommends"]
            words = words if shutil.which("dpkg-query") else ["dnf", "-y", "install"]
            if self.check or not self._did([*words, *gone]):
                return
        self.record["displaced"] = []

    def _accounts(self) -> None:
        for name, found in sorted(self.record["users"].items()):
            if name in self._names("passwd"):
                self._put_back_user(name, found)
            else:
                del self.record["users"][name]
        for name, found in sorted(self.record["groups"].items()):
            if not found and name in self._names("group"):
                self.changed.append(f"group {name} removed")
                if not self.check and not self._did(["groupdel", name]):
                    continue
            del self.record["groups"][name]

    def _put_back_user(self, name: str, found: Record | None) -> None:
        if found is None:
            self.changed.append(f"user {name} removed with the home folder")
            if self.check or self._did(["userdel", "--remove", name]):
                del self.record["users"][name]
            return
        now = self._account(name)
        if now and now["shell"] != found["shell"]:
            self.changed.append(f"shell of {name}: {found['shell']} again")
            if not self.check and not self._did(["usermod", "--shell", found["shell"], name]):
                return
        if now and sorted(set(now["groups"]) - set(self.record["groups"])) != found["groups"]:
            self.notes.append(f"{name} is a member of other groups than it was found in: left")
        del self.record["users"][name]

    def _did(self, argv: list[str]) -> bool:
        done = self.run(argv)
        if done.returncode:
            self.problems.append(f"`{' '.join(argv)}` failed ({done.stderr.strip()[-300:]}).")
        return not done.returncode


def main() -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description="What provisioning found on this node.")
    parser.add_argument("--check", action="store_true", help="change nothing; say what would change")
    parser.add_argument("--force", action="store_true", help="put back also files that somebody changed since")
    parser.add_argument("verb", choices=("keep", "packages-before", "packages-after", "set", "settle", "put-back"))
    parser.add_argument("spec", nargs="?", default="{}", help="JSON, or @FILE that holds it")
    given = parser.parse_args()
    text = Path(given.spec[1:]).read_text(encoding="utf-8") if given.spec.startswith("@") else given.spec
    node = Node(check=given.check)
    if given.verb in ("keep", "set"):
        getattr(node, given.verb)(json.loads(text))
    elif given.verb == "put-back":
        node.put_back(force=given.force)
    else:
        getattr(node, given.verb.replace("-", "_"))()
    node.write()
    print(json.dumps({"changed": node.changed, "notes": node.notes, "problems": node.problems}))
    return 1 if node.problems else 0


if __name__ == "__main__":
    sys.exit(main())
