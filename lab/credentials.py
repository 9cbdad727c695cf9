"""Secrets, read at the moment they are needed from where the inventory says that they are.

A file must be readable by its owner alone (mode 0600 or 0400), as ssh demands of keys: it gives the right to
shut every port of the lab.
"""

import os
import stat
from pathlib import Path

from eee_testbed.lab.errors import AccessDenied
from eee_testbed.lab.model import Secret

_VAULT = "$ANSIBLE_VAULT;"
_OTHERS_MODE = stat.S_IRWXG | stat.S_IRWXO


def read_secret(secret: Secret, device: str) -> str:
    """The secret itself, without the line's end; AccessDenied if it is missing, empty, encrypted, or open to others."""
    if secret.variable:
        value = os.environ.get(secret.variable, "")
        if not value:
            raise AccessDenied(device, f"the environment variable {secret.variable} is not set: export it.")
        return value
    check_private(secret.file, device)
    try:
        value = Path(secret.file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise AccessDenied(device, f"{secret.file} cannot be read ({error}): correct the inventory.") from error
    if not value:
        raise AccessDenied(device, f"{secret.file} is empty: write the secret into it.")
    if value.startswith(_VAULT):
        raise AccessDenied(
            device,
            f"{secret.file} is encrypted by ansible-vault, which only Ansible opens: name an environment variable in "
            f'the inventory, and export it as "$(ansible-vault view {secret.file})".',
        )
    return value


def check_private(file: str, device: str) -> None:
    """AccessDenied if a file of a secret (or a private key) is missing, or if others than its owner may use it."""
    try:
        mode = Path(file).stat().st_mode
    except OSError as error:
        raise AccessDenied(
            device, f"{file} cannot be read ({error.strerror}): create it, or correct the inventory."
        ) from error
    if mode & _OTHERS_MODE:
        raise AccessDenied(device, f"{file} is open to others than its owner: run `chmod 600 {file}`.")
