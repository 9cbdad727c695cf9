"""A running lab's devices in one place: engine, switches, power strips and hosts, their mains and what happens to them.

Everything here runs in the daemon's asyncio loop, on its main thread; the engine and the SNMP agents have threads of
their own and call back through `call_soon_threadsafe`.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from eee_engine import Engine, FabricError

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.twin.faults.faults import Faults
from eee_testbed.twin.hosts.hosts import Progress, RunningHost
from eee_testbed.twin.lab.clock_keeper import make_clock
from eee_testbed.twin.lab.interfaces import Interfaces
from eee_testbed.twin.lab.processors import LabCpu
from eee_testbed.twin.lab.requests import Requests
from eee_testbed.twin.machine.control import ControlServer
from eee_testbed.twin.machine.credentials import Credentials
from eee_testbed.twin.machine.statedir import CLOCK, Journal, StateDir
from eee_testbed.twin.mains.wiring import Racked, RackedNode, RackedSwitch, wire, wire_sensors
from eee_testbed.twin.network.topology import lay_out
from eee_testbed.twin.network.tree_keeper import TreeKeeper
from eee_testbed.twin.switch.device import Event, SwitchDevice
from eee_testbed.twin.truth.truth_file import load_truth

_LOG = logging.getLogger(__name__)
_TICK_S = 1.0
_LINK_POLL_S = 0.1
_LINK_PATIENCE_S = 10.0


class _Clock:
    """Seconds since the lab's start, on a clock that can skip the switches' first boot."""

    def __init__(self) -> None:
        self._start_s = time.monotonic()
        self.skipped_s = 0.0

    def lab_s(self) -> float:
        """Seconds since the rack was made."""
        return time.monotonic() - self._start_s

    def device_s(self) -> float:
        """The switches' clock."""
        return time.monotonic() + self.skipped_s


class Rack:
    """One lab. Make it after the hosts have been forked; `start` and `stop` run in the daemon's loop."""

    def __init__(
        self,
        lab: Lab,
        state: StateDir,
        hosts: Sequence[RunningHost],
        credentials: Credentials,
        public_key: str,
        journal: Journal,
    ) -> None:
        """`journal` names the folders of the hosts' control groups."""
        self.lab = lab
        self._groups = journal.cgroups
        self.state = state
        self.hosts: Mapping[str, RunningHost] = {host.name: host for host in hosts}
        self.truth = load_truth(Path(lab.folder) / "twin" / "truth.yaml")
        self.clock = _Clock()
        self.engine = Engine(seed=self.truth.seed)
        self.clock_keeper = make_clock(lab, self.truth, self.engine, journal, state / CLOCK, hosts)
        try:
            self.topology = lay_out(
                lab,
                self.truth,
                self.engine,
                password=credentials.cli_password,
                public_key=public_key,
                clock_s=self.clock.device_s,
            )
        except FabricError as error:
            raise LabError(f"the engine cannot hold this lab: {error}.") from error
        self.devices = self.topology.devices
        self.trees = TreeKeeper(self.topology)
        self.mains, self.strips = wire(
            lab,
            self.truth,
            self.engine,
            self._racked(),
            clock_s=self.clock.lab_s,
            on_power=self.set_power,
            wake=self._wake,
        )
        for name, device in self.devices.items():
            device.power_watt = partial(self.mains.drawn_watt, name)
        self.interfaces = Interfaces(lab, self.devices, self.strips, credentials)
        self._control: ControlServer | None = None
        self._faults: Faults | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._tree_due = asyncio.Event()
        self._powered: dict[str, bool] = {}  # hosts whose mains were switched: the last state
        self.started_utc = time.time()

    def _lab_cpu(self, host: RunningHost) -> Callable[[], float]:
        if self.clock_keeper is None or self.truth.node(host.name).cpu_ratio is not None:
            return host.cpu_s
        return LabCpu(host.cpu_s, self.clock_keeper.times_s)

    def _racked(self) -> Racked:
        end = self.topology.engine_port
        nics = self.topology.nics
        return Racked(
            {name: self._racked_switch(device) for name, device in self.devices.items()},
            {name: RackedNode(nics[name], self._lab_cpu(host)) for name, host in self.hosts.items()},
            [(end(link.a), end(link.b)) for link in self.lab.links],
        )

    @staticmethod
    def _racked_switch(device: SwitchDevice) -> RackedSwitch:
        ports = [port.engine_port for port in device.ports if not port.is_lag]
        return RackedSwitch(ports, lambda: device.powered and not device.ready)

    @staticmethod
    def _uptime(device: SwitchDevice) -> Callable[[], float]:
        return lambda: device.uptime_s

    @property
    def faults(self) -> Faults:
        """The injected faults; LabError before `start`."""
        if self._faults is None:
            raise LabError("the lab is not ready yet: try again in a moment.")
        return self._faults

    async def start(self, progress: Progress) -> None:
        """Bring everything up and wait for the links; LabError or OSError if a resource is not available."""
        self._loop = asyncio.get_running_loop()
        for name, host in self.hosts.items():
            self.engine.attach(self.topology.nics[name], host.take_tap())
            self._watch_host(host)
        self.engine.make_room(self._groups)
        self.engine.start()
        for device in self.devices.values():
            device.observe(self.trees.on_event)
            device.observe(self._on_event)
            device.power_on()
        # A lab that comes up has been running for a while: its switches' first boot takes no time.
        self.clock.skipped_s = max(device.spec.boot_s for device in self.devices.values())
        for device in self.devices.values():
            device.poll()
            for line in device.rejected_lines:
                _LOG.warning("startup line not understood: switch=%s line=%r", device.name, line)
        self.interfaces.start_agents()
        uptimes = {name: self._uptime(device) for name, device in self.devices.items()}
        wire_sensors(self.mains, self.lab, self.truth, agents=self.interfaces.agents, uptime_s=uptimes)
        await self.interfaces.start_faces(progress)
        self._faults = Faults(
            self.topology,
            self.mains,
            self.interfaces.agents,
            power=self.mains.plug,
            later=self._call_later,
            soon=self._call_soon,
            rekey=self.interfaces.rekey,
        )
        self._tasks = [
            asyncio.create_task(self._tick_mains(), name="mains"),
            asyncio.create_task(self._keep_tree(), name="spanning tree"),
        ]
        await self._await_links(progress)
        self.engine.reset_lateness()
        self._control = ControlServer(self.state / "control.sock", Requests(self).handlers())
        self._control.start()

    async def _await_links(self, progress: Progress) -> None:
        deadline_s = self.clock.lab_s() + _LINK_PATIENCE_S
        links = self.lab.links
        while True:
            states = [self.topology.link_state(link, cut=False) for link in links]
            done = sum(state != "down" for state in states)
            progress("waiting for links", done, len(links))
            if done == len(links) or self.clock.lab_s() > deadline_s:
                return
            await asyncio.sleep(_LINK_POLL_S)  # the engine reports no link events; a link takes seconds

    async def stop(self) -> None:
        """Stop everything; idempotent, also after a failed start."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._tasks = []
        if self._control is not None:
            self._control.stop()
            self._control = None
        await self.interfaces.stop()
        if self._loop is not None:
            for host in self.hosts.values():
                self._loop.remove_reader(host.channel)
                self._loop.remove_reader(host.pidfd)
        self.engine.stop()

    def _call_soon(self, call: Callable[[], None]) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(call)

    def set_power(self, name: str, on: bool) -> None:  # noqa: FBT001 - the mains' callback
        """Switch a device's mains on or off."""
        if name in self.devices:
            device = self.devices[name]
            if on:
                device.power_on()
            else:
                device.power_off()
            return
        host = self.hosts[name]
        self._powered[name] = on
        boot_s = self.truth.node(name).boot_s if on else 0.0
        self._call_later(boot_s, lambda: self._power_host(host, on=on))

    def _power_host(self, host: RunningHost, *, on: bool) -> None:
        if self._powered[host.name] != on:
            return  # the mains were switched again while it booted
        self.engine.set_port(self.topology.nics[host.name], admin_up=on)
        host.power(on=on)

    def _on_event(self, device: SwitchDevice, event: Event) -> None:
        loop = self._loop
        if loop is None:
            return
        if event == "power":
            loop.call_soon_threadsafe(self._boot_later, device)
        if event in {"power", "ready", "config"}:
            loop.call_soon_threadsafe(self._tree_due.set)

    def _boot_later(self, device: SwitchDevice) -> None:
        due_s = device.poll_at_s()
        if due_s is not None:
            self._call_later(max(0.0, due_s - self.clock.device_s()) + 0.001, device.poll)

    def _call_later(self, delay_s: float, call: Callable[[], None]) -> None:
        if self._loop is not None:
            self._loop.call_later(delay_s, call)

    def _wake(self, delay_s: float) -> None:
        loop = self._loop
        if loop is not None and delay_s < _TICK_S:
            loop.call_soon_threadsafe(self._call_later, delay_s, lambda: self.mains.tick(self.clock.lab_s()))

    async def _tick_mains(self) -> None:
        while True:
            self.mains.tick(self.clock.lab_s())
            await asyncio.sleep(_TICK_S - self.clock.lab_s() % _TICK_S)

    async def _keep_tree(self) -> None:
        while True:
            self.trees.update()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._tree_due.wait(), _TICK_S)
            self._tree_due.clear()

    def _watch_host(self, host: RunningHost) -> None:
        loop = asyncio.get_running_loop()

        def receive() -> None:
            try:
                host.receive()
            except LabError as error:
                loop.remove_reader(host.channel)
                _LOG.error("host ended: host=%s why=%s", host.name, error)

        def on_exit() -> None:
            loop.remove_reader(host.pidfd)
            host.up = False
            _LOG.error("process 1 of a host ended: host=%s", host.name)

        loop.add_reader(host.channel, receive)
        loop.add_reader(host.pidfd, on_exit)
