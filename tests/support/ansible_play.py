"""Runs playbooks as a user does, and reads the recap."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.support import ROOT

PLAYBOOKS: Final = ROOT / "playbooks"
ANSIBLE: Final = Path(sys.executable).with_name("ansible-playbook")
EXAMPLE: Final = ROOT / "inventory" / "example" / "hosts.yml"

Done = subprocess.CompletedProcess[str]


def play(*words: str, tool: str = "ansible-playbook", cwd: Path = PLAYBOOKS, **environment: str) -> Done:
    """Run ansible-playbook, or another of its tools, where its ansible.cfg is."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    found = {"PATH": f"{ANSIBLE.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1"}
    return subprocess.run(
        [ANSIBLE.parent / tool, *words], cwd=cwd, env={**clean, **found, **environment}, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip


def recap(done: Done) -> Mapping[str, Mapping[str, int]]:
    """Counts of each host of a play that ended well."""
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    lines = re.findall(r"^(\S+) +: (ok=.*)$", done.stdout, re.MULTILINE)
    return {host: {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", counts)} for host, counts in lines}
