"""Power of switches and nodes from the windows of runs, for a calibration."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from eee_testbed.analysis.calibration import AndujarPower, Estimate, NodePower, PortPower, PowerPart, SwitchPower
from eee_testbed.analysis.interval import Interval, NotEnoughData
from eee_testbed.analysis.power.andujar_power import AndujarFit, fit_andujar
from eee_testbed.analysis.power.node_power import CardLink, NodeRun, node_power
from eee_testbed.analysis.power.plausible import CabledPorts
from eee_testbed.analysis.power.port_states import PortReader
from eee_testbed.analysis.power.power_windows import Meter, SwitchWindows, meters_of, switch_windows
from eee_testbed.analysis.power.switch_power import PortWatts, SwitchPowerFit, fit_switch_power
from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.topology import Topology
from eee_testbed.record.samples import RunSamples


def fit_power(runs: Sequence[RunSamples], accuracy_share: float = 0.0) -> tuple[PowerPart, tuple[str, ...]]:
    """Every metered switch and node of a lab's runs, fitted to the windows of all of them together.

    Also sentences about what could not be fitted. `accuracy_share` is the class of the meters, 0.01 for 1 %.
    NotEnoughData if no device could be fitted.
    """
    labs = [lab_of_run(run.facts) for run in runs]
    lab = next((described for described in labs if described is not None), None)
    metered = [_Metered(lab, run, meters_of(run)) for run in runs]
    families = {switch.name: switch.family for switch in lab.switches} if lab is not None else {}
    node_names = {host.name for host in lab.hosts} if lab is not None else set()
    switches: dict[str, SwitchPower] = {}
    nodes: dict[str, NodePower] = {}
    failures: list[str] = []
    for device in sorted({device for run in metered for device in run.meters}):
        seen = [run for run in metered if device in run.meters]
        step_watt = max(run.meters[device].series.step_watt for run in seen)
        try:
            if device in families:
                links = _links_at(lab, device)
                by_run = [run.switch_windows(device) for run in seen]
                windows = [window for windows_of_run in by_run for window in windows_of_run.windows]
                doubts = [sentence for windows_of_run in by_run for sentence in windows_of_run.warnings]
                ports = CabledPorts(len(links), 1e6 * sum(link.rate_mbps for link in links.values())) if links else None
                fit = fit_switch_power(windows, step_watt, accuracy_share, cabled=ports)
                switches[device] = switch_power(fit, families[device], doubts)
            elif device in node_names:
                nodes[device] = node_power([run.node(device) for run in seen], step_watt, accuracy_share)
        except NotEnoughData as error:
            failures.append(f"{device}: {error}")
    if not switches and not nodes:
        names = ", ".join(run.folder.name for run in runs)
        raise NotEnoughData(" ".join(failures) or f"{names}: no watts of any switch or node; sample a power strip.")
    andujar = andujar_power(lab, switches, nodes, failures)
    note = "" if lab is None else lab.watts_note
    return PowerPart(switches=switches, nodes=nodes, andujar=andujar, note=note), tuple(failures)


class _Metered:
    """A run with its meters by device; each switch's counters are read once."""

    def __init__(self, lab: Lab | None, samples: RunSamples, meters: Mapping[str, Meter]) -> None:
        self.meters = meters
        self._lab, self._samples = lab, samples
        self._trials = samples.trials
        self._homes = {} if lab is None else Topology.of(lab).homes
        self._readers: dict[str, PortReader] = {}

    def switch_windows(self, switch: str) -> SwitchWindows:
        kinds = {port: link.kind for port, link in _links_at(self._lab, switch).items()}
        return switch_windows(self._trials, self._ports(switch), self.meters[switch], kinds)

    def node(self, host: str) -> NodeRun:
        home = self._homes.get(host)
        card = None if home is None else CardLink(self._ports(home.device), home.port)
        return NodeRun(self.meters[host], self._trials, card)

    def _ports(self, switch: str) -> PortReader:
        if switch not in self._readers:
            self._readers[switch] = PortReader(self._samples, switch)
        return self._readers[switch]


def _estimate(interval: Interval | None) -> Estimate | None:
    return None if interval is None else Estimate.of(interval)


def _links_at(lab: Lab | None, switch: str) -> Mapping[str, Link]:
    """The cables of a switch by its port."""
    if lab is None:
        return {}
    ends = [(end, link) for link in lab.links for end in (link.a, link.b)]
    return {end.port: link for end, link in ends if end.device == switch}


def switch_power(fit: SwitchPowerFit, family: str, warnings: Sequence[str] = ()) -> SwitchPower:
    """A fit as a part of a calibration."""
    ports = {kind: {mbps: _port_power(port) for mbps, port in by_mbps.items()} for kind, by_mbps in fit.ports.items()}
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
        lpi_saved_watt=_estimate(port.lpi_saved),
        residual_watt=_estimate(port.residual),
        carrying_watt=_estimate(port.carrying),
    )


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
    connected = []
    for link in links:
        measured = {mbps: port for mbps, port in switch.ports_of(link.kind).items() if port.link_watt is not None}
        if not measured:
            return ()
        connected.append(measured[min(measured, key=lambda mbps: abs(mbps - link.rate_mbps))])
    return connected


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
