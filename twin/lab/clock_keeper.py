"""The keeper of a lab's time, which also holds hosts to their share of processors."""

from collections.abc import Sequence
from pathlib import Path

from eee_engine import Engine, LabClock, cap_processors

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.twin.hosts.hosts import RunningHost
from eee_testbed.twin.lab.processors import quotas
from eee_testbed.twin.machine.statedir import Journal
from eee_testbed.twin.truth.truth import Truth


def make_clock(
    lab: Lab, truth: Truth, engine: Engine, journal: Journal, page: Path, hosts: Sequence[RunningHost]
) -> LabClock | None:
    """The keeper of the lab's time, None if it has the wall's; hosts with a `cpu_ratio` get their share either way."""
    shares = quotas(lab, truth, journal.cpu_groups)
    try:
        if page.exists():
            networks = [(host.netlink, host.index, *host.data_address()) for host in hosts]
            return LabClock(page, engine, journal.cgroups, shares, networks)
        cap_processors(shares)
    except OSError as error:
        raise not_kept(error) from error
    return None


def not_kept(error: OSError) -> LabError:
    """The control groups of hosts could not be written."""
    return LabError(f"hosts cannot keep the lab's time or cpu_ratio of twin/truth.yaml: {error}.")
