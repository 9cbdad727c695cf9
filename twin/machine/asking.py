"""Ask a lab's daemon over its control socket, which `control.py` describes; no event loop has to be loaded for it."""

import json
import socket
from pathlib import Path
from typing import Any

from eee_testbed.lab.errors import LabError


def ask(path: Path, do: str, *, descriptor: int = -1, **arguments: Any) -> Any:
    """Send one request to a lab's daemon and return its answer; LabError with the daemon's sentence if it refuses."""
    request = json.dumps({"do": do, **arguments}).encode() + b"\n"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path))
        except OSError as error:
            raise LabError(f"the lab's daemon does not answer at {path}: {error.strerror}.") from error
        if descriptor >= 0:
            socket.send_fds(client, [request], [descriptor])
        else:
            client.sendall(request)
        with client.makefile("rb") as stream:
            line = stream.readline()
    if not line:
        raise LabError(f"the lab's daemon ended before it answered '{do}': see `eeectl lab status`.")
    answer = json.loads(line)
    if "error" in answer:
        raise LabError(answer["error"])
    return answer["ok"]
