"""A lab of two switches of two families: a LAG of two cables and one more cable between them, two hosts at each."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.labs.lab_client import LabClient
from tests.support.labs.lab_files import DELL, NETGEAR, SmallLab
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.triangle import hasty_truth
from tests.support.labs.two_switches import Eeectl

FIRST, SECOND = "sw1:gi1/0/5", "sw1:gi1/0/6"
"""The LAG's cables."""

OTHER = "sw1:gi1/0/7"
"""The cable beside it."""


def write_lagged(parent: Path, number: int, state_root: Path, *, is_set_up: bool = True, rehash_s: float = 0.0) -> Path:
    """Write the folder of a lab in 198.18.`number`.0/24 whose switches have the LAG, and no spanning tree.

    Not `is_set_up`: they have spanning tree, and the LAG's cables are up without it. `rehash_s`: so long they lose the
    flows of a member that is gone.
    """
    rows = [
        "sw1:gi1/0/1,n01:eth0,1000,copper,no,",
        "sw1:gi1/0/2,n02:eth0,1000,copper,no,",
        "sw2:1/0/1,n03:eth0,1000,copper,no,",
        "sw2:1/0/2,n04:eth0,1000,copper,no,",
        "sw1:gi1/0/5,sw2:1/0/5,1000,copper,yes,1",
        "sw1:gi1/0/6,sw2:1/0/6,1000,copper,yes,1",
        "sw1:gi1/0/7,sw2:1/0/7,1000,copper,yes,",
    ]
    dell = [line for port in (5, 6) for line in (f"interface gi1/0/{port}", "channel-group 1 mode on", "exit")]
    netgear = [line for port in (5, 6) for line in (f"interface 1/0/{port}", "addport lag 1", "exit")]
    startup = {
        "sw1": ["hostname sw1", "no spanning-tree", *dell, "interface gi1/0/7", "shutdown", "exit"],
        "sw2": [
            *("configure", 'hostname "sw2"', "no spanning-tree", *netgear, "interface lag 1", "port-channel static"),
            *("exit", "interface 1/0/7", "shutdown", "exit", "exit"),
        ],
    }
    if not is_set_up:
        ours = {"no spanning-tree", "channel-group 1 mode on", "addport lag 1", "port-channel static"}
        startup = {name: [line for line in lines if line not in ours] for name, lines in startup.items()}
    texts = {name: "\n".join([*lines, ""]) for name, lines in startup.items()}
    lab = SmallLab(number, {"sw1": DELL, "sw2": NETGEAR}, 4, rows, texts, has_lags=True)
    truth = re.sub(r"^( +)(latency_us:.*)$", rf"\1\2\n\1lag_rehash_s: {rehash_s}", hasty_truth(), flags=re.MULTILINE)
    return lab.write(parent, f"lag{number}", truth, state_root)


@contextmanager
def lagged_lab(
    eeectl: Eeectl,
    environment: Mapping[str, str],
    parent: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_set_up: bool = True,
    rehash_s: float = 0.0,
) -> Iterator[LabClient]:
    """Such a lab, up within the context; commands of this process find it."""
    root = Path(environment["EEE_STATE_DIR"])
    monkeypatch.setenv("EEE_STATE_DIR", str(root))
    folder = write_lagged(parent, reserve(), root, is_set_up=is_set_up, rehash_s=rehash_s)
    done = eeectl("lab", "up", str(folder))
    assert done.returncode == 0, done.stderr
    try:
        yield LabClient.of(folder, root)
    finally:
        eeectl("lab", "down", folder.name)
