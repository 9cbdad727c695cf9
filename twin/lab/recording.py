"""Copies a capture of a cable from the daemon to its reader.

The daemon writes into a pipe of this process. However this process ends, the pipe closes and the engine stops
capturing.
"""

import fcntl
import os
import sys
from typing import BinaryIO

from eee_testbed.twin.lab import lifecycle as labs

_PIPE_BYTE = 1 << 20
_F_SETPIPE_SZ = 1031


def record(lab: str, cable: str, stream: BinaryIO) -> int:
    """Copy a cable's pcap to a stream until Ctrl-C or until its reader ends; return the number of lost packets."""
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, _F_SETPIPE_SZ, _PIPE_BYTE)
    with os.fdopen(read_end, "rb", buffering=0) as source:
        try:
            started = labs.order(lab, "capture", descriptor=write_end, cable=cable)
        finally:
            os.close(write_end)
        print(f"capturing {started['cable']}; Ctrl-C ends.", file=sys.stderr)
        try:
            _copy(source, stream)
        except KeyboardInterrupt:
            lost = int(labs.order(lab, "stop_capture", capture=started["capture"])["lost"])
            _copy(source, stream)
            return lost
    return 0


def _copy(source: BinaryIO, stream: BinaryIO) -> None:
    while chunk := source.read(_PIPE_BYTE):
        stream.write(chunk)
        stream.flush()
