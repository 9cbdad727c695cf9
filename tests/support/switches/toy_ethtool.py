"""A toy copper or virtual NIC, and what `ethtool` prints for it.

What it says of virtual NICs was watched; the layout of the rest is that of ethtool's own source, from memory [M].
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


class Failed(Exception):
    """A command whose exit status is not 0; its text is what it printed."""


@dataclass
class Nic:
    """A port. `modes` are what copper can do; without any it is a virtual NIC, whose settings ethtool cannot change."""

    up: bool = True
    master: str = "br0"
    vlans: dict[int, set[str]] = field(default_factory=lambda: {1: {"PVID", "Egress Untagged"}})
    modes: tuple[int, ...] = (100, 1000)
    advertised: tuple[int, ...] = (100, 1000)
    eee: bool = False
    timer_us: int = 17
    pause: bool = False


def ethtool(nics: Mapping[str, Nic], words: list[str]) -> str:
    """What a command prints; Failed if it fails."""
    name = next(word for word in words if word in nics)
    nic = nics[name]
    if words == [name]:
        return _settings(name, nic)
    if not nic.modes:
        raise Failed("netlink error: Operation not supported")
    match words:
        case ["-a", _]:
            way = "on" if nic.pause else "off"
            return f"Pause parameters for {name}:\nAutonegotiate:\ton\nRX:\t\t{way}\nTX:\t\t{way}\n\n"
        case ["--show-eee", _]:
            return _eee(name, nic)
    _change(nic, words)
    return ""


def _change(nic: Nic, words: list[str]) -> None:
    match words:
        case ["-A", _, "rx", rx, "tx", tx]:
            assert rx == tx
            nic.pause = rx == "on"
        case ["-s", _, "autoneg", "on"]:
            nic.advertised = nic.modes
        case ["-s", _, "autoneg", "on", "speed", speed, "duplex", "full"]:
            nic.advertised = (int(speed),)
        case ["--set-eee", _, "eee", way, *more]:
            nic.eee = way == "on"
            if "tx-timer" in more:
                nic.timer_us = int(more[more.index("tx-timer") + 1])
        case _:
            raise AssertionError(f"the toy's ethtool does not know: {words}")


def _settings(name: str, nic: Nic) -> str:
    if not nic.modes:
        return f"Settings for {name}:\n\tSupports auto-negotiation: No\n\tSpeed: 10000Mb/s\n\tAuto-negotiation: off\n"
    return (
        f"Settings for {name}:\n\tSupported ports: [ TP ]\n"
        f"\tSupported link modes:   {_modes(nic.modes)}\n\tSupported pause frame use: Symmetric\n"
        f"\tSupports auto-negotiation: Yes\n\tAdvertised link modes:  {_modes(nic.advertised)}\n"
        f"\tAdvertised pause frame use: No\n\tSpeed: {max(nic.advertised)}Mb/s\n\tAuto-negotiation: on\n"
    )


def _eee(name: str, nic: Nic) -> str:
    return (
        f"EEE settings for {name}:\n\tEEE status: {'enabled - active' if nic.eee else 'disabled'}\n"
        f"\tTx LPI: {f'{nic.timer_us} (us)' if nic.eee else 'disabled'}\n"
        f"\tSupported EEE link modes:  {_modes(nic.modes)}\n"
        f"\tAdvertised EEE link modes:  {_modes(nic.modes)}\n"
        f"\tLink partner advertised EEE link modes:  {_modes(nic.modes)}\n"
    )


def _modes(speeds: tuple[int, ...]) -> str:
    return ("\n" + "\t" + " " * 24).join(f"{speed}baseT/Full" for speed in speeds)
