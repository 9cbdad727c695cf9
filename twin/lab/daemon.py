"""The process behind a running lab: makes the hosts, then runs the engine, the switches and the power strips.

It is started by `eeectl lab up` in a session of its own and reports over a pipe, a JSON object per line:
``{"doing": TEXT, "done": N, "of": M}``, at last ``{"ready": true}`` or ``{"error": SENTENCE}``. If the pipe
closes before that, nobody waits any more, and everything is undone. SIGTERM takes the lab down.
"""

import argparse
import asyncio
import json
import logging
import os
import resource
import signal
import sys
import traceback
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.twin.hosts.hostfiles import known_hosts, openmpi_outside, outside_ssh_config
from eee_testbed.twin.hosts.hosts import RunningHost, start_hosts, stop_hosts
from eee_testbed.twin.hosts.outfit import KeyPair, make_kits, write_keys
from eee_testbed.twin.lab.preflight import listeners
from eee_testbed.twin.lab.processors import cpu_ratios
from eee_testbed.twin.machine.cgroups import (
    Hierarchy,
    enable_cpu_controller,
    find_cpu_hierarchy,
    find_hierarchy,
    lab_folder,
)
from eee_testbed.twin.machine.credentials import make_credentials
from eee_testbed.twin.machine.mgmt import Bridge, bridge_name, make_bridge, own_address
from eee_testbed.twin.machine.statedir import Journal, Process, StateDir, new_group
from eee_testbed.twin.truth.truth_file import load_truth

if TYPE_CHECKING:
    from eee_testbed.twin.lab.rack import Rack


class Terminated(BaseException):
    """SIGTERM: take the lab down."""


class Report:
    """The pipe to `eeectl lab up`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, **message: object) -> None:
        """Send one message; raise Terminated if nobody reads it any more."""
        try:
            os.write(self._descriptor, json.dumps(message).encode() + b"\n")
        except BrokenPipeError as error:
            raise Terminated from error

    def progress(self, doing: str, done: int, of: int) -> None:
        """Report progress."""
        self.send(doing=doing, done=done, of=of)

    def close(self) -> None:
        """Close the pipe: nothing more will be reported."""
        os.close(self._descriptor)


class _Daemon:
    def __init__(self, lab: Lab, report: Report, undo: ExitStack, rate: str) -> None:
        self.lab = lab
        self.report = report
        self.undo = undo
        self.state = StateDir(lab.name)
        self.rate = rate
        self.hosts: list[RunningHost] = []
        self.host_keys: dict[str, KeyPair] = {}

    def prepare(self) -> tuple[Bridge, Hierarchy, Journal]:
        lab = self.lab
        hierarchy = find_hierarchy()
        truth = load_truth(Path(lab.folder) / "twin" / "truth.yaml")
        ratios = cpu_ratios(lab, truth)
        cpu_hierarchy = find_cpu_hierarchy() if ratios else None
        group = new_group()
        address = own_address(lab.management_network, {host.management_address for host in lab.hosts})
        bridge = Bridge(bridge_name(lab.name, group), address, group)
        journal = Journal(
            lab=lab.name,
            folder=lab.folder,
            group=group,
            bridge=bridge.name,
            management_network=lab.management_network,
            listeners=tuple(str(listener) for listener in listeners(lab)),
            cgroups=str(lab_folder(hierarchy, lab.name)),
            cpu_groups=str((cpu_hierarchy and lab_folder(cpu_hierarchy, lab.name)) or ""),
            cpu_ratios=ratios,
            daemon=Process.of(os.getpid()),
        )
        self.state.save(journal)
        self.undo.callback(self.state.sweep, own_process=True)
        if cpu_hierarchy is not None:
            enable_cpu_controller(cpu_hierarchy, Path(journal.cpu_groups))
        return bridge, hierarchy, journal

    def make_hosts(self) -> tuple[KeyPair, Journal]:
        """The lab user's key, and the lab's journal."""
        bridge, hierarchy, journal = self.prepare()
        user_key, self.host_keys = write_keys(self.lab, self.state)
        kits = make_kits(self.lab, self.state, hierarchy, journal, user_key, self.host_keys)
        make_bridge(bridge)
        self.undo.callback(stop_hosts, self.hosts)
        start_hosts(kits, bridge, self.hosts, self.report.progress)
        journal = journal.model_copy(update={"hosts": {host.name: host.process for host in self.hosts}})
        self.state.save(journal)
        return user_key, journal

    def write_client_files(self, rack: "Rack") -> None:
        lab, folder = self.lab, self.state.path
        host_keys = known_hosts(lab.hosts, {name: key.public for name, key in self.host_keys.items()})
        host_keys += "".join(f"{name} {key}\n" for name, key in rack.interfaces.host_keys().items())
        (folder / "known_hosts").write_text(host_keys, encoding="utf-8")
        (folder / "ssh_config").write_text(outside_ssh_config(lab, folder=str(folder)), encoding="utf-8")
        (folder / "mpi" / "environment").write_text(openmpi_outside(lab, folder=str(folder)), encoding="utf-8")

    async def serve(self, rack: "Rack") -> None:
        loop = asyncio.get_running_loop()
        end = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end.set)
        try:
            starting = asyncio.create_task(rack.start(self.report.progress))
            ending = asyncio.create_task(end.wait())
            await asyncio.wait((starting, ending), return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
                with suppress(asyncio.CancelledError):
                    await starting
                return
            ending.cancel()
            starting.result()
            journal = self.state.load()
            if journal is not None:
                self.state.save(journal.model_copy(update={"ready": True}))
            if rack.clock_keeper is not None:
                rack.clock_keeper.set_rate(self.rate)
            self.report.send(ready=True)
            self.report.close()
            await end.wait()
        finally:
            if rack.clock_keeper is not None:
                rack.clock_keeper.close()  # first: at a slow rate all that follows would take long
            await rack.stop()

    def run(self) -> None:
        user_key, journal = self.make_hosts()
        # Only now: these modules start threads, and hosts must be forked while there is only one.
        from eee_testbed.twin.lab.rack import Rack  # noqa: PLC0415

        rack = Rack(self.lab, self.state, self.hosts, make_credentials(self.state), user_key.public, journal)
        self.write_client_files(rack)
        asyncio.run(self.serve(rack))


def _terminate(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # the clean-up must not be interrupted
    raise Terminated


def main() -> int:
    """Run a lab until SIGTERM; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m eee_testbed.twin.lab.daemon", description=__doc__)
    parser.add_argument("folder", type=Path, help="the lab's folder")
    parser.add_argument("report", type=int, help="descriptor of the pipe to report on")
    parser.add_argument("rate", help="of the lab's clock once the lab is ready; empty: it has none")
    arguments = parser.parse_args()
    logging.basicConfig(format="%(asctime)s [%(levelname)s] %(message)s")
    signal.signal(signal.SIGTERM, _terminate)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    report = Report(arguments.report)
    try:
        with ExitStack() as undo:
            try:
                _Daemon(load_lab(arguments.folder), report, undo, arguments.rate).run()
            finally:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except Terminated:
        return 1
    except LabError as error:
        traceback.print_exc()
        with suppress(Terminated, OSError):
            report.send(error=str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
