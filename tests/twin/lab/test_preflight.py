"""A lab is refused before anything is changed where its inventory cannot be its own."""

import shutil
from pathlib import Path

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.twin.lab.preflight import check_paths, check_root


@pytest.mark.parametrize("name", ["virtual", "miwa", "koibuchi"])
def test_shipped_labs_point_at_their_own_keys(name: str) -> None:
    check_paths(load_lab(find_lab(name)))


def test_a_copy_of_a_lab_under_another_name_is_told_to_name_its_own_keys(tmp_path: Path) -> None:
    shutil.copytree(find_lab("virtual"), tmp_path / "slower")
    with pytest.raises(LabError, match=r"/run/eee-testbed/virtual.*write /run/eee-testbed/slower there"):
        check_paths(load_lab(tmp_path / "slower"))
    hosts = tmp_path / "slower" / "hosts.yml"
    hosts.write_text(hosts.read_text().replace("/eee-testbed/virtual/", "/eee-testbed/slower/"))
    check_paths(load_lab(tmp_path / "slower"))


def test_a_chroot_whose_root_is_no_mount_point_is_refused() -> None:
    proc = "36 27 0:22 / /proc rw,relatime shared:5 - proc proc rw\n"
    with pytest.raises(LabError, match="mount --bind DIR DIR"):
        check_root(proc)
    check_root(f"27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n{proc}")
    check_root(Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
