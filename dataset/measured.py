"""A measured file from a run's folder: a row for each trial and metered switch."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.analysis.power.trial_energy import mean_watt_of, run_time_name
from eee_testbed.analysis.report.energies import Meter, meters_of
from eee_testbed.analysis.report.report_data import RunData, read_report_data
from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.dataset.schema import MEASURED
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.record.trials import Trial

_EEE: Final = {"on": "on", "off": "off"}
_PAUSE: Final = "sleep_us"
_SIZE: Final = "communication_size"


@dataclass(frozen=True, slots=True)
class Measured:
    """Rows of the table `measured`, and how many trials have no watts: they were too short for their meters."""

    frame: pl.DataFrame
    trials: int
    without_watts: int


def measured_of(folder: Path) -> Measured:
    """From a run's folder; LabError if no meter has a value for any trial."""
    run = read_report_data([folder], None, "").runs[0]
    lab = lab_of_run(run.facts)
    meters = [one for one in meters_of(run) if one.feeds and one.feeds not in run.hosts]
    trials = [trial for trial in run.trials if trial.ended_ns > trial.begun_ns]
    rows = [row for trial in sorted(trials, key=lambda one: one.begun_ns) for row in _rows(run, lab, meters, trial)]
    if not rows:
        raise LabError(
            f"{folder} has no watts of a switch in any trial: measure with a metered strip, and for longer than the "
            "meter's period."
        )
    frame = pl.DataFrame(rows, schema=MEASURED.types, orient="row")
    return Measured(frame, len(trials), len(trials) - frame["trial"].n_unique())


def _rows(run: RunData, lab: Lab | None, meters: list[Meter], trial: Trial) -> Iterator[dict[str, Any]]:
    for meter in meters:
        watt = mean_watt_of(meter.series, trial, run.facts, meter.strip)
        if watt is None:
            continue
        count, mbps = _links(run, meter.feeds, trial)
        low, high = watt.known_ends
        yield {
            "run": run.name,
            "trial": trial.number,
            "begun_ns": trial.begun_ns,
            "duration_s": trial.window_s,
            "state": trial.state,
            "device": meter.feeds,
            "device_model": _model(lab, meter.feeds),
            "meter": f"{meter.strip}:{meter.outlet}",
            "lab_kind": _lab_kind(lab),
            "eee": _EEE.get(str(trial.levels.get("eee")), "unknown"),
            "links_up_count": count,
            "link_mbps": mbps,
            "program": trial.program or None,
            "interval_us": _number(trial.levels.get(_PAUSE, trial.parameters.get(_PAUSE))),
            "size_byte": trial.figures[_SIZE].value if _SIZE in trial.figures else None,
            "run_time_s": trial.figures[name].value if (name := run_time_name(trial)) else None,
            "power_watt": watt.value,
            "power_low_watt": low,
            "power_high_watt": high,
        }


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _lab_kind(lab: Lab | None) -> str:
    """A lab with a truth is virtual."""
    if lab is None:
        return "unknown"
    return "virtual" if (Path(lab.folder) / "twin" / "truth.yaml").is_file() else "hardware"


def _model(lab: Lab | None, device: str) -> str | None:
    """Of a switch of the inventory."""
    switches = () if lab is None else lab.switches
    return next((one.model or one.family for one in switches if one.name == device), None)


def _links(run: RunData, device: str, trial: Trial) -> tuple[int | None, int | None]:
    """Ports with a link at the last poll within a trial, and the speed of most of them."""
    polls = run.samples.table("ports").filter(
        (pl.col("switch") == device) & pl.col("received_ns").is_between(trial.begun_ns, trial.ended_ns)
    )
    last = polls.group_by("port", maintain_order=True).last().filter(pl.col("up"))
    if polls.is_empty():
        return None, None
    speeds = last["rate_mbps"].drop_nulls().mode().sort()
    return last.height, speeds[-1] if len(speeds) else None
