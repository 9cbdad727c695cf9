"""Watts of a port: with its link up, asleep and shut, for each family that was measured; of cards, what sleep saves."""

from collections.abc import Mapping

from eee_testbed.analysis.calibration import Estimate, NodePower, PortPower, SwitchPower
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.energies import added, product
from eee_testbed.analysis.report.findings.finding import Finding, listed, with_unit
from eee_testbed.analysis.report.measure import study_command
from eee_testbed.analysis.report.report_data import ReportData

_TOPIC = "What a port draws"


def watts(data: ReportData) -> Finding:
    """A statement for each family; its switch with the most windows speaks for it."""
    switches = {} if data.calibration is None else data.calibration.power.switches
    chosen: dict[str, tuple[str, SwitchPower]] = {}
    for name, switch in switches.items():
        family = switch.family or name
        if family not in chosen or switch.window_count > chosen[family][1].window_count:
            chosen[family] = name, switch
    told = {name: _sentence(name, family, switch) for family, (name, switch) in chosen.items()}
    cards = "" if data.calibration is None else _cards(data.calibration.power.nodes)
    sentences = [sentence for sentence in (*told.values(), cards) if sentence]
    if not sentences:
        return Finding(_TOPIC, "no port's power was fitted.", (), study_command(data))
    without = [name for name, sentence in told.items() if not sentence]
    if without:
        sentences.append(f"Ports of {listed(without)} were not turned off and on, so their power is unknown.")
    return Finding(_TOPIC, " ".join(sentences), ("parameters-power", "power-1"))


def _sentence(name: str, family: str, switch: SwitchPower) -> str:
    speeds = switch.port_by_mbps or next(iter(switch.port_by_kind.values()), {})
    if not speeds:
        return ""
    mbps = max(speeds)
    port = speeds[mbps]
    named = f"A port of {name} ({family.replace('_', ' ')}) at {mbps:,} Mb/s"
    if port.lpi_saved_watt is not None:
        saved = with_unit(port.lpi_saved_watt.interval, "W")
        return f"{named} saves {saved} asleep; its power with the link up is unknown, because no port was shut."
    parts = [text for text in (_up(port), _asleep(port), _shut(port)) if text]
    if not parts:
        return ""
    # Without a stage before a port was ever enabled, shut ports are the reference.
    over = ", beyond what it draws shut," if port.residual_watt is None else ""
    return f"{named} draws{over} {', '.join(parts)}."


def _cards(nodes: Mapping[str, NodePower]) -> str:
    """What hosts' cards save: that of the best known, and how many others were measured."""
    savings = [
        (name, node.card_saved_watt.interval) for name, node in nodes.items() if node.card_saved_watt is not None
    ]
    if not savings:
        return ""
    name, saved = min(savings, key=lambda saving: saving[1].half_width)
    others = {other: watts.value for other, watts in savings if other != name}
    return f"The card of {name} saves {with_unit(saved, 'W')} asleep{_of_others(others)}."


def _of_others(watts: Mapping[str, float]) -> str:
    """What other hosts' cards save: one by its name, more by how many, and from least to most."""
    if len(watts) > 1:
        return f"; those of {len(watts)} others {min(watts.values()):.2g} to {max(watts.values()):.2g} W"
    return "".join(f"; that of {name} {watt:.2g} W" for name, watt in watts.items())


def _active(port: PortPower) -> Interval | None:
    """An enabled port with its link up, without what low power does not reduce."""
    kept = [part.interval for part in (port.enabled_watt, port.link_watt) if part is not None]
    return added(kept) if port.link_watt is not None else None


def _up(port: PortPower) -> str:
    active = _active(port)
    whole = None if active is None else added([active, *_of(port.cable_watt)])
    return "" if whole is None else f"{with_unit(whole, 'W')} with its link up"


def _asleep(port: PortPower) -> str:
    active = _active(port)
    if active is None:
        return ""
    if port.lpi_fraction is None:
        return "an unknown power asleep (EEE was not switched, or no link slept)"
    whole = added([product(active, port.lpi_fraction.interval), *_of(port.cable_watt)])
    return "" if whole is None else f"{with_unit(whole, 'W')} asleep"


def _shut(port: PortPower) -> str:
    return "" if port.residual_watt is None else f"{with_unit(port.residual_watt.interval, 'W')} shut"


def _of(estimate: Estimate | None) -> list[Interval]:
    return [] if estimate is None else [estimate.interval]
