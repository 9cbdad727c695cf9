"""Faults that a user injects: each has a number and can be undone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Link
from eee_testbed.twin.faults.switch_faults import KINDS, SwitchFault, lose_power
from eee_testbed.twin.mains.mains import Mains
from eee_testbed.twin.network.topology import Topology
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.device_faults import Countdown
from eee_testbed.twin.switch.personality import Pace

CallLater = Callable[[float, Callable[[], None]], None]
"""Call a function after so many seconds, in the daemon's loop."""

CallSoon = Callable[[Callable[[], None]], None]
"""Call a function in the daemon's loop, from any thread."""

Rekey = Callable[[str, bool], None]
"""Give a switch another SSH host key (True), or its own again (False)."""

_SLOWEST_S = 3_600.0
"""Longest wait of a slow command line, for a command or a character."""


def _never() -> bool:
    return False


class Lossy(Protocol):
    """The part of an SNMP agent that loses requests."""

    def set_loss(self, fraction: float) -> None:
        """Drop this share of requests."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An active fault; `key` is (kind, target): the same fault injected again replaces it."""

    number: int
    key: tuple[str, str]
    sentence: str
    undo: Callable[[], None]
    ended: Callable[[], bool] = _never
    """Whether it has ended by itself."""


class Faults:
    """All faults of a lab. Call every method in the daemon's loop."""

    def __init__(
        self,
        topology: Topology,
        mains: Mains,
        agents: Mapping[str, Lossy],
        *,
        power: Callable[[str, bool], None],
        later: CallLater,
        soon: CallSoon,
        rekey: Rekey,
    ) -> None:
        self._topology = topology
        self._mains = mains
        self._agents = agents
        self._power = power
        self._later = later
        self._soon = soon
        self._rekey_switch = rekey
        self._active: dict[int, Fault] = {}
        self._next = 1
        self.cut_links: set[int] = set()
        self._kinds: dict[str, Callable[[str, Mapping[str, Any]], str]] = {
            "cut": self._cut,
            "mend": self._mend,
            "flap": self._flap,
            "power": self._switch_power,
            "rekey": self._rekey,
            "refuse": self._refuse,
            "slow": self._slow,
            "lose": self._lose,
            "freeze": self._freeze,
        }

    def inject(self, request: Mapping[str, Any]) -> dict[str, str]:
        """Inject one fault; the sentence says what was done."""
        kind = str(request["kind"])
        target = str(request["target"])
        if kind in KINDS:
            device = self._device(target)
            return {"sentence": self._inject_switch_fault(kind, device, KINDS[kind](device, request), request)}
        if kind not in self._kinds:
            raise LabError(f"unknown fault '{kind}': use one of {', '.join([*self._kinds, *KINDS])}.")
        return {"sentence": self._kinds[kind](target, request)}

    def active(self) -> list[dict[str, Any]]:
        """List the active faults."""
        for fault in tuple(self._active.values()):
            if fault.ended():
                del self._active[fault.number]
        return [{"number": fault.number, "sentence": fault.sentence} for fault in self._active.values()]

    def clear(self, number: int | None) -> list[str]:
        """Mend one fault, or all; return what was mended."""
        self.active()
        if number is not None and number not in self._active:
            raise LabError(f"fault {number} is not active: `eeectl lab fault list` shows the active ones.")
        mended = []
        for chosen in [number] if number is not None else sorted(self._active):
            fault = self._active.pop(chosen)
            fault.undo()
            mended.append(fault.sentence)
        return mended

    def _record(
        self, kind: str, target: str, sentence: str, undo: Callable[[], None], ended: Callable[[], bool] = _never
    ) -> str:
        self._discard(kind, target)
        self._active[self._next] = Fault(self._next, (kind, target), sentence, undo, ended)
        self._next += 1
        return sentence

    def _discard(self, kind: str, target: str) -> bool:
        numbers = [number for number, fault in self._active.items() if fault.key == (kind, target)]
        for number in numbers:
            del self._active[number]
        return bool(numbers)

    def _inject_switch_fault(
        self, kind: str, device: SwitchDevice, what: SwitchFault, request: Mapping[str, Any]
    ) -> str:
        """Break a switch now, or at the requested change of its configuration."""
        at_change = request.get("at_change")
        if at_change is None:
            what.at_once()
            return self._activate(kind, device.name, what)
        if int(at_change) < 1:
            raise LabError("changes of a switch's configuration are counted from 1: use 1 for the next one.")
        sentence = f"{what.sentence}, at change {at_change} of its configuration from now"
        waiting = f"{kind} at a change"

        def strike() -> None:
            what.at_once()
            self._soon(after)

        def after() -> None:
            self._discard(waiting, device.name)
            self._activate(kind, device.name, what)

        countdown = Countdown(int(at_change), strike)

        def undo() -> None:
            if countdown in device.faults.countdowns:
                device.faults.countdowns.remove(countdown)

        self._cancel(waiting, device.name)
        device.faults.countdowns.append(countdown)
        return self._record(waiting, device.name, sentence, undo)

    def _activate(self, kind: str, target: str, what: SwitchFault) -> str:
        what.after()
        if what.undo is None:
            return what.sentence
        return self._record(kind, target, what.sentence, what.undo, what.ended)

    def _cancel(self, kind: str, target: str) -> None:
        for fault in [fault for fault in self._active.values() if fault.key == (kind, target)]:
            del self._active[fault.number]
            fault.undo()

    def _link(self, text: str) -> Link:
        try:
            return self._topology.lab.find_link(text)
        except KeyError as error:
            raise LabError(
                f"unknown cable '{text}': name a host, an end such as {self._topology.lab.links[0].a}, or a number "
                f"from 1 to {len(self._topology.lab.links)}."
            ) from error

    def _device(self, name: str) -> SwitchDevice:
        if name not in self._topology.devices:
            raise LabError(f"unknown switch '{name}': use one of {', '.join(self._topology.devices)}.")
        return self._topology.devices[name]

    def _set_cut(self, link: Link, *, cut: bool) -> None:
        cable = self._topology.cables[link.number]
        if cut:
            self._topology.engine.cut(cable)
            self.cut_links.add(link.number)
        else:
            self._topology.engine.mend(cable)
            self.cut_links.discard(link.number)

    def _cut(self, target: str, _: Mapping[str, Any]) -> str:
        link = self._link(target)
        self._set_cut(link, cut=True)
        return self._record("cut", link.name, f"{link.name} is cut", lambda: self._set_cut(link, cut=False))

    def _mend(self, target: str, _: Mapping[str, Any]) -> str:
        link = self._link(target)
        if link.number not in self.cut_links:
            raise LabError(f"{link.name} is not cut, so it cannot be mended.")
        self._set_cut(link, cut=False)
        self._discard("cut", link.name)
        return f"{link.name} is mended"

    def _flap(self, target: str, request: Mapping[str, Any]) -> str:
        link = self._link(target)
        times, period_s = int(request["times"]), float(request["period_s"])
        if times < 1 or period_s <= 0.0:
            raise LabError("a cable flaps at least once, with a period above 0 s: correct --times or --period-s.")
        for index in range(times):
            self._later(index * period_s, lambda: self._set_cut(link, cut=True))
            self._later((index + 0.5) * period_s, lambda: self._set_cut(link, cut=False))
        return f"{link.name} flaps {times} times, once in {period_s:g} s"

    def _switch_power(self, target: str, request: Mapping[str, Any]) -> str:
        on = bool(request["on"])
        if target not in self._topology.devices and target not in self._topology.nics:
            raise LabError(f"unknown switch or host '{target}': `eeectl lab status` lists them.")
        if not on and target in self._topology.devices:
            device = self._topology.devices[target]
            return self._inject_switch_fault(
                "power", device, lose_power(device, lambda on: self._power(target, on)), request
            )
        if request.get("at_change") is not None:
            raise LabError("only `power SWITCH off` can wait for a change of configuration: leave --at-change out.")
        self._power(target, on)
        if on:
            self._discard("power", target)
            return f"{target} has power"
        return self._record("power", target, f"{target}'s plug is pulled", lambda: self._power(target, True))

    def _rekey(self, target: str, _: Mapping[str, Any]) -> str:
        self._device(target)
        self._rekey_switch(target, True)
        sentence = f"{target} has another SSH host key"
        return self._record("rekey", target, sentence, lambda: self._rekey_switch(target, False))

    def _refuse(self, target: str, request: Mapping[str, Any]) -> str:
        refuse = self._device(target).faults.refuse
        command = " ".join(str(request["command"]).split())
        refuse[command] = str(request["words"])
        sentence = f"{target} refuses '{command}' with '{request['words']}'"

        def undo() -> None:
            refuse.pop(command, None)

        return self._record("refuse", f"{target} {command}", sentence, undo)

    def _slow(self, target: str, request: Mapping[str, Any]) -> str:
        faults = self._device(target).faults
        pace = Pace(float(request["command_s"]), float(request["character_s"]))
        if not (0.0 <= pace.command_s <= _SLOWEST_S and 0.0 <= pace.character_s <= _SLOWEST_S):
            raise LabError(f"a command line waits 0 to {_SLOWEST_S:g} s per command and per character: correct that.")
        faults.pace = pace
        sentence = f"{target}'s command line takes {faults.pace.command_s:g} s per command"

        def undo() -> None:
            faults.pace = None

        return self._record("slow", target, sentence, undo)

    def _lose(self, target: str, request: Mapping[str, Any]) -> str:
        share = float(request["share"])
        if target not in self._agents:
            raise LabError(f"'{target}' has no SNMP agent: use one of {', '.join(self._agents)}.")
        if not 0.0 <= share <= 1.0:
            raise LabError(f"the share must be a number from 0 to 1, not {share:g}.")
        agent = self._agents[target]
        agent.set_loss(share)
        return self._record("lose", target, f"{target} loses {share:.0%} of SNMP requests", lambda: agent.set_loss(0.0))

    def _freeze(self, target: str, request: Mapping[str, Any]) -> str:
        outlet = request.get("outlet")
        where = target if outlet is None else f"{target}:{outlet}"
        try:
            self._mains.freeze(target, on=True, outlet=outlet)
        except KeyError as error:
            raise LabError(f"unknown strip or outlet '{where}': `eeectl lab status` lists the strips.") from error
        sentence = f"{where}'s readings are frozen"
        return self._record("freeze", where, sentence, lambda: self._mains.freeze(target, on=False, outlet=outlet))
