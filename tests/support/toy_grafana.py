"""A signed package repository like that of Grafana's vendor; its package has only what provisioning relies on."""

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Final

from tests.support.needs import needs

_CONTROL: Final = """\
Package: grafana
Version: 12.0.0
Architecture: all
Maintainer: Nobody <nobody@example.org>
Description: what provisioning relies on
"""
_INSTALLED: Final = "#!/bin/sh\nmkdir -p /var/lib/grafana\n"
_UNIT: Final = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
_RELEASE: Final = """\
Suite: stable
Codename: stable
Architectures: all amd64 arm64
Components: main
Date: Thu, 01 Jan 2026 00:00:00 UTC
SHA256:
"""


def make_grafana(folder: Path, work: Path) -> None:
    """Write the repository, with its key in gpg.key. It is signed by gpg."""
    needs("gpg")
    package = work / "package"
    (package / "DEBIAN").mkdir(parents=True)
    (package / "DEBIAN" / "control").write_text(_CONTROL)
    (package / "DEBIAN" / "postinst").write_text(_INSTALLED)
    (package / "DEBIAN" / "postinst").chmod(0o755)
    (package / "lib" / "systemd" / "system").mkdir(parents=True)
    (package / "lib" / "systemd" / "system" / "grafana-server.service").write_text(_UNIT)
    folder.mkdir()
    _run("dpkg-deb", "--root-owner-group", "-b", str(package), str(folder / "grafana.deb"))
    data = (folder / "grafana.deb").read_bytes()
    entry = (
        f"{_CONTROL}Filename: grafana.deb\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
    ).encode()
    stable = folder / "dists" / "stable"
    release = _RELEASE
    for machine in ("amd64", "arm64"):
        part = f"main/binary-{machine}"
        (stable / part).mkdir(parents=True)
        (stable / part / "Packages").write_bytes(entry)
        release += f" {hashlib.sha256(entry).hexdigest()} {len(entry)} {part}/Packages\n"
    (stable / "Release").write_text(release)
    keys = {"GNUPGHOME": str(work / "keys")}
    (work / "keys").mkdir(mode=0o700)
    _run("gpg", "--batch", "--passphrase", "", "--quick-gen-key", "toy", "ed25519", "sign", "never", **keys)
    _run("gpg", "--batch", "--armor", "--output", str(folder / "gpg.key"), "--export", **keys)
    words = ("--clearsign", "--output", str(stable / "InRelease"), str(stable / "Release"))
    _run("gpg", "--batch", *words, **keys)
    _run("gpgconf", "--kill", "all", **keys)  # its agent


def _run(*argv: str, **environment: str) -> None:
    done = subprocess.run(
        argv, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
