"""The file system of a host, on machines of several kinds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eee_testbed.twin.hosts.hostroot import mounts_below
from tests.support import ROOT
from tests.support.needs import needs_root

_MOUNTINFO = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw,nosuid - proc proc rw
24 22 0:22 / /dev/shm rw,nosuid - tmpfs tmpfs rw
25 22 0:23 / /run rw,nosuid - tmpfs tmpfs rw
26 25 0:23 / /run/user/0 rw,nosuid - tmpfs tmpfs rw
30 22 8:1 / /home rw,relatime - xfs /dev/sdb1 rw
31 30 8:2 / /home/my\040data ro,relatime - ext4 /dev/sdc1 rw
32 22 0:40 / /var/lib/docker/overlay2/ab/merged rw - overlay overlay rw
33 32 0:41 / /var/lib/docker/overlay2/ab/merged/data rw - ext4 /dev/sdd rw
34 22 0:42 / /etc/resolv.conf rw - ext4 /dev/vda rw
35 22 0:43 / /tmpfiles rw - tmpfs tmpfs rw
36 22 0:44 / /proc-like rw - nfs server:/x rw
""".strip()


def test_other_file_systems_are_found_and_the_kernels_are_not() -> None:
    found = {below.path: below.writable for below in mounts_below(_MOUNTINFO)}
    assert found == {
        "/etc/resolv.conf": True,
        "/home": True,
        "/home/my data": False,
        "/proc-like": True,
        "/tmpfiles": True,  # noqa: S108 - beside /tmp
    }
    assert list(found) == sorted(found)


_NESTED = """
import os, sys
from pathlib import Path
from eee_testbed.twin.machine import namespaces as ns
from eee_testbed.twin.hosts.hostroot import build_root
ns.unshare(ns.CLONE_NEWPID)
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWNET)
ns.mount("none", "/", "", ns.MS_REC | ns.MS_PRIVATE)
below = Path("/mnt")
ns.mount("tmpfs", str(below), "tmpfs")
(below / "file").write_text("machine's")
for depth in range(3):
    staging, shared = Path(f"/run/stage{depth}"), Path(f"/run/shared{depth}")
    staging.mkdir(); shared.mkdir()
    build_root(str(staging), str(shared))
    kind = next(l for l in Path("/proc/mounts").read_text().splitlines() if l.split()[1] == "/").split()[2]
    print(depth, kind, (below / "file").read_text())
    if depth < 2:
        (below / "file").write_text(f"host {depth}")
    Path("/etc/hosts").write_text(f"127.0.0.1 depth{depth}\\n")
    Path("/home/made").write_text("x")
    Path("/tmp/made").write_text("x")
    assert Path("/etc/hosts").read_text().endswith(f"depth{depth}\\n")
    assert sorted(os.listdir("/shared")) == []
    assert Path("/proc/self").exists() and Path("/dev/null").is_char_device()
"""


@pytest.mark.lab
def test_roots_over_roots_and_other_mounts_below() -> None:
    """Three nested hosts: the third can no longer be an overlay, and works nevertheless."""
    needs_root("a mount")
    before = Path("/etc/hosts").read_bytes()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", _NESTED], capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["0", "1", "2"]
    assert rows == [["0", "overlay", "machine's"], ["1", "overlay", "host 0"], ["2", rows[2][1], "host 1"]]
    assert Path("/etc/hosts").read_bytes() == before
    assert not Path("/home/made").exists()
    assert not Path("/mnt/file").exists()
    for depth in range(3):
        for path in (Path(f"/run/stage{depth}"), Path(f"/run/shared{depth}")):
            if depth == 0:
                path.rmdir()
            assert not path.exists()
