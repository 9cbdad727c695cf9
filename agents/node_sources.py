"""What a node reports of itself: its network cards and their EEE, its processors. Absent things are said once."""

from __future__ import annotations

import os
from pathlib import Path

from eee_testbed.agents.ethtool import Ethtool
from eee_testbed.agents.lpi_counters import lpi_counters
from eee_testbed.agents.metrics import Series, Source, Value
from eee_testbed.agents.netlink import Eee, EthtoolNetlink, Links

_COUNTERS = {
    "rx_bytes": ("receive_bytes_total", "byte"),
    "tx_bytes": ("transmit_bytes_total", "byte"),
    "rx_packets": ("receive_packets_total", ""),
    "tx_packets": ("transmit_packets_total", ""),
    "rx_errors": ("receive_errors_total", ""),
    "tx_errors": ("transmit_errors_total", ""),
    "rx_dropped": ("receive_dropped_total", ""),
    "tx_dropped": ("transmit_dropped_total", ""),
}
_CPU_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_PROC_STAT = Path("/proc/stat")
_CPU_FOLDER = Path("/sys/devices/system/cpu")


def card_source(interface: str) -> Source:
    """The kernel's 64-bit counters and the link state; OSError ENODEV if the interface does not exist."""
    links, card = Links(), Ethtool(interface)
    links.link(interface)
    label = {"interface": interface}
    series = [
        Series(f"network_{name}", unit, f"{name.split('_total')[0].replace('_', ' ')} (kernel)", label)
        for name, unit in _COUNTERS.values()
    ]
    series += [
        Series("network_up", "", "1: the link is up", label),
        Series("network_carrier_changes_total", "", "times that the link went down or came up", label),
        Series("network_rate_bits_per_second", "bit/s", "rate of the link", label),
    ]

    def read() -> list[Value]:
        link = links.link(interface)
        rate_mbps: int | None
        try:
            rate_mbps = card.rate_mbps()
        except OSError:
            rate_mbps = None
        counted: list[Value] = [link.counters.get(name) for name in _COUNTERS]
        return [*counted, int(link.up), link.carrier_changes, None if rate_mbps is None else rate_mbps * 1_000_000]

    return Source(f"{interface}: counters", tuple(series), read)


class _EeeReader:
    """Reads EEE over ethtool netlink, or over the ioctl where the kernel or the driver has only that."""

    def __init__(self, interface: str) -> None:
        self._interface = interface
        self._ethtool = Ethtool(interface)
        try:
            self._netlink: EthtoolNetlink | None = EthtoolNetlink()
            self._netlink.eee(interface)
        except OSError:
            self._netlink = None

    @property
    def transport(self) -> str:
        """The kernel's interface for ethtool requests that is used."""
        return "ioctl" if self._netlink is None else "netlink"

    def eee(self) -> Eee:
        """EEE now; OSError EOPNOTSUPP if the driver has none."""
        return self._ethtool.eee() if self._netlink is None else self._netlink.eee(self._interface)


def eee_source(interface: str) -> Source:
    """EEE of a card as its driver reports it."""
    name = f"{interface}: EEE"
    card = _EeeReader(interface)
    try:
        first = card.eee()
    except OSError as error:
        return Source(name, absent=f"{interface}'s driver reports no EEE: {error.strerror}")
    label = {"interface": interface}
    series = (
        Series("eee_enabled", "", "1: EEE is configured", label),
        Series("eee_active", "", "1: both ends agreed on EEE and it is in force", label),
        Series("eee_transmit_lpi_enabled", "", "1: this end may ask for LPI", label),
        Series("eee_hold_seconds", "s", "idle time after which this end asks for LPI", label),
    )

    def read() -> list[Value]:
        now = card.eee()
        return [int(now.enabled), int(now.active), int(now.transmit_lpi), now.hold_us / 1e6]

    modes = {"supported": first.supported, "advertised": first.ours, "partner": first.peers}
    facts: dict[str, object] = {
        "asked_by": card.transport,
        "link_modes": {key: hex(bits) for key, bits in modes.items()},
    }
    return Source(name, series, read, facts=facts)


def lpi_source(interface: str) -> Source:
    """The driver's own counters of LPI."""
    name = f"{interface}: LPI counters"
    card = Ethtool(interface)
    try:
        driver = card.driver()
        names = card.statistic_names(driver.statistics) if driver.statistics else []
    except OSError as error:
        return Source(name, absent=f"{interface} has no counters of its own: {error.strerror}")
    places = lpi_counters(driver.name, names)
    if not places:
        return Source(name, absent=f"{interface}'s driver {driver.name} counts no LPI")
    series = tuple(
        Series(
            f"lpi_{what.counts}_total",
            "of the driver" if what.counts in {"duration", "unknown"} else "",
            f"LPI {what.counts.replace('_', ' ')}, {what.direction}, as the driver counts it",
            {"interface": interface, "direction": what.direction, "statistic": statistic},
        )
        for statistic, what in places.values()
    )

    def read() -> list[Value]:
        values = card.statistics(driver.statistics)
        return [values[place] for place in places]

    return Source(name, series, read, facts={"driver": driver.name, "firmware": driver.firmware})


def cpu_source() -> Source:
    """Time that all processors together spent in each mode (proc(5), /proc/stat)."""
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    series = tuple(Series("cpu_seconds_total", "s", "time in this mode, all CPUs", {"mode": m}) for m in _CPU_MODES)

    def read() -> list[Value]:
        with _PROC_STAT.open(encoding="ascii") as file:
            fields = file.readline().split()
        return [int(word) * tick_s for word in fields[1 : 1 + len(_CPU_MODES)]]

    return Source("processors", series, read, facts={"cpus": os.cpu_count()})


def frequency_source() -> Source:
    """Clock of the processors: the mean, the least and the most of all."""
    files = sorted(_CPU_FOLDER.glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))
    if not files:
        return Source("frequency", absent="the kernel does not report the processors' frequency")
    names = {"mean": "mean", "least": "least", "most": "most"}
    series = tuple(Series("cpu_frequency_hertz", "Hz", f"{what} of all CPUs", {"of": what}) for what in names)

    def read() -> list[Value]:
        rates_hertz = [int(file.read_text(encoding="ascii")) * 1_000 for file in files]
        return [sum(rates_hertz) / len(rates_hertz), min(rates_hertz), max(rates_hertz)]

    return Source("frequency", series, read)
