"""The version that `eeectl --version` shows: the package's and, in a checkout, the commit."""

from importlib import metadata
from pathlib import Path

from eee_testbed.record.checkout import ROOT, described


def version_text(root: Path = ROOT) -> str:
    """The program and its version; `(v0.2.0-3-g1234567)` behind it where `root` is a checkout and git is installed."""
    number, commit = metadata.version("eee-testbed"), described(root)
    return f"eeectl {number} ({commit})" if commit else f"eeectl {number}"
