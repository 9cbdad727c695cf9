"""paramiko, imported without invoke, which takes as long as all of the rest.

paramiko needs invoke for `Match exec` of an OpenSSH configuration only, which nothing here reads, and provides for its
absence (`paramiko.config`).
"""

import sys

if "invoke" in sys.modules:
    import paramiko
else:
    sys.modules["invoke"] = None  # type: ignore[assignment]  # importing it fails, as if it were not installed
    try:
        import paramiko
    finally:
        del sys.modules["invoke"]

__all__ = ["paramiko"]
