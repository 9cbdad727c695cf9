"""Power of switches and nodes from a run's windows, for a calibration."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import t as student

from analysis.calibration import AndujarPower, Estimate, NodePower, PortPower, PowerPart, SwitchPower
from analysis.interval import Interval, NotEnoughData
from analysis.power.andujar_power import AndujarFit, fit_andujar
from analysis.power.power_windows import Meter, mean_power, meters_of, switch_windows
from analysis.power.switch_power import SwitchPowerFit, fit_switch_power
from analysis.run_lab import lab_of_run
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
                windows = switch_windows(samples, device, meter)
                fit = fit_switch_power(windows, meter.series.step_watt, accuracy_share)
                switches[device] = switch_power(fit, families[device])
            elif device in node_names:
                nodes[device] = node_power(meter, trials, accuracy_share)
        except NotEnoughData as error:
            failures.append(f"{device}: {error}")
    if not switches and not nodes:
        raise NotEnoughData(
            " ".join(failures) or f"{samples.folder.name} has no watts of any switch or node: sample a power strip."
        )
    return PowerPart(switches=switches, nodes=nodes, andujar=_andujar(switches, nodes, failures)), tuple(failures)


def _estimate(found: Interval | None) -> Estimate | None:
    return None if found is None else Estimate.of(found)


def switch_power(fit: SwitchPowerFit, family: str) -> SwitchPower:
    """A fit as a part of a calibration."""
    return SwitchPower(
        family=family,
        base_watt=Estimate.of(fit.base_watt),
        port_by_mbps={
            mbps: PortPower(
                cable_watt=_estimate(port.cable),
                enabled_watt=_estimate(port.enabled),
                link_watt=_estimate(port.link),
                lpi_fraction=_estimate(port.lpi_fraction),
                residual_watt=_estimate(port.residual),
            )
            for mbps, port in fit.ports.items()
        },
        bit_picojoule=_estimate(fit.bit_picojoule),
        packet_nanojoule=_estimate(fit.packet_nanojoule),
        drift_watt=fit.drift_watt,
        noise_watt=fit.noise_watt,
        explained_fraction=fit.explained,
        window_count=fit.windows,
        unknown=fit.unknown,
    )


def node_power(meter: Meter, trials: Sequence[Trial], accuracy_share: float = 0.0) -> NodePower:
    """A node's idle power from its idle windows, and its loaded power from the program that draws most.

    Without loaded power if no program draws more than idle. NotEnoughData with fewer than two idle windows.
    """
    idle = _means(meter, [trial for trial in trials if trial.valid and trial.what in ("idle", "power")])
    if len(idle) < 2:
        raise NotEnoughData(
            "a node's idle power takes two windows without a program: measure some with `measure: idle`."
        )
    by_program: dict[str, list[float]] = {}
    for trial in trials:
        if trial.valid and trial.what == "program" and meter.device in trial.hosts:
            by_program.setdefault(trial.program, []).extend(_means(meter, [trial]))
    means = [_mean(values, accuracy_share) for values in by_program.values() if len(values) > 1]
    loaded = max(means, key=lambda one: one.value, default=None)
    if loaded is not None and loaded.value <= float(np.mean(idle)):
        loaded = None
    return NodePower(idle_watt=Estimate.of(_mean(idle, accuracy_share)), loaded_watt=_estimate(loaded))


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
    spread = float(student.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    half = float(np.hypot(spread, value * accuracy_share))
    return Interval.plus_minus(value, half)


def _andujar(
    switches: Mapping[str, SwitchPower], nodes: Mapping[str, NodePower], failures: list[str]
) -> AndujarPower | None:
    """From the first switch and node for which all four states are known."""
    for switch in switches.values():
        for node in nodes.values():
            if node.loaded_watt is None or not switch.port_by_mbps:
                continue
            port = switch.port_by_mbps[max(switch.port_by_mbps)]
            if port.link_watt is None:
                continue
            try:
                return _plain(_four_states(switch, port, node))
            except NotEnoughData as error:
                failures.append(f"Andujar's model: {error}")
                return None
    return None


_REFERENCE_PORTS = 36
"""Ports of the switch in the four states: as many as Andujar's has; the parameters hardly depend on the number."""


def _four_states(switch: SwitchPower, port: PortPower, node: NodePower) -> AndujarFit:
    if port.link_watt is None or node.loaded_watt is None:
        raise AssertionError("the caller has checked both")
    no_ports = switch.base_watt.interval
    parts = [one.interval for one in (port.enabled_watt, port.link_watt) if one is not None]
    more_watt = _REFERENCE_PORTS * sum(part.value for part in parts)
    half = float(np.hypot(no_ports.half_width, _REFERENCE_PORTS * np.hypot.reduce([part.half_width for part in parts])))
    value = no_ports.value + more_watt
    fraction = None if port.lpi_fraction is None else port.lpi_fraction.interval
    all_ports = Interval.plus_minus(value, half)
    return fit_andujar(
        no_ports, all_ports, _REFERENCE_PORTS, node.idle_watt.interval, node.loaded_watt.interval, fraction
    )


def _plain(fit: AndujarFit) -> AndujarPower:
    return AndujarPower(
        port_watt=Estimate.of(fit.port_watt),
        ports_fraction=Estimate.of(fit.ports_fraction),
        sleeping_port_fraction=Estimate.of(fit.sleeping_port_fraction),
        node_watt=Estimate.of(fit.node_watt),
        idle_node_fraction=Estimate.of(fit.idle_node_fraction),
    )
