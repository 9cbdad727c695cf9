"""Switches in memory that execute the orders of a toy driver, one small change each, and fail where a test says.

Every order is replayed through `controller.planning.check.Watch`, order by order: `harms` holds each
fault that the orders made (not those that a reboot made). With `way_in` the switches are managed in band: one that
frames of management do not reach does not answer, and `lockouts` holds each order that made it so.
"""

# ruff: noqa: ARG002  (a protocol gives its methods what a toy does not need)
import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from eee_testbed.controller.applying.rounds import Stop
from eee_testbed.controller.applying.work import Backend
from eee_testbed.controller.drivers.driver import (
    ASPECT_FIELDS,
    Answers,
    Aspect,
    Command,
    EeeStatus,
    Identity,
    Line,
    Query,
    Show,
)
from eee_testbed.controller.model.state import (
    Change,
    PortChange,
    State,
    StaticsChange,
    StpChange,
    SwitchState,
    VlanChange,
    factory_state,
)
from eee_testbed.controller.planning.check import Watch, required_hosts
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.planning.losses import Losses
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.lab.errors import Rejected, Unreachable, Unreadable
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab, Switch
from eee_testbed.lab.topology import Topology
from tests.support.labs.management_walk import World, answering
from tests.support.labs.starts import CAN

_SWITCHES = 3
_WORLD = World(("sw1", "sw2", "sw3"), "flood")

Trouble = Literal[
    "refuse", "ignore", "drop before", "drop after", "reboot", "hang", "Ctrl-C", "Ctrl-C twice", "die", "stranger"
]


class _Shown(BaseModel):
    model_config = ConfigDict(ser_json_bytes="hex", val_json_bytes="hex")
    state: SwitchState


class Saved(BaseModel):
    """A lab's running and startup configurations in a file, for tests in which the controller is killed."""

    model_config = ConfigDict(ser_json_bytes="hex", val_json_bytes="hex")
    running: State
    startup: State


def small_lab(folder: Path) -> Lab:
    """Three switches in a ring of doubled cables, a host each."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"sw{number}" for number in range(1, _SWITCHES + 1)]
    switches = "".join(f"        {name}: {{ansible_host: 127.77.1.{n}}}\n" for n, name in enumerate(names, 1))
    hosts = "".join(
        f'        n{n}: {{ansible_host: 198.18.77.{n}, data_address: 198.19.77.{n}, mac: "02:ee:77:00:00:0{n}"}}\n'
        for n in range(1, _SWITCHES + 1)
    )
    (folder / "hosts.yml").write_text(
        f"""all:
  vars:
    management_network: 198.18.77.0/24
    data_network: 198.19.0.0/16
  children:
    switches:
      vars:
        family: dell_powerconnect_55xx
        model: PowerConnect 5524
        password_file: /nonexistent/password
        community_file: /nonexistent/community
        known_hosts_file: /nonexistent/known_hosts
        ports: {{"gi1/0/[1:8]": 1000}}
      hosts:
{switches}    nodes:
      vars:
        ansible_user: lab
      hosts:
{hosts}""",
        encoding="utf-8",
    )
    rows = [f"{name}:gi1/0/1,n{n}:eth0,1000,copper,no" for n, name in enumerate(names, 1)]
    ring = list(zip(names, names[1:] + names[:1], strict=True))
    for one, other in ring:
        rows += [f"{one}:gi1/0/{3 + k},{other}:gi1/0/{5 + k},1000,copper,yes" for k in range(2)]
    (folder / "cables.csv").write_text(
        "end_a,end_b,rate_mbps,kind,switchable\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    return load_lab(folder)


def trees_state(lab: Lab) -> State:
    """The plan from factory settings to the shortest-path trees."""
    _, after = multi_tree(lab, factory_state(lab), lambda topology, links: shortest_routes(topology, links, 1))
    return after


class ToyDriver:
    """Orders in JSON, each of which changes one thing."""

    login = None
    capabilities = CAN

    def render(self, switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
        return tuple(Line(json.dumps(fields)) for change in changes for fields in _orders_of(change))

    def queries(self, switch: Switch, aspects: frozenset[Aspect]) -> tuple[Query, ...]:
        return (Show("state"),)

    def parse(
        self, switch: Switch, aspects: frozenset[Aspect], answers: Answers, base: SwitchState | None
    ) -> SwitchState:
        try:
            shown = _Shown.model_validate_json(str(answers[Show("state")])).state
        except ValueError as error:
            raise Unreadable(switch.name, "state", str(answers[Show("state")])) from error
        if base is None:
            return shown
        read = [field for aspect in aspects for field in ASPECT_FIELDS.get(aspect, ())]
        ports = {
            name: replace(port, **{field: getattr(shown.ports[name], field) for field in read})
            for name, port in base.ports.items()
        }
        return SwitchState(
            ports,
            shown.vids if "vlan" in aspects else base.vids,
            shown.statics if "statics" in aspects else base.statics,
            shown.stp if "stp" in aspects else base.stp,
        )

    def refusal(self, line: Line, output: str) -> str:
        return ""

    def save(self, switch: Switch) -> tuple[Command, ...]:
        return (Line('{"save": true}'),)

    def eee_queries(self, switch: Switch) -> tuple[Query, ...]:
        return (Show("state"),)

    def eee(self, switch: Switch, answers: Answers) -> Mapping[str, EeeStatus]:
        shown = _Shown.model_validate_json(str(answers[Show("state")])).state
        return {
            name: EeeStatus(True, port.eee, port.eee, None, port.hold_us, None) for name, port in shown.ports.items()
        }

    def identity_queries(self, switch: Switch) -> tuple[Query, ...]:
        return ()

    def identity(self, switch: Switch, answers: Answers) -> Identity:
        return Identity("toy", "", "")


_SCALARS = (
    "speed_mbps",
    "eee",
    "hold_us",
    "pvid",
    "acceptance",
    "ingress_filtering",
    "stp",
    "flow_control",
    "admin_up",
)


def _orders_of(change: Change) -> Iterator[dict[str, Any]]:
    match change:
        case PortChange():
            for key in ("untagged_vids", "tagged_vids"):
                old, new = getattr(change.before, key), getattr(change.after, key)
                yield from ({"port": change.port, "leave": vid} for vid in sorted(old - new))
            for key in ("untagged_vids", "tagged_vids"):
                old, new = getattr(change.before, key), getattr(change.after, key)
                yield from ({"port": change.port, "join": vid, "as": key} for vid in sorted(new - old))
            for key in _SCALARS:
                if getattr(change.before, key) != getattr(change.after, key):
                    yield {"port": change.port, "set": key, "to": getattr(change.after, key)}
        case VlanChange():
            yield {"vlan": change.vid, "exists": change.after}
        case StaticsChange():
            yield from (
                {"vlan": change.vid, "mac": mac.hex(), "port": None}
                for mac in change.before.keys() - change.after.keys()
            )
            yield from (
                {"vlan": change.vid, "mac": mac.hex(), "at": port}
                for mac, port in change.after.items()
                if change.before.get(mac) != port
            )
        case StpChange():
            yield {"stp": change.after}


def _meant(fields: dict[str, Any], name: str, now: SwitchState) -> Change:
    match fields:
        case {"port": str(port), "leave": vid}:
            old = now.ports[port]
            new = replace(old, untagged_vids=old.untagged_vids - {vid}, tagged_vids=old.tagged_vids - {vid})
            return PortChange(name, port, old, new)
        case {"port": str(port), "join": vid, "as": form}:
            old = now.ports[port]
            if vid not in now.vids:
                raise Rejected(name, json.dumps(fields), "VLAN does not exist")
            return PortChange(name, port, old, replace(old, **{form: getattr(old, form) | {vid}}))
        case {"port": str(port), "set": key, "to": value}:
            old = now.ports[port]
            return PortChange(name, port, old, replace(old, **{key: value}))
        case {"vlan": vid, "exists": bool(exists)}:
            if not exists and any(vid in port.vids for port in now.ports.values()):
                raise Rejected(name, json.dumps(fields), "VLAN has members")
            return VlanChange(name, vid, vid in now.vids, exists)
        case {"vlan": vid, "mac": mac}:
            table = dict(now.statics.get(vid, {}))
            new_table = {**table, bytes.fromhex(mac): fields["at"]} if fields.get("at") else table.copy()
            if not fields.get("at"):
                new_table.pop(bytes.fromhex(mac), None)
            return StaticsChange(name, vid, table, new_table)
        case {"stp": on}:
            return StpChange(name, now.stp, on)
    raise Rejected(name, json.dumps(fields), "unknown")


@dataclass
class ToyLab:
    """The switches. `troubles` maps the number of an order, from 0, to what happens at it."""

    lab: Lab
    initial: State
    startup: State | None = None
    troubles: dict[int, Trouble] = field(default_factory=dict)
    garbage_at: frozenset[int] = frozenset()
    """Numbers of queries, from 0, that are answered with garbage."""

    boot_dials: int = 2
    """Number of connection attempts that a rebooting switch does not answer."""

    vanish_at: int | None = None
    """The number of an order at which its switch becomes unreachable, until `gone` is cleared."""

    file: Path | None = None
    stop: Stop = field(default_factory=Stop)
    way_in: tuple[str, int] | None = None
    world: World = _WORLD
    """With `way_in`: what spanning tree does."""

    def __post_init__(self) -> None:
        self.orders = 0
        self.questions = 0
        self.harms: list[str] = []
        self.lockouts: list[str] = []
        self.away: dict[str, int] = {}
        self.gone: set[str] = set()
        self.dials: dict[str, int] = {}
        self._guard = threading.RLock()
        self.startup = self.startup or self.initial
        self._patient = False
        self._restart_watch(self.initial)
        self._write()

    def _restart_watch(self, state: State) -> None:
        self._watch = Watch(self.lab, state, required_hosts(Topology.of(self.lab), self.initial))
        self._given = {fault.harm for fault in self._watch.faults}
        self._losses = Losses(self._watch)
        self._answering = self._reached()

    def _reached(self) -> frozenset[str]:
        if self.way_in is None:
            return frozenset(switch.name for switch in self.lab.switches)
        return answering(self.lab, self.state, self.way_in, self.world)

    @property
    def state(self) -> State:
        return self._watch.draft.freeze()

    def connect(self, switch: Switch) -> "ToySession":
        with self._guard:
            self.dials[switch.name] = self.dials.get(switch.name, 0) + 1
        return ToySession(self, switch)

    def backend(self, **others: Any) -> Backend:
        return Backend(
            self.connect,
            lambda _: ToyDriver(),
            self.abilities,
            **{"patience_s": 20.0, "pauses_s": (0.001,), "fresh_s": 0.0, **others},
        )

    @property
    def abilities(self) -> Abilities:
        return {switch.name: ToyDriver.capabilities for switch in self.lab.switches}

    def answer(self, name: str) -> str:
        with self._guard:
            self._reach(name)
            self.questions += 1
            if self.questions - 1 in self.garbage_at:
                return "% Unrecognised gibberish"
            return _Shown(state=self.state.switches[name]).model_dump_json()

    def execute(self, name: str, order: Line) -> None:
        with self._guard:
            self._reach(name)
            number = self.orders
            self.orders += 1
            trouble = self.troubles.get(number)
            if number == self.vanish_at:
                self.gone.add(name)
            fields = json.loads(order.text)
            if "save" in fields:
                assert self.startup is not None
                self.startup = State({**self.startup.switches, name: self.state.switches[name]})
            else:
                self._before(name, trouble)
                if trouble != "ignore":
                    self._make(_meant(fields, name, self.state.switches[name]))
                self._after(name, trouble)

    def _before(self, name: str, trouble: Trouble | None) -> None:
        if trouble == "reboot":
            self.reboot(name)
        if trouble in ("drop before", "hang", "refuse", "reboot"):
            self._fail(name, trouble)

    def _after(self, name: str, trouble: Trouble | None) -> None:
        if trouble == "stranger":
            self.meddle(name)
        for _ in range({"Ctrl-C": 1, "Ctrl-C twice": 2}.get(trouble or "", 0)):
            self.stop.ask()
        self._write()
        if trouble == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if trouble == "drop after":
            self._fail(name, trouble)

    def _reach(self, name: str) -> None:
        if name in self.gone or name not in self._answering:
            raise Unreachable(name, "nothing answers.")
        if self.away.get(name, 0) > 0:
            self.away[name] -= 1
            raise Unreachable(name, "connection refused.")

    def _fail(self, name: str, trouble: str) -> None:
        if trouble == "refuse":
            raise Rejected(name, "an order", "% not today")
        if trouble == "hang":
            self.away[name] = 1
        raise Unreachable(name, f"the session ended ({trouble}).")

    def reboot(self, name: str) -> None:
        """A switch loses its running configuration, and is away for a while."""
        with self._guard:
            assert self.startup is not None
            self.away[name] = self.boot_dials
            self._patient = True
            self._restart_watch(State({**self.state.switches, name: self.startup.switches[name]}))
            self._write()

    def meddle(self, name: str) -> None:
        """Another user changes a port that no plan touches."""
        with self._guard:
            port = self.lab.switch(name).ports[-1].name
            old = self.state.port(name, port)
            self._make(PortChange(name, port, old, replace(old, flow_control=not old.flow_control)))

    def _make(self, change: Change) -> None:
        made = self._losses.apply(change)
        cuts = [fault for fault in self._watch.faults if fault.parts_hosts and fault.harm not in self._given]
        self.harms += [f"{change}: {fault}" for fault in (made, *(() if self._patient else cuts)) if fault]
        before, self._answering = self._answering, self._reached()
        self.lockouts += [f"{change}: {name}" for name in sorted(before - self._answering)]

    def _write(self) -> None:
        if self.file is not None:
            assert self.startup is not None
            fresh = self.file.with_suffix(".new")
            fresh.write_text(Saved(running=self.state, startup=self.startup).model_dump_json(), encoding="utf-8")
            fresh.rename(self.file)


@dataclass
class ToySession:
    """A conversation with one toy switch."""

    toys: ToyLab
    switch: Switch
    closed: bool = False

    def ask(self, queries: Sequence[Query]) -> Answers:
        assert not self.closed
        return {query: self.toys.answer(self.switch.name) for query in queries}

    def send(self, order: Command) -> Acknowledged:
        assert not self.closed
        assert isinstance(order, Line)
        self.toys.execute(self.switch.name, order)
        return Acknowledged(order, 1, 2)

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True)
class Quiet:
    """A progress display that keeps its messages."""

    said: list[str] = field(default_factory=list)

    def begin(self, doing: str, rounds: int) -> None:
        return

    def step(self, doing: str) -> None:
        return

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def load(lab: Lab, file: Path) -> ToyLab:
    """The lab as a process that died left it."""
    saved = Saved.model_validate_json(file.read_text(encoding="utf-8"))
    return ToyLab(lab, saved.running, saved.startup, file=file)
