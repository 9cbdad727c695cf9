"""The EEE policy of each family of switches."""

from collections.abc import Iterator, Sequence

from eee_testbed.analysis.calibration import Estimate, LinkPolicy
from eee_testbed.analysis.report.findings.finding import Finding, listed, with_unit
from eee_testbed.analysis.report.measure import probe_command
from eee_testbed.analysis.report.report_data import ReportData
from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.lab.model import Lab

_TOPIC = "When links sleep"
_CARDS = "hosts' cards"


def policies(data: ReportData) -> Finding:
    """One statement for each family whose links were probed: a path of which all is known, the shortest one first."""
    links = {} if data.calibration is None else data.calibration.links
    if not links:
        return Finding(
            _TOPIC,
            "no EEE policy was fitted: echoes after pauses, with EEE on and off, show it.",
            (),
            probe_command(data),
        )
    labs = [lab for lab in (lab_of_run(run.facts) for run in data.runs) if lab is not None]
    families = _families(labs)
    hosts = {host.name for lab in labs for host in lab.hosts}
    chosen: dict[str, tuple[str, LinkPolicy]] = {}
    for name, link in links.items():
        devices = {end.split(":")[0] for end in link.ends}
        path_families = {families[device] for device in devices if device in families}
        family = " and ".join(sorted(path_families)) or (_CARDS if devices <= hosts else name)
        if family not in chosen or _order(name, link) < _order(*chosen[family]):
            chosen[family] = name, link
    # A path over two families says nothing that paths within each of them do not say.
    kept = {family: one for family, one in chosen.items() if " and " not in family} or chosen
    sentences = [_sentence(family, name, link) for family, (name, link) in kept.items()]
    missing = sorted(set(families.values()) - {part for family in chosen for part in family.split(" and ")})
    if missing:
        sentences.append(f"Links of {listed(missing)} were not probed.")
    return Finding(_TOPIC, " ".join(sentences), ("delay-1", "parameters-links"))


def _order(name: str, link: LinkPolicy) -> tuple[bool, bool, int, int]:
    """Paths of known transmitters first, then those not in a state of their own, then short ones, with many echoes."""
    count = link.sleeper_count + (0 if link.card_wake_us is None else link.card_count)
    return not link.which, "=" in name, count, -link.echo_count


def _families(labs: Sequence[Lab]) -> dict[str, str]:
    """Family of each switch of the runs' labs, to print."""
    return {switch.name: str(switch.family).replace("_", " ") for lab in labs for switch in lab.switches}


def _sentence(family: str, name: str, link: LinkPolicy) -> str:
    if link.kind == "off":
        pauses = f"in pauses of up to {link.largest_gap_us / 1e3:.3g} ms"
        if family == _CARDS:
            hosts = tuple(dict.fromkeys(end.split(":")[0] for end in link.ends))
            return f"The cards of {listed(hosts)} did not sleep {pauses}."
        return f"{family}: no link of {name} slept {pauses}."
    return f"{family}, {name}: {', '.join(_parts(link))}."


def _parts(link: LinkPolicy) -> Iterator[str]:
    if link.kind == "coalescing" and link.wait_us is not None:
        yield f"frames after a pause are held back for {_us(link.wait_us)}"
    if link.hold_us is not None:
        yield f"a link sleeps after {_us(link.hold_us)} without frames"
    if link.sleep_us is not None and link.kind != "fast":
        yield f"falls asleep in {_us(link.sleep_us)}"
    if link.kind == "hybrid" and link.fast_wake_us is not None:
        yield f"at first wakes fast, in {_us(link.fast_wake_us)}"
    if link.wake_us is not None and link.card_wake_us is not None and not link.which:
        yield f"and two groups of transmitters wake in {_pair(link.wake_us, link.card_wake_us)}"
        yield "echoes do not show which are the switch's and which the hosts'"
    elif link.wake_us is not None:
        cards = "" if link.card_wake_us is None else f", a host's card in {_us(link.card_wake_us)}"
        whose = "a transmitter" if link.card_wake_us is None else "the switch's port"
        yield f"and {whose} wakes in {_us(link.wake_us)}{cards}"


def _pair(first: Estimate, second: Estimate) -> str:
    """An unordered pair, the shorter one first."""
    one, other = sorted((first, second), key=lambda estimate: estimate.value)
    return f"{_us(one)} and {_us(other)}"


def _us(estimate: Estimate) -> str:
    return with_unit(estimate.interval, "µs")
