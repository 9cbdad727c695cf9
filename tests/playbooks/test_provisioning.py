"""From bare hosts of a live lab to a measuring lab and back: packages really installed, twice the same site."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from eee_testbed.controller.checking.lab_check import check_lab
from eee_testbed.controller.drivers.lldp_shows import Neighbour
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.experiment import ProbeRun
from eee_testbed.measuring.experiments.probing import probe
from eee_testbed.record.run_clock import RunClock
from tests.support.ansible_play import ANSIBLE, play, recap
from tests.support.apt_repository import make_repository
from tests.support.needs import needs
from tests.support.nodes.host_state import OFFLINE, changed_files, on, state_of
from tests.support.nodes.toy_sources import packed, write_toy_npb

_NODES: Final = ("n01", "n02")
_USER: Final = "bench"
_PACKAGES: Final = ("chrony", "lldpd")
"""Those of the role that a machine of the project lacks; it has the others."""

_TOY_CONFIGURE = """\
#!/bin/sh
for word; do case $word in --prefix=*) prefix=${word#--prefix=};; CC=*) cc=${word#CC=};; esac; done
cat > Makefile <<END
all:
\t$cc -o osu_toy osu_toy.c
install: all
\tinstall -D osu_toy $prefix/libexec/osu-micro-benchmarks/mpi/osu_toy
END
"""
_TOY_C = """\
#include <mpi.h>
#include <stdio.h>
int main(int count, char **words) { MPI_Init(&count, &words); puts("WORD"); return MPI_Finalize(); }
"""

pytestmark = pytest.mark.lab


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    needs(ANSIBLE)


def _toy_osu(folder: Path, word: str) -> tuple[Path, str]:
    """An archive of the layout of OSU's, with one program that prints the word: (file, its SHA-256)."""
    top = folder / f"osu-micro-benchmarks-{word}"
    top.mkdir()
    (top / "configure").write_text(_TOY_CONFIGURE)
    (top / "configure").chmod(0o755)
    (top / "osu_toy.c").write_text(_TOY_C.replace("WORD", word))
    return packed(top)


class Site:
    """A lab whose hosts can install from a repository in the lab, and the playbooks for it."""

    def __init__(self, lab: Lab, folder: Path, state: Path, work: Path) -> None:
        self.lab = lab
        self.nodes = {name: replace(lab.host(name), user="root") for name in _NODES}
        self.new, self.displaced = make_repository(state / "shared" / "repository", _PACKAGES)
        for node in self.nodes.values():
            on(node, OFFLINE)
        key = work / "key.pub"
        key.write_text("ssh-ed25519 AAAATEST somebody@controller\n")
        self._given = {
            "login_user": "root",
            "nodes_user": _USER,
            "nodes_controller_key_file": str(key),
            "ansible_ssh_common_args": lab.host("n01").ssh_arguments,
            "community_file": str(state / "secrets" / "snmp_write_community"),
            "switches_eee": "off",
        }
        self._environment = {
            "EEE_STATE_DIR": str(state.parent),
            "EEE_CONTROLLER_DIR": str(work / "controller"),
            "XDG_STATE_HOME": str(work / "state"),
        }
        self._inventory = str(folder / "hosts.yml")

    def counts(self, playbook: str, *words: str, **more: Any) -> Mapping[str, Mapping[str, int]]:
        limit = ",".join((*_NODES, "switches", "strips"))
        given = json.dumps({**self._given, **more})
        words = ("-i", self._inventory, playbook, "--limit", limit, "-e", given, *words)
        return recap(play(*words, **self._environment))


@pytest.mark.longest
def test_a_site_is_set_up_stays_the_same_and_is_put_back(
    running_lab: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, state = running_lab
    monkeypatch.setenv("EEE_STATE_DIR", str(state.parent))
    site = Site(load_lab(folder), folder, state, tmp_path)
    found = {name: state_of(node) for name, node in site.nodes.items()}

    first = site.counts("site.yml", "--skip-tags", "verify")
    assert set(first) == {*_NODES, "sw1", "sw2", "pdu1"}
    assert all(first[name]["changed"] >= 10 for name in _NODES)
    # Where the machine is busy, a guard finds the twin late and the first probe invalid; one without guards is below.
    second = site.counts("site.yml", "--skip-tags", "first_probe")
    assert all(counts["changed"] == counts["failed"] == 0 for counts in second.values()), second

    _nodes_work_together(site, tmp_path)
    _lldpd_is_heard(site)
    if shutil.which("mpif77") and shutil.which("gfortran"):
        _npb_is_built(site, tmp_path)
        _osu_is_built(site, tmp_path)

    site.counts("teardown.yml")
    for name, node in site.nodes.items():
        now = state_of(node)
        assert now["packages"] == found[name]["packages"]
        assert now["ping"] == found[name]["ping"]
        assert not changed_files(found[name], now)
    again = site.counts("teardown.yml")
    assert all(counts["changed"] == 0 for counts in again.values()), again


def _nodes_work_together(site: Site, work: Path) -> None:
    lab = site.lab
    n01 = site.nodes["n01"]
    installed = set(on(n01, "dpkg-query -W -f '${db:Status-Abbrev}${Package}\\n' | sed -n 's/^ii *//p'").split())
    assert site.new <= installed
    assert not site.displaced & installed
    names = f"n02 {lab.host('n02').data_address} {lab.host('n02').management_address}"
    asked = f"for name in {names}; do ssh -o BatchMode=yes -o StrictHostKeyChecking=yes $name hostname; done"
    assert on(n01, f"runuser -u {_USER} -- sh -c '{asked}'").split() == ["n02"] * 3
    bench = replace(n01, user=_USER)
    assert "somebody@controller" in on(bench, "cat ~/.ssh/authorized_keys")
    python = "/usr/local/libexec/eee-testbed/python3"
    status = 'open("/proc/self/status").read()'
    rights = on(bench, f"{python} -c 'print({status})' | grep CapEff").split()
    assert rights[1] == f"{1 << 13:016x}"
    assert "CapEff:\t0000000000000000" in on(bench, "cat /proc/self/status")  # other programs gained no privilege
    ask = ProbeRun(source="n01", target="n03", count=30, gap_us=(2_000.0, 4_000.0))
    unprivileged = replace(bench, agent_python=python)
    probed = probe(unprivileged, lab.host("n03"), ask, work, seed=1, now=RunClock().now_ns)
    assert len(probed.rtts_us) == 30
    assert all(gap is not None for gap in probed.recording.column("idle_receive_ns")[1:])  # it captured frames


def _lldpd_is_heard(site: Site) -> None:
    """The daemon as the role configured it hears the switch, and the switch learns the cable from it.

    The card of a virtual host announces itself too, by its MAC address; the interface's name comes from the daemon.
    """
    n01 = site.nodes["n01"]
    on(n01, "mkdir -p /run/lldpd && lldpd")
    try:
        heard = json.loads(on(n01, "timeout 90 lldpcli watch limit 1 >/dev/null; lldpcli -f json0 show neighbors"))
        (interface,) = heard["lldp"][0]["interface"]
        assert interface["chassis"][0]["name"][0]["value"] == "sw1"
        assert interface["port"][0]["id"][0] == {"type": "ifname", "value": "gi1/0/1"}
        sight = check_lab(site.lab).switches["sw1"].sight
        assert sight is not None
        assert sight.neighbours["gi1/0/1"] == Neighbour(n01.mac, b"eth0", "n01")
        assert sight.neighbours["gi1/0/2"].port != b"eth0"  # n02 runs none
    finally:
        on(n01, "kill $(cat /run/lldpd.pid)")


def _npb_is_built(site: Site, work: Path) -> None:
    archive, checksum = write_toy_npb(work, ("bt", "cg"))
    given = {
        "benchmarks_npb_archive": str(archive),
        "benchmarks_npb_programs": ["bt", "cg"],
        "benchmarks_npb_classes": ["S"],
        "benchmarks_npb_ranks": [2, 4],
    }
    words = ("--skip-tags", "packages")
    with pytest.raises(AssertionError, match=f"has SHA-256 {checksum}, not 00"):
        site.counts("benchmarks.yml", *words, **given, benchmarks_npb_sha256="00")
    given["benchmarks_npb_sha256"] = checksum
    with pytest.raises(AssertionError, match=r"has NPB3.3-MPI, and benchmarks_npb_version says\s+3.4"):
        site.counts("benchmarks.yml", *words, **given, benchmarks_npb_version="3.4")
    site.counts("benchmarks.yml", *words, **given)
    listed = "cd /opt/eee-testbed/npb/bin && ls && ./cg.S.4 | head -n 1 && sha256sum *"
    built = on(site.nodes["n02"], listed).split()
    assert built[:4] == ["bt.S.4", "cg.S.2", "cg.S.4", "127"]  # bt takes a square number of ranks
    again = site.counts("benchmarks.yml", *words, **given)
    assert all(counts["changed"] == 0 for counts in again.values()), again
    assert on(site.nodes["n02"], listed).split() == built
    flags = "-O0 -fallow-argument-mismatch -fallow-invalid-boz -std=legacy"
    site.counts("benchmarks.yml", *words, **given, benchmarks_fortran_flags=flags)
    other = on(site.nodes["n02"], listed).split()
    assert other[:4] == built[:4]
    assert not set(other[4::2]) & set(built[4::2])  # not one binary of the flags before is left


def _osu_is_built(site: Site, work: Path) -> None:
    """Of one archive, then of another one: nothing of the first is left."""
    program = "/opt/eee-testbed/osu/libexec/osu-micro-benchmarks/mpi/osu_toy"
    for word in ("first", "second"):
        archive, checksum = _toy_osu(work, word)
        given = {"benchmarks_osu_archive": str(archive), "benchmarks_osu_sha256": checksum}
        site.counts("benchmarks.yml", "--skip-tags", "packages", **given)
        assert on(site.nodes["n02"], program).split() == [word]
        again = site.counts("benchmarks.yml", "--skip-tags", "packages", **given)
        assert all(counts["changed"] == 0 for counts in again.values()), again
