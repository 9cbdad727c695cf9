"""Power of a lab's switches and nodes while a program runs, from the calibration. Draws, shape (draws,).

A switch draws its base, what each cabled port adds stage by stage, and what traffic adds (NetPowerBench's model; see
`analysis.power.switch_power`). A port's `link_watt` is reduced by its share of time in low power.

Simplifications, each of which widens the interval or causes a warning:

* A port's share of low power is the mean over its directions that sleep, as its fraction in low power was fitted with
  that mean. 1000BASE-T is in low power only while both directions are, which gaps by direction do not show.
* A node saves by EEE what its card was measured to save asleep, times its link's share of deep sleep; nothing if that
  was not measured. A loaded node's power is taken as that with its card awake: its windows do not show how long it
  slept, so that at most what a card saves is counted twice.
* Trunks carry many nodes' frames; their gaps were not recorded. Their share is drawn evenly between 0 and that of the
  nodes' links.
* Links of nodes that do not run the program are in low power all the time.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eee_testbed.analysis.calibration import Calibration, PortPower, SwitchPower
from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.predict.asked_mode import AskedMode
from eee_testbed.analysis.predict.run_time import GapTable
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.site import Load, Site, SitePort
from eee_testbed.analysis.predict.what_if import WhatIf
from eee_testbed.analysis.programs.profile import Direction, Profile


@dataclass(frozen=True, slots=True)
class Rest:
    """Share of the time that a link spends in low power, by kind: deep sleep and fast wake; draws."""

    deep: Floats
    fast: Floats

    @property
    def share(self) -> Floats:
        """Both."""
        return self.deep + self.fast


def rest_of(
    gaps: GapTable, mode: AskedMode, time_s: Floats, directions: tuple[Direction, ...] = ("transmit", "receive")
) -> Rest:
    """For the nodes' links: mean over the directions that sleep, over the whole run."""
    return share_of_run(slept_of(gaps, mode, time_s.size, directions), gaps, time_s)


def slept_of(
    gaps: GapTable, mode: AskedMode, draws: int, directions: tuple[Direction, ...] = ("transmit", "receive")
) -> tuple[Floats, Floats]:
    """(deep, fast): microseconds that all nodes' links are in low power, mean over the directions that sleep; draws."""
    deep, fast = np.zeros(draws), np.zeros(draws)
    for direction in directions:
        slept_us = mode.low_power_us(gaps.gap_us[direction][None, :])
        deep += np.broadcast_to(slept_us[0] @ gaps.count[direction], draws) / len(directions)
        fast += np.broadcast_to(slept_us[1] @ gaps.count[direction], draws) / len(directions)
    return deep, fast


def share_of_run(slept_us: tuple[Floats, Floats], gaps: GapTable, time_s: Floats) -> Rest:
    """The shares of a run of this length that `slept_of` is."""
    deep, fast = slept_us
    scale = gaps.link_count * time_s * 1e6
    share = (deep + fast) / scale
    # Gaps are known to within bins, so their sum may exceed the run.
    most = np.maximum(share, 1.0)
    return Rest(deep / scale / most, fast / scale / most)


@dataclass(frozen=True, slots=True)
class Power:
    """Watts of all switches, and of all nodes; None where nothing was fitted."""

    network_watt: Floats | None
    nodes_watt: Floats | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """The program and the question: `off` are the numbers of links that are off, `rest` the nodes' links' low power."""

    profile: Profile
    what_if: WhatIf
    off: frozenset[int]
    mode: AskedMode
    rest: Rest
    load: Load
    time_s: Floats


def power_of(site: Site, calibration: Calibration, asked: Asked, sampler: Sampler) -> Power:
    """While the program runs."""
    warnings: dict[str, None] = {}
    total: Floats | None = None
    unknown: list[str] = []
    unknown_of: dict[str, list[str]] = {}
    for name, ports in site.switches.items():
        switch_power = switch_power_of(calibration, name, site.families[name])
        if switch_power is None:
            unknown.append(name)
            continue
        watt = sampler.of(f"{name} base_watt", switch_power.base_watt)
        for port in ports:
            watt = watt + _port_watt(port, switch_power, asked, sampler, warnings)
        for sentence in switch_power.unknown:
            unknown_of.setdefault(sentence, []).append(name)
        total = watt if total is None else total + watt
    warnings |= dict.fromkeys(f"{', '.join(names)}: {sentence}" for sentence, names in unknown_of.items())
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        warnings[f"no power was fitted for {', '.join(unknown)}, which {verb} left out."] = None
    if total is not None:
        total = total + _traffic_watt(site, calibration, asked, sampler, warnings)
    nodes = _nodes_watt(site, calibration, asked, sampler, warnings)
    return Power(total, nodes, tuple(warnings))


def switch_power_of(calibration: Calibration, name: str, family: str) -> SwitchPower | None:
    """Fit of a switch, else of another of its family; None without either."""
    switches = calibration.power.switches
    if name in switches:
        return switches[name]
    return next((power for key, power in switches.items() if family and family in (power.family, key)), None)


def _port_watt(
    port: SitePort, switch_power: SwitchPower, asked: Asked, sampler: Sampler, warnings: dict[str, None]
) -> Floats:
    rate = min(port.rate_mbps, asked.what_if.speed_mbps or port.rate_mbps)
    by_mbps = switch_power.ports_of(port.kind)
    if switch_power.port_by_kind and port.kind not in switch_power.port_by_kind:
        warnings[f"a port with a {port.kind} cable was not measured: the power of another kind is assumed."] = None
    stages = by_mbps.get(rate)
    if stages is None:
        if not by_mbps:
            warnings["the power of ports was not fitted: ports are left out."] = None
            return np.zeros(sampler.count)
        nearest = min(by_mbps, key=lambda mbps: abs(mbps - port.rate_mbps))
        warnings[f"a port at {rate} Mb/s was not measured: its power at {nearest} Mb/s is assumed."] = None
        rate, stages = nearest, by_mbps[nearest]
    kind = f"{port.kind} " if port.kind in switch_power.port_by_kind else ""

    def draws(key: str) -> Floats:
        return sampler.of(f"{kind}{rate} {key}", getattr(stages, key))

    if port.link in asked.off:
        return _shut_watt(stages, draws, warnings)
    for key in ("cable_watt", "enabled_watt", "link_watt"):
        if getattr(stages, key) is None:
            warnings[f"{key.removesuffix('_watt')} power of a port was not measured: 0 W is assumed."] = None
    up_watt = draws("enabled_watt") + draws("link_watt")
    saved = _saved(port, stages, asked, up_watt, sampler)
    return draws("cable_watt") + up_watt - saved + draws("carrying_watt") * _carries(port, asked.profile, sampler)


def _carries(port: SitePort, profile: Profile, sampler: Sampler) -> Floats | float:
    """Whether a port carries traffic of the program; of trunks, some share does."""
    if port.role == "trunk":
        return sampler.uniform("trunk carries", 0.0, 1.0)
    return float(port.peer in profile.hosts)


def _shut_watt(stages: PortPower, draws: Callable[[str], Floats], warnings: dict[str, None]) -> Floats:
    if stages.residual_watt is not None:
        return draws("residual_watt")
    warnings["the power of a port that is shut was not measured: that of its cable is assumed."] = None
    return draws("cable_watt")


def _saved(port: SitePort, stages: PortPower, asked: Asked, up_watt: Floats, sampler: Sampler) -> Floats:
    """Watts that low power saves, of those of an enabled port and its link, or of the base that these are in."""
    mode, rest = asked.mode, asked.rest
    if port.role == "trunk":
        part = sampler.uniform("trunk", 0.0, 1.0)
        deep, fast = rest.deep * part, rest.fast * part
    else:
        own = _rest_of_host(port.peer, asked)
        deep, fast = own.deep, own.fast
    fitted = np.clip(sampler.of("lpi_fraction", stages.lpi_fraction, missing=1.0), 0.0, 1.0)
    deep_fraction = fitted if mode.deep_fraction is None else mode.deep_fraction[:, 0]
    fast_fraction = fitted if mode.fast_fraction is None else mode.fast_fraction[:, 0]
    saved: Floats = up_watt * (deep * (1 - deep_fraction) + fast * (1 - fast_fraction))
    return saved + sampler.of("lpi_saved_watt", stages.lpi_saved_watt) * deep


def _rest_of_host(host: str, asked: Asked) -> Rest:
    """Of a host's link: as `rest` where it runs the program, else all the time."""
    mode = asked.mode
    if host in asked.profile.hosts:
        return asked.rest
    asleep = (np.asarray(mode.policy.hold_us) < np.inf).astype(float).ravel()
    only_fast = np.isinf(np.asarray(mode.policy.deep_after_us)).astype(float).ravel()
    return Rest(asleep * (1 - only_fast), asleep * only_fast)


def _traffic_watt(
    site: Site, calibration: Calibration, asked: Asked, sampler: Sampler, warnings: dict[str, None]
) -> Floats:
    """Bits and packets, at every switch that they pass; a mean over the switches' fits.

    Fits whose energy of a bit is not significantly above 0 are ignored: their values are noise.
    """
    profile = asked.profile
    fits = [switch_power_of(calibration, name, site.families[name]) for name in site.switches]
    measured = [fit for fit in fits if fit is not None and fit.bit_picojoule is not None]
    seen = [fit for fit in measured if fit.bit_picojoule is not None and fit.bit_picojoule.low > 0]
    if measured and not seen:
        warnings["the power of traffic was not measurable above the meters' noise: it is left out."] = None
    if not seen:
        return np.zeros(sampler.count)
    sent_byte = sum(node.transmit.size_byte for node in profile.gaps.values())
    if not sent_byte:
        sent_byte = profile.call_count * profile.message_byte * len(profile.hosts)
    frames = sum(node.transmit.frame_count for node in profile.gaps.values())
    passes = max(asked.load.mean_switches, 1.0)
    picojoule = np.mean([sampler.of("bit_picojoule", fit.bit_picojoule) for fit in seen], axis=0)
    nanojoule = np.mean([sampler.of("packet_nanojoule", fit.packet_nanojoule) for fit in seen], axis=0)
    watt: Floats = passes * (8 * sent_byte * picojoule * 1e-12 + frames * nanojoule * 1e-9) / asked.time_s
    return watt


def _nodes_watt(
    site: Site, calibration: Calibration, asked: Asked, sampler: Sampler, warnings: dict[str, None]
) -> Floats | None:
    profile = asked.profile
    nodes = calibration.power.nodes
    if not nodes:
        warnings["no node's power was fitted: energy is that of the network alone."] = None
        return None
    total: Floats = np.zeros(sampler.count)
    for host in site.hosts:
        node = nodes.get(host)
        if node is None:
            name, node = next(iter(nodes.items()))
            warnings[f"not every node was measured: the power of {name} is assumed for the others."] = None
        loaded = node.loaded_watt
        if host in profile.hosts and loaded is None:
            warnings["no node was measured under load: idle power is assumed."] = None
        of_interest = loaded if host in profile.hosts and loaded is not None else node.idle_watt
        saved = sampler.of(f"{host} card_saved_watt", node.card_saved_watt)
        asleep = _rest_of_host(host, asked).deep
        if node.card_saved_watt is None and np.any(asleep > 0):
            warnings["what some nodes' cards save by EEE was not measured: it is left out."] = None
        total = total + sampler.of(f"{host} node_watt", of_interest) - saved * asleep
    return total
