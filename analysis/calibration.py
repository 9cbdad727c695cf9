"""`calibration.yaml`: fitted parameters with their intervals and provenance, which predictions and reports read.

Every measured parameter is an `Estimate`: a value with its 95 % interval, in the unit that is the last word of its
key. An end of the interval may be `.inf`: the data set no bound on that side. Parts that were not fitted are omitted.

    format: 1
    links:     {NAME: LinkPolicy}      a path, or a group of ends that behave alike; `ends` names the ends that sleep
    power:     {switches: {NAME: SwitchPower}, nodes: {NAME: NodePower}, andujar: AndujarPower}
    run_time:  {NAME: ProgramTime}     a program at one placement, such as "alltoall 4x1"

`merged` joins calibrations of one lab; a part of the later one replaces the same part of the earlier one.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.yaml_file import read_model, write_yaml
from eee_testbed.lab.errors import LabError
from eee_testbed.record.store import versions

FORMAT: Final = 1

Finite = Annotated[float, Field(allow_inf_nan=False)]


class CalibrationError(LabError):
    """A calibration cannot be read, written or merged; the message names file, key and remedy."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Estimate(_Part):
    """A value with its 95 % interval, in the unit that the key says."""

    value: Finite
    low: float
    high: float

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"the interval {self.low} to {self.high} does not hold the value {self.value}")
        return self

    @classmethod
    def of(cls, interval: Interval) -> Self:
        """From an interval."""
        return cls(value=interval.value, low=interval.low, high=interval.high)

    @property
    def interval(self) -> Interval:
        """As an interval."""
        return Interval(self.value, self.low, self.high)


class LinkPolicy(_Part):
    """EEE policy of the transmitters at `ends`, from echoes with EEE on and off (`analysis.links.eee_policy`).

    `sleeper_count` transmitters of the probed path have this policy. `kind` "off": no sleep after gaps of up to
    `largest_gap_us`; longer gaps were not probed. "fast": like "hold", without a Ts. `wake_us` is Tw of one
    transmitter, `path_wake_us` the sum of Tw over a round trip with all transmitters asleep. `card_...` belong to a
    second group of `card_count` transmitters, if there are two groups: the hosts' cards (NICs), or the ports of the
    other direction. `which` False: the echoes do not show which transmitters sleep; the two groups may be exchanged.
    `base_us`: round-trip time of the path when it is awake; `noise_us`: scale of its errors. `explained_fraction`:
    share of the scatter of round-trip times that hosts and policy explain. `evidence`: difference of the information
    criterion to the next best kind (above 10: very strong). `stream_every_us`: another host sent a frame to both hosts
    this often, to keep the ports to them awake; None: no such stream. `symptoms`: sentences about other effects on the
    path (`analysis.links.link_symptoms`). `unknown`: sentences about what could not be determined.
    """

    ends: tuple[str, ...]
    kind: Literal["off", "hold", "fast", "coalescing", "hybrid"]
    sleeper_count: int = Field(ge=1)
    card_count: int = Field(default=2, ge=1)
    which: bool = True
    path_wake_us: Estimate | None = None
    largest_gap_us: Finite
    base_us: Estimate
    noise_us: Estimate
    hold_us: Estimate | None = None
    sleep_us: Estimate | None = None
    wake_us: Estimate | None = None
    fast_wake_us: Estimate | None = None
    deep_after_us: Estimate | None = None
    wait_us: Estimate | None = None
    card_hold_us: Estimate | None = None
    card_sleep_us: Estimate | None = None
    card_wake_us: Estimate | None = None
    echo_count: int = Field(ge=0)
    lost_count: int = Field(ge=0)
    explained_fraction: Finite
    evidence: float
    stream_every_us: float | None = None
    symptoms: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class PortPower(_Part):
    """What one port adds to a switch's draw at one speed, stage by stage; None: the stage was not measured.

    `cable_watt`: a cable or transceiver is plugged in, the port is shut. `enabled_watt`: in addition, if the port is
    enabled and the link down. `link_watt`: in addition, if the link is up and idle without EEE. `lpi_fraction`:
    fraction of the last two that is left in low-power idle. `lpi_saved_watt`: saving of a port in low-power idle, if no
    port was shut and the watts of a link are therefore part of the switch's base. `residual_watt`: power over base of a
    port that was up and is shut again; if it equals the sum of the stages, shutting a port saves nothing.
    `carrying_watt`: in addition, if the port carries any traffic (NetPowerBench's P_offset).
    """

    cable_watt: Estimate | None = None
    enabled_watt: Estimate | None = None
    link_watt: Estimate | None = None
    lpi_fraction: Estimate | None = None
    lpi_saved_watt: Estimate | None = None
    residual_watt: Estimate | None = None
    carrying_watt: Estimate | None = None


class SwitchPower(_Part):
    """A switch's power (`analysis.power.switch_power`): base + ports by speed in Mb/s + traffic.

    `port_by_mbps`: its ports, if all cables are of one kind; otherwise `port_by_kind`, by kind of cable, then by speed.
    `bit_picojoule` and `packet_nanojoule` are per bit and packet that the switch forwards. NetPowerBench's E_bit and
    E_pkt are per interface, and so half as large: see `per_interface`. `drift_watt`: standard deviation of the drift
    that the fit removed; `noise_watt`: that of the readings around the fit. `explained_fraction`: R2. `unknown`:
    sentences about what the data do not determine. `warnings`: sentences about reasons to doubt the rest.
    """

    family: str = ""
    base_watt: Estimate
    port_by_mbps: Mapping[int, PortPower] = Field(default_factory=dict)
    port_by_kind: Mapping[str, Mapping[int, PortPower]] = Field(default_factory=dict)
    bit_picojoule: Estimate | None = None
    packet_nanojoule: Estimate | None = None
    drift_watt: Finite
    noise_watt: Finite
    explained_fraction: Finite
    window_count: int = Field(ge=0)
    unknown: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def ports_of(self, kind: str) -> Mapping[int, PortPower]:
        """By speed, ports with a kind of cable; those with another kind if it was not measured."""
        every = self.port_by_mbps or next(iter(self.port_by_kind.values()), {})
        return self.port_by_kind.get(kind, every)

    @property
    def per_interface(self) -> tuple[Estimate | None, Estimate | None]:
        """(pJ a bit, nJ a packet), each counted where it is received and where it is sent, as NetPowerBench does."""
        return _half(self.bit_picojoule), _half(self.packet_nanojoule)


def _half(estimate: Estimate | None) -> Estimate | None:
    return (
        None if estimate is None else Estimate(value=estimate.value / 2, low=estimate.low / 2, high=estimate.high / 2)
    )


class NodePower(_Part):
    """A node's power (`analysis.power.node_power`), idle and with all its cores busy.

    `card_saved_watt`: saving of its card (NIC) at the outlet while its link, at `card_mbps`, is in low-power idle in
    both directions. `idle_watt` is with the card awake; if `card_saved_watt` is unknown, it is the mean of all windows
    without a program. `unknown`: sentences about what the data do not determine. `warnings`: sentences about windows
    that were left out.
    """

    idle_watt: Estimate
    loaded_watt: Estimate | None = None
    card_mbps: int | None = None
    card_saved_watt: Estimate | None = None
    unknown: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class AndujarPower(_Part):
    """Table 1 of Andujar et al. (2023): Omega_port, omega_ports, omega_Sport, Omega_nodes and omega_Snodes."""

    port_watt: Estimate
    ports_fraction: Estimate
    sleeping_port_fraction: Estimate
    node_watt: Estimate
    idle_node_fraction: Estimate


class PowerPart(_Part):
    """Power of switches and nodes. `note` is what the lab's inventory says of all its watts (`Lab.watts_note`)."""

    switches: Mapping[str, SwitchPower] = Field(default_factory=dict)
    nodes: Mapping[str, NodePower] = Field(default_factory=dict)
    andujar: AndujarPower | None = None
    note: str = ""


class RunTimeError(_Part):
    """How far estimated run times under EEE are from measured ones, in percent; held out: of runs not fitted."""

    mean_percent: Finite
    worst_percent: Finite
    configuration_count: int = Field(ge=0)
    held_out: bool


class MiwaTime(_Part):
    """Eq. 3 of Miwa et al. (2013): t, c, alpha, t0 (`analysis.programs.miwa`).

    Without alpha and t0, overheads rise in one step of c at t as far as the data show.
    """

    threshold_us: Estimate
    plateau_us: Estimate
    alpha_per_us: Estimate | None = None
    origin_us: Estimate | None = None
    residual_us: Finite
    explained_fraction: Finite
    error: RunTimeError | None = None


class WakeTime(_Part):
    """Our model (`analysis.programs.run_time`): run time from the gaps' distribution and the policy of the links.

    A round waits for `serial_count` sleeping links one after the other, each time for the slowest of `abreast_count`
    that wake in parallel; waits of up to `hidden_us` do not delay the round.
    """

    serial_count: Estimate
    abreast_count: Estimate
    hidden_us: Estimate
    residual_us: Finite
    explained_fraction: Finite
    error: RunTimeError | None = None


class RoundTime(_Part):
    """Our model that replays rounds (`programs.round_replay`): how many waits in series a round has."""

    serial_count: Estimate
    residual_us: Finite
    explained_fraction: Finite
    error: RunTimeError | None = None


class ProgramTime(_Part):
    """Run time of a program at one placement."""

    program: str
    node_count: int = Field(ge=1)
    rank_count: int = Field(ge=1)
    configuration_count: int = Field(ge=0)
    link: str = ""
    miwa: MiwaTime | None = None
    wakes: WakeTime | None = None
    rounds: RoundTime | None = None


class Calibration(_Part):
    """The whole file. `link` of a `ProgramTime` is the key of the policy it was fitted with."""

    format: Literal[1] = FORMAT
    made: str
    lab: str
    lab_digest: str
    runs: tuple[str, ...] = ()
    versions: Mapping[str, str] = Field(default_factory=dict)
    links: Mapping[str, LinkPolicy] = Field(default_factory=dict)
    power: PowerPart = PowerPart()
    run_time: Mapping[str, ProgramTime] = Field(default_factory=dict)

    @classmethod
    def begin(cls, lab: str, lab_digest: str, runs: Iterable[str], **parts: Any) -> "Calibration":
        """A calibration made now by this version."""
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        names = tuple(dict.fromkeys(runs))
        return cls(made=begun, lab=lab, lab_digest=lab_digest, runs=names, versions=versions(), **parts)

    def merged(self, later: "Calibration") -> "Calibration":
        """Both together; CalibrationError if the labs differ."""
        if (self.lab, self.lab_digest) != (later.lab, later.lab_digest):
            raise CalibrationError(
                f"calibrations of {self.lab} ({self.lab_digest[:8]}) and {later.lab} ({later.lab_digest[:8]}) "
                "cannot be merged: fit runs of one lab, with one inventory."
            )
        power = PowerPart(
            switches={**self.power.switches, **later.power.switches},
            nodes={**self.power.nodes, **later.power.nodes},
            andujar=later.power.andujar or self.power.andujar,
            note=later.power.note or self.power.note,
        )
        return Calibration(
            made=max(self.made, later.made),
            lab=self.lab,
            lab_digest=self.lab_digest,
            runs=tuple(dict.fromkeys((*self.runs, *later.runs))),
            versions={**self.versions, **later.versions},
            links={**self.links, **later.links},
            power=power,
            run_time={**self.run_time, **later.run_time},
        )


def load_calibration(path: Path) -> Calibration:
    """Read a file; CalibrationError says what is wrong with it and where."""
    return read_model(path, Calibration, CalibrationError, f"eeectl fit RUN -o {path.name}")


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write a file, whole or not at all; CalibrationError if it cannot be written."""
    write_yaml(path, _plain(calibration.model_dump(mode="python", exclude_none=True)), CalibrationError)


def _plain(part: Any) -> Any:
    """Dictionaries, lists and numbers of 7 digits, more than any estimate is accurate to."""
    if isinstance(part, Mapping):
        return {key: _plain(value) for key, value in part.items()}
    if isinstance(part, tuple | list):
        return [_plain(value) for value in part]
    if isinstance(part, float) and math.isfinite(part):
        return float(f"{part:.7g}")
    return part
