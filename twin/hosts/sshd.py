"""The SSH server that virtual hosts run: the machine's own."""

import shutil

from eee_testbed.lab.errors import LabError


def find_sshd() -> str:
    """Return the path of the machine's sshd; LabError if it is missing."""
    path = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if path is None:
        raise LabError("sshd was not found, and virtual hosts need an SSH server: install openssh-server.")
    return path
