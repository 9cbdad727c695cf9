"""Names a strip's outlets after what they feed, over SNMP with net-snmp's tools; keeps the names that it found.

``outlet_names.py [--check|--do] set|put-back`` reads JSON from standard input: `strip`, `address` (HOST:PORT),
`community_file` or `community_env` or `snmp_v3` as the inventory has them, `object` with {n} for the outlet's number,
`outlets` (outlets.csv), `record` (the file that keeps the found names), `first_contact`. It prints JSON: `changed`,
`problem`.
The community stands in a file that is read by this user only, and in no command line.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_AUTH = {"md5": "MD5", "sha": "SHA", "sha224": "SHA-224", "sha256": "SHA-256", "sha384": "SHA-384", "sha512": "SHA-512"}
_PRIVACY = {"des": "DES", "aes": "AES", "aes192": "AES-192", "aes256": "AES-256"}


class NamingError(Exception):
    """A sentence for the user."""


def secret(plain: Mapping[str, Any], key: str, what: str) -> str:
    """A secret by its file or its environment variable; empty if the inventory names neither."""
    file, variable = plain.get(f"{key}_file", ""), plain.get(f"{key}_env", "")
    if file:
        try:
            return Path(file).expanduser().read_text(encoding="utf-8").strip()
        except OSError as error:
            raise NamingError(f"{what} cannot be read from {file} ({error.strerror}): write it there.") from error
    if variable and variable not in os.environ:
        raise NamingError(f"{what} is not in the environment: set {variable}.")
    return os.environ.get(variable, "") if variable else ""


def settings(question: Mapping[str, Any]) -> str:
    """An snmp.conf with the access of the inventory."""
    v3 = question["snmp_v3"]
    if not v3:
        community = secret(question, "community", f"{question['strip']}: its community")
        return f'defVersion 2c\ndefCommunity "{community}"\n'
    auth, privacy = secret(v3, "auth_key", "its authentication key"), secret(v3, "privacy_key", "its privacy key")
    level = "authPriv" if auth and privacy else "authNoPriv" if auth else "noAuthNoPriv"
    lines = ["defVersion 3", f'defSecurityName "{v3["user"]}"', f"defSecurityLevel {level}"]
    if auth:
        lines += [f"defAuthType {_AUTH[v3.get('auth_protocol', 'sha')]}", f'defAuthPassphrase "{auth}"']
    if privacy:
        lines += [f"defPrivType {_PRIVACY[v3.get('privacy_protocol', 'aes')]}", f'defPrivPassphrase "{privacy}"']
    return "\n".join(lines) + "\n"


class Strip:
    """A strip on the network, asked with net-snmp."""

    def __init__(self, question: Mapping[str, Any], folder: str) -> None:
        self._question = question
        self._environment = {**os.environ, "SNMPCONFPATH": folder, "SNMP_PERSISTENT_DIR": folder, "MIBS": ""}

    def _run(self, tool: str, *words: str) -> str:
        argv = [tool, "-Oqv", "-OU", "-r", "2", "-t", "2", f"udp:{self._question['address']}", *words]
        try:
            done = subprocess.run(argv, env=self._environment, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise NamingError(f"{tool} is not installed here: install net-snmp's tools (Debian: snmp).") from error
        if done.returncode:
            said = " ".join(done.stderr.split())
            way = f"give it its SNMP access at {self._question['first_contact']}" if "Timeout" in said else "check it"
            raise NamingError(f"{self._question['strip']} ({self._question['address']}): {said[:200]}: {way}.")
        return done.stdout.strip()

    def _object(self, outlet: int) -> str:
        return str(self._question["object"]).format(n=outlet)

    def name(self, outlet: int) -> str:
        """What the strip calls the outlet."""
        said = self._run("snmpget", self._object(outlet))
        if said.startswith("No Such"):
            raise NamingError(f"{self._question['strip']}: outlet {outlet} has no name under {self._object(outlet)}.")
        return said.strip('"')

    def rename(self, outlet: int, name: str) -> None:
        """Name it, and read the name back."""
        self._run("snmpset", self._object(outlet), "s", name)
        if (shown := self.name(outlet)) != name:
            raise NamingError(
                f"{self._question['strip']}: outlet {outlet} is called {shown} after it was named {name}."
            )


def wanted_names(question: Mapping[str, Any]) -> dict[int, str]:
    """What outlets.csv says that the strip's outlets feed."""
    with Path(question["outlets"]).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["strip"] == question["strip"]]
    return {int(row["outlet"]): row["feeds"] for row in rows}


def work(question: Mapping[str, Any], verb: str, *, check: bool) -> list[str]:
    """Set or put back; the sentences say what was (with `check`: would be) changed."""
    record = Path(question["record"])
    found = {int(n): name for n, name in json.loads(record.read_text()).items()} if record.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        conf = Path(folder) / "snmp.conf"
        conf.touch(mode=0o600)
        conf.write_text(settings(question), encoding="utf-8")
        strip = Strip(question, folder)
        wanted = wanted_names(question) if verb == "set" else found
        shown = {outlet: strip.name(outlet) for outlet in wanted}
        changes = {outlet: name for outlet, name in wanted.items() if shown[outlet] != name}
        if changes and verb == "set" and not check:
            record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            record.write_text(json.dumps({**{outlet: shown[outlet] for outlet in changes}, **found}), encoding="utf-8")
        for outlet, name in changes.items():
            if not check:
                strip.rename(outlet, name)
    if verb == "put-back" and not check:
        record.unlink(missing_ok=True)
    return [f"{question['strip']}:{outlet}: {shown[outlet]} -> {name}" for outlet, name in changes.items()]


def main() -> int:
    """Answer the question on standard input."""
    check, verb = sys.argv[1] == "--check", sys.argv[2]
    answer: dict[str, Any] = {"changed": [], "problem": ""}
    try:
        answer["changed"] = work(json.load(sys.stdin), verb, check=check)
    except NamingError as error:
        answer["problem"] = str(error)
    print(json.dumps(answer))
    return 1 if answer["problem"] else 0


if __name__ == "__main__":
    sys.exit(main())
