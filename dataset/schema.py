"""Tables of data sets: their columns with type, unit, meaning and bounds, in one visible table each.

The schema of a `datapackage.json` (Frictionless Data Package, https://datapackage.org) is made of them, and files of
others are checked against them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import polars as pl

Kind = Literal["string", "integer", "number"]
TYPES: Final[dict[Kind, Any]] = {"string": pl.String, "integer": pl.Int64, "number": pl.Float64}
"""By Frictionless' names."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column. `unit` is empty for text, "1" for counts and shares; bounds are inclusive."""

    name: str
    kind: Kind
    unit: str
    means: str
    required: bool = True
    least: float | None = None
    most: float | None = None
    among: tuple[str, ...] = ()
    rises: bool = False
    """No value is below that of the row before."""

    def form(self) -> dict[str, Any]:
        """For a `datapackage.json`."""
        bounds = {"minimum": self.least, "maximum": self.most, "enum": list(self.among) or None}
        limits: dict[str, Any] = {"required": self.required}
        limits |= {key: one for key, one in bounds.items() if one is not None}
        plain = {"name": self.name, "type": self.kind, "description": self.means, "constraints": limits}
        return plain | ({"unit": self.unit} if self.unit else {})


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of a data set; its file is `NAME.parquet`. `whence` says how its rows came about."""

    name: str
    title: str
    whence: str
    fields: Sequence[Field]

    @property
    def types(self) -> dict[str, Any]:
        """Polars types by column."""
        return {one.name: TYPES[one.kind] for one in self.fields}

    @property
    def file(self) -> str:
        """Its file's name."""
        return f"{self.name}.parquet"


_MODES: Final = ("off", "deep", "fast", "hybrid")
STATES: Final = ("active", "sleep", "quiet", "refresh", "wake", "fast")

POWER: Final = Table(
    "power",
    "Power of a port against packet interval",
    "The engine of the twin simulates a link's transmitter under equally spaced frames. Both directions of the link "
    "are taken to be alike. Watts follow from the times in each state, by the switch's own model.",
    (
        Field("source", "string", "", "twin: a switch of a virtual lab; model: of a paper", among=("twin", "model")),
        Field("switch", "string", "", "the lab and the family of a twin's switch, or the paper's model"),
        Field("speed_mbps", "integer", "Mb/s", "speed of the link", least=10),
        Field("mode", "string", "", "depth of low-power idle; off: the link never sleeps", among=_MODES),
        Field("hold_us", "number", "us", "idle time before the link goes to sleep; 0 if it never does", least=0),
        Field("deep_after_us", "number", "us", "hybrid: time in fast wake before deep sleep, else 0", least=0),
        Field("size_byte", "integer", "byte", "length of a frame with FCS", least=64, most=9216),
        Field("interval_us", "number", "us", "from the start of a frame to that of the next", least=0),
        *(
            Field(f"{state}_fraction", "number", "1", f"share of the time: {meaning}", least=0, most=1)
            for state, meaning in zip(
                STATES,
                ("on, sending or idle, hold included", "going to sleep (Ts)", "quiet", "refreshing", "waking (Tw)",
                 "low power of fast wake"),
                strict=True,
            )
        ),
        Field("woken_fraction", "number", "1", "share of frames that woke the link", least=0, most=1),
        Field("delay_us", "number", "us", "mean from sending a frame to its delivery", least=0),
        Field("power_fraction", "number", "1", "of the power of the same port that never sleeps", least=0),
        Field("port_watt", "number", "W", "power of the port; empty without watts", required=False, least=0),
    ),
)  # fmt: skip

POINTS: Final = Table(
    "points",
    "Points of simulated studies",
    "Programs are replayed on simulated networks by `eeectl simulate STUDY`, each case and seed a row.",
    (
        Field("study", "string", "", "name of the study's folder"),
        Field("case", "string", "", "value of each axis of the study, as in network=3D,links=pdt-10"),
        Field("seed", "integer", "", "of placement, routing and programs"),
        Field("run_time_s", "number", "s", "of the longest first run of a job", least=0),
        Field("link_low_power_fraction", "number", "1", "share of the links' time in low power", least=0, most=1),
        Field("carried_low_power_fraction", "number", "1", "the same of links that carried traffic", least=0, most=1),
        Field("cpu_fraction", "number", "1", "share of the ranks' time that they compute", least=0),
        Field("message_count", "integer", "1", "messages of all ranks", least=0),
    ),
)

TRUTHS: Final = Table(
    "truths",
    "Truths of virtual labs",
    "What only the twin knows of a lab, from `inventory/LAB/twin/truth.yaml`: what estimates can be held against.",
    (
        Field("lab", "string", "", "name of the virtual lab"),
        Field("key", "string", "", "key of the truth, its parts joined by dots; its last word is the unit"),
        Field("value", "number", "", "value of a number; empty for text", required=False),
        Field("text", "string", "", "value of a word, else empty", required=False),
    ),
)

BOOKSIM2: Final = Table(
    "booksim2",
    "Latency beside BookSim2's",
    "The flit engine (commit 40d2cfd) and BookSim2 (https://github.com/booksim/booksim2, commit 28f4329) on the same "
    "networks, at shares of the load at which a node begins to fall behind. Four seeds of about 12,000 packets each, "
    "after a warm-up as long. `python -m evaluation.accuracy.beside_booksim2` measures it.",
    (
        Field("case", "string", "", "network, routing and traffic in words"),
        Field("saturation_load", "number", "flits/node/cycle", "load at which a node falls behind", least=0, most=1),
        Field("saturation_fraction", "number", "1", "load of the row, of that", least=0, most=1),
        Field("booksim2_latency_cycles", "number", "cycles", "BookSim2's mean, to the tail's arrival", least=0),
        Field("difference_percent", "number", "%", "of the flit engine's mean from BookSim2's"),
        Field("difference_half_percent", "number", "%", "half of its 95 % interval (Welch)", least=0),
        Field("booksim2_p99_cycles", "number", "cycles", "BookSim2's 99th percentile", required=False, least=0),
        Field("p99_cycles", "number", "cycles", "the flit engine's 99th percentile", required=False, least=0),
        Field("simulation", "string", "", "network, routing, router and traffic of a simulation's file, as JSON"),
    ),
)

LINKS: Final = Table(
    "links",
    "Times of links from 25 Gb/s on",
    "What IEEE 802.3 gives: Ts, Tw (for the system), refreshes, fast wake. A cell is empty where it gives nothing, and "
    "`lacks` says why. The standard has no watts.",
    (
        Field("phy", "string", "", "name of the PHY, or a rate that is none of 802.3"),
        Field("rate_gbps", "integer", "Gb/s", "rate of the link", least=1),
        Field("sleep_us", "number", "us", "Ts of deep sleep", required=False, least=0),
        Field("wake_us", "number", "us", "Tw of deep sleep", required=False, least=0),
        Field("fast_wake_us", "number", "us", "Tw of fast wake", required=False, least=0),
        Field("quiet_us", "number", "us", "Tq: between two refreshes", required=False, least=0),
        Field("refresh_us", "number", "us", "Tr: of a refresh", required=False, least=0),
        Field("source", "string", "", "where the times stand"),
        Field("lacks", "string", "", "what the source does not give; empty if nothing", required=False),
    ),
)

MEASURED: Final = Table(
    "measured",
    "Measured power",
    "A row for each device and trial of a measurement on hardware or on a virtual lab.",
    (
        Field("run", "string", "", "name of the run that the row is from"),
        Field("trial", "integer", "", "number of the trial in its run", least=0),
        Field("begun_ns", "integer", "ns", "when the measured window began, UTC since 1970", least=0, rises=True),
        Field("duration_s", "number", "s", "length of the measured window", least=1e-9),
        Field("state", "string", "", "whether the trial counts", among=("valid", "invalid", "failed")),
        Field("device", "string", "", "name of the device that the meter feeds"),
        Field("device_model", "string", "", "model or family; empty if unknown", required=False),
        Field("meter", "string", "", "what measured, as in pdu1:3"),
        Field("lab_kind", "string", "", "hardware, or a virtual lab", among=("hardware", "virtual", "unknown")),
        Field("eee", "string", "", "Energy-Efficient Ethernet on the links", among=("on", "off", "unknown")),
        Field("links_up_count", "integer", "1", "ports with a link; empty if unknown", required=False, least=0),
        Field("link_mbps", "integer", "Mb/s", "speed of most links; empty if unknown", required=False, least=10),
        Field("program", "string", "", "what sent packets; empty if nothing did", required=False),
        Field("interval_us", "number", "us", "pause between communications; empty if unknown", required=False, least=0),
        Field("size_byte", "number", "byte", "mean size of a communication", required=False, least=0),
        Field("run_time_s", "number", "s", "run time of the program; empty without", required=False, least=0),
        Field("power_watt", "number", "W", "mean power in the window", least=0, most=1e6),
        Field("power_low_watt", "number", "W", "lower end of its 95 % interval", required=False),
        Field("power_high_watt", "number", "W", "upper end of its 95 % interval", required=False),
    ),
)

BUILT: Final = (POWER, POINTS, TRUTHS, BOOKSIM2, LINKS)
"""What `eeectl dataset build` writes, in this order."""

TABLES: Final = {one.name: one for one in (*BUILT, MEASURED)}
"""By name."""
