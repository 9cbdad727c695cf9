"""The guardian of a toy lab whose switches live in a file: ``python toy_guardian.py LAB``."""

import sys
import threading
from pathlib import Path

from eee_testbed.controller.applying.guardian import main
from eee_testbed.controller.applying.work import Backend
from eee_testbed.lab.model import Lab, Switch
from tests.support.labs.toy_lab import ToyDriver, ToyLab, ToySession, load

_ONE = threading.Lock()


def _backend(lab: Lab) -> Backend:
    """The switches' state is read at the first query, as the apply changes it after the guardian started."""
    toys: list[ToyLab] = []

    def connect(switch: Switch) -> ToySession:
        with _ONE:
            if not toys:
                toys.append(load(lab, Path(lab.folder) / "switches.json"))
        return toys[0].connect(switch)

    return Backend(connect, lambda _: ToyDriver(), {})


if __name__ == "__main__":
    code = main(sys.argv[1:], _backend)
    sys.stdout = None  # type: ignore[assignment]  # closed when it was ready
    raise SystemExit(code)
