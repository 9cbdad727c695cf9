"""Power of switches and nodes from a run's windows, for a calibration."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.special import stdtrit

from analysis.calibration import AndujarPower, Estimate, NodePower, PortPower, PowerPart, SwitchPower
from analysis.interval import Interval, NotEnoughData
from analysis.power.andujar_power import AndujarFit, fit_andujar
from analysis.power.plausible import CabledPorts
from analysis.power.power_windows import Meter, mean_power, meters_of, switch_windows
from analysis.power.screening import far_off
from analysis.power.switch_power import PortWatts, SwitchPowerFit, fit_switch_power
from analysis.run_lab import lab_of_run
from lab.model import Lab, Link
from record.samples import RunSamples
from record.trials import Trial, read_trials


def fit_power(samples: RunSamples, accuracy_share: float = 0.0) -> tuple[PowerPart, tuple[str, ...]]:
    """Every metered switch and node of a run, and sentences about what could not be fitted.

    `accuracy_share` is the class of the meters, 0.01 for 1 %. NotEnoughData if no device could be fitted.
    """
    lab = lab_of_run(samples.facts)
    meters = meters_of(samples)
    families = {switch.name: switch.family for switch in lab.switches} if lab is not None else {}
    node_names = {host.name for host in lab.hosts} if lab is not None else set()
    switches: dict[str, SwitchPower] = {}
    nodes: dict[str, NodePower] = {}
    failures: list[str] = []
    trials = read_trials(samples.folder)
    for device, meter in meters.items():
        try:
            if device in families:
                links = _links_at(lab, device)
                found = switch_windows(samples, device, meter, {port: link.kind for port, link in links.items()})
                ports = CabledPorts(len(links), 1e6 * sum(link.rate_mbps for link in links.values())) if links else None
                fit = fit_switch_power(found.windows, meter.series.step_watt, accuracy_share, cabled=ports)
                switches[device] = switch_power(fit, families[device], found.warnings)
            elif device in node_names:
                nodes[device] = node_power(meter, trials, accuracy_share)
        except NotEnoughData as error:
            failures.append(f"{device}: {error}")
    if not switches and not nodes:
        raise NotEnoughData(
            " ".join(failures) or f"{samples.folder.name} has no watts of any switch or node: sample a power strip."
        )
    andujar = andujar_power(lab, switches, nodes, failures)
    note = "" if lab is None else lab.watts_note
    return PowerPart(switches=switches, nodes=nodes, andujar=andujar, note=note), tuple(failures)


def _estimate(found: Interval | None) -> Estimate | None:
    return None if found is None else Estimate.of(found)


def _links_at(lab: Lab | None, switch: str) -> Mapping[str, Link]:
    """The cables of a switch by its port."""
    if lab is None:
        return {}
    ends = [(end, link) for link in lab.links for end in (link.a, link.b)]
    return {end.port: link for end, link in ends if end.device == switch}


def switch_power(fit: SwitchPowerFit, family: str, warnings: Sequence[str] = ()) -> SwitchPower:
    """A fit as a part of a calibration."""
    ports = {kind: {mbps: _port_power(port) for mbps, port in one.items()} for kind, one in fit.ports.items()}
    return SwitchPower(
        family=family,
        base_watt=Estimate.of(fit.base_watt),
        port_by_mbps=next(iter(ports.values())) if len(ports) == 1 else {},
        port_by_kind=ports if len(ports) > 1 else {},
        bit_picojoule=_estimate(fit.bit_picojoule),
        packet_nanojoule=_estimate(fit.packet_nanojoule),
        drift_watt=fit.drift_watt,
        noise_watt=fit.noise_watt,
        explained_fraction=fit.explained,
        window_count=fit.windows,
        unknown=fit.unknown,
        warnings=(*fit.warnings, *warnings),
    )


def _port_power(port: PortWatts) -> PortPower:
    return PortPower(
        cable_watt=_estimate(port.cable),
        enabled_watt=_estimate(port.enabled),
        link_watt=_estimate(port.link),
        lpi_fraction=_estimate(port.lpi_fraction),
        residual_watt=_estimate(port.residual),
        carrying_watt=_estimate(port.carrying),
    )


def node_power(meter: Meter, trials: Sequence[Trial], accuracy_share: float = 0.0) -> NodePower:
    """A node's idle power from its idle windows, and its loaded power from the program that draws most.

    Without loaded power if no program draws more than idle. NotEnoughData with fewer than two idle windows.
    """
    warnings: list[str] = []
    idle = _believed(
        _means(meter, [trial for trial in trials if trial.valid and trial.what in ("idle", "power")]), "idle", warnings
    )
    if len(idle) < 2:
        raise NotEnoughData(
            "a node's idle power takes two windows without a program: measure some with `measure: idle`."
        )
    by_program: dict[str, list[float]] = {}
    for trial in trials:
        if trial.valid and trial.what == "program" and meter.device in trial.hosts:
            by_program.setdefault(trial.program, []).extend(_means(meter, [trial]))
    believed = [_believed(values, program, warnings) for program, values in by_program.items()]
    means = [_mean(values, accuracy_share) for values in believed if len(values) > 1]
    loaded = max(means, key=lambda one: one.value, default=None)
    if loaded is not None and loaded.value <= float(np.mean(idle)):
        loaded = None
    return NodePower(
        idle_watt=Estimate.of(_mean(idle, accuracy_share)), loaded_watt=_estimate(loaded), warnings=tuple(warnings)
    )


def _believed(values: Sequence[float], what: str, warnings: list[str]) -> list[float]:
    """Windows that others of their kind confirm."""
    far = far_off(values)
    others = f"{np.median(values):.4g} W" if values else ""
    warnings += [f"A window ({what}) of {values[number]:.4g} W was left out: others have {others}." for number in far]
    return [value for number, value in enumerate(values) if number not in far]


def _means(meter: Meter, trials: Sequence[Trial]) -> list[float]:
    found = []
    for trial in trials:
        try:
            found.append(mean_power(meter.series, trial.begun_ns, trial.ended_ns).power_watt)
        except ValueError:
            continue
    return found


def _mean(values: Sequence[float], accuracy_share: float) -> Interval:
    """Mean of windows at different times, whose scatter includes the drift (Student), with the meter's class."""
    value = float(np.mean(values))
    spread = float(stdtrit(len(values) - 1, 0.975)) * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    half = float(np.hypot(spread, value * accuracy_share))
    return Interval.plus_minus(value, half)


def andujar_power(
    lab: Lab | None, switches: Mapping[str, SwitchPower], nodes: Mapping[str, NodePower], failures: list[str]
) -> AndujarPower | None:
    """From the first switch and node for which all four states are known."""
    for name, switch in switches.items():
        for node in nodes.values():
            if node.loaded_watt is None:
                continue
            ports = _connected(switch, _links_at(lab, name).values())
            if not ports:
                continue
            try:
                return _plain(_four_states(switch, ports, node))
            except NotEnoughData as error:
                failures.append(f"Andujar's model: {error}")
                return None
    return None


def _connected(switch: SwitchPower, links: Iterable[Link]) -> Sequence[PortPower]:
    """The power of each connected port at its rate, at the nearest rate that was measured; none if one was not."""
    found = []
    for link in links:
        measured = {mbps: one for mbps, one in switch.ports_of(link.kind).items() if one.link_watt is not None}
        if not measured:
            return ()
        found.append(measured[min(measured, key=lambda mbps: abs(mbps - link.rate_mbps))])
    return found


def _four_states(switch: SwitchPower, ports: Sequence[PortPower], node: NodePower) -> AndujarFit:
    """With all the lab's ports of this switch connected, as the paper counts them (section 2.4: 180 W / 36 ports).

    Both parameters depend on how many there are: the base is shared among them. Errors of ports that are alike are one
    error.
    """
    no_ports = switch.base_watt.interval
    keys = ("cable_watt", "enabled_watt", "link_watt")
    parts = dict.fromkeys((key, getattr(port, key)) for key in keys for port in ports)
    value, halves = no_ports.value, [no_ports.half_width]
    for key, part in parts:
        if part is None:
            continue
        count = sum(getattr(port, key) == part for port in ports)
        value += count * part.value
        halves.append(count * part.interval.half_width)
    fraction = next((port.lpi_fraction.interval for port in ports if port.lpi_fraction is not None), None)
    if node.loaded_watt is None:
        raise AssertionError("the caller has checked that the node was measured under load")
    all_ports = Interval.plus_minus(value, float(np.hypot.reduce(halves)))
    return fit_andujar(no_ports, all_ports, len(ports), node.idle_watt.interval, node.loaded_watt.interval, fraction)


def _plain(fit: AndujarFit) -> AndujarPower:
    return AndujarPower(
        port_watt=Estimate.of(fit.port_watt),
        ports_fraction=Estimate.of(fit.ports_fraction),
        sleeping_port_fraction=Estimate.of(fit.sleeping_port_fraction),
        node_watt=Estimate.of(fit.node_watt),
        idle_node_fraction=Estimate.of(fit.idle_node_fraction),
    )
