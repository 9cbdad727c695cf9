"""What provisioning may change on a host of a live lab: files, packages and settings, to compare before and after."""

import json
import subprocess
from collections.abc import Mapping
from typing import Any, Final

from eee_testbed.controller.transports.hosts import ssh_command
from eee_testbed.lab.model import Host

OFFLINE: Final = """
rm -rf /etc/apt/sources.list.d/* /var/lib/apt/lists/*
echo 'deb [trusted=yes] file:/shared/repository ./' > /etc/apt/sources.list
"""
"""A host of the twin installs from a repository in the lab's shared folder only."""

_STATE: Final = """
import hashlib, json, os, subprocess
kept = {}
for top in ("/etc", "/usr/local", "/usr/sbin", "/home", "/opt", "/usr/lib/systemd"):
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(folder, name)
            found = os.lstat(path)
            text = b""
            if os.path.islink(path):
                text = os.readlink(path).encode()
            elif os.path.isfile(path):
                text = open(path, "rb").read()
            kept[path] = [found.st_mode, found.st_uid, found.st_gid, hashlib.sha256(text).hexdigest()[:12]]
words = ["dpkg-query", "-W", "-f", "${Package} ${Version} ${Status}\\n"]
packages = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
ranges = open("/proc/sys/net/ipv4/ping_group_range").read()
print(json.dumps({"files": kept, "packages": sorted(packages), "ping": ranges}))
"""

_REMAINS: Final = (
    "/etc/.pwd.lock",
    "/etc/passwd-",
    "/etc/group-",
    "/etc/shadow-",
    "/etc/gshadow-",
    "/etc/subuid-",
    "/etc/subgid-",
    "/home/root/.ansible",
    "/home/root/.ansible/tmp",
)
"""Locks and backups of the tools that change accounts, and where Ansible works as root."""


def on(host: Host, command: str) -> str:
    """What a shell command printed on a host."""
    done = subprocess.run(
        ssh_command(host, ["sh", "-c", command]), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def state_of(host: Host) -> dict[str, Any]:
    """Files of the folders that provisioning writes to, packages and ping's groups."""
    found: dict[str, Any] = json.loads(on(host, f"python3 - <<'END'\n{_STATE}\nEND\n"))
    for path in _REMAINS:
        found["files"].pop(path, None)
    return found


def changed_files(found: Mapping[str, Any], now: Mapping[str, Any]) -> set[str]:
    """Paths at which two states differ."""
    return {
        path for path in now["files"].keys() | found["files"].keys()
        if now["files"].get(path) != found["files"].get(path)
    }  # fmt: skip
