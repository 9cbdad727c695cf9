"""`eeectl predict --network`: answers from the replay of the calls that a run recorded."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.predict.what_if import WhatIf
from eee_testbed.analysis.run_lab import lab_of_run, link_mbps, run_folder
from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.lab_text import text_width
from eee_testbed.eeectl.prediction_text import Answers, best_plain, best_text, prediction_plain, predictions_text
from eee_testbed.lab.errors import LabError
from eee_testbed.record.store import read_facts
from eee_testbed.record.trials import Trial, read_trials
from eee_testbed.simulation.pool import HerePool
from eee_testbed.simulation.replay.on_network import LAB, network_for, recorded_job, with_measured_cards
from eee_testbed.simulation.replay.prediction import NetworkReplays
from eee_testbed.simulation.replay.program import write_program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.recorder import files_of
from eee_testbed.simulation.replay.readers.table import RECORDED, import_trace, may_be_program
from eee_testbed.simulation.replay.replayed import Replayed
from eee_testbed.simulation.replay.search import Asked
from eee_testbed.simulation.worker import Simulated

_FOLDER: Final = "simulations"
_PROGRAM: Final = "program.replay"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run's program with its calls: a trial's folder, or a replay file."""

    name: str
    path: Path
    ranks_per_host: int
    mbps: float
    hosts: Sequence[str] = ()
    """Of the program; none if only its calls are known."""


def recorded(name: str) -> Recorded:
    """The recorded program of a run, a trial's folder or a replay file; LabError says how to record one."""
    path = Path(name)
    if path.is_file():
        if path.suffix != ".replay" and not may_be_program(path):
            raise LabError(
                f"{name} has no MPI calls to replay: name a run of `eeectl bench PROGRAM --trace`, or a replay file."
            )
        return Recorded(path.stem, path, 1, link_mbps(None))
    trial_of = path.parent.parent if path.parent.name == "trials" else None
    run = trial_of or run_folder(name)
    facts = read_facts(run)
    trials = [one for one in read_trials(run) if one.what == "program" and one.valid]
    if trial_of is not None:
        trials = [one for one in trials if one.folder.resolve() == path.resolve()]
    chosen = _traced(run, trials)
    mbps = link_mbps(lab_of_run(facts), chosen.hosts)
    return Recorded(
        f"{run.name}-{chosen.folder.name}", chosen.folder, max(chosen.ranks_per_host, 1), mbps, chosen.hosts
    )


def _traced(run: Path, trials: Sequence[Trial]) -> Trial:
    """The only trial with a trace."""
    found = [one for one in trials if (one.folder / "traces").is_dir()]
    if not found:
        program = next((one.program for one in trials), "PROGRAM")
        raise LabError(
            f"{run} has no valid trial with recorded MPI calls: record one with `eeectl bench {program} --trace`."
        )
    if len(found) > 1:
        raise LabError(f"{run} has {len(found)} recorded trials: name one of them, such as {found[-1].folder}.")
    return found[0]


def _imported(one: Recorded, folder: Path) -> Path:
    """The replay file, made once in the folder of the results."""
    if one.path.is_file():
        return one.path.resolve()
    made = folder / _PROGRAM
    if not made.is_file():
        program = import_trace(files_of([one.path]), RECORDED, Options(one.name))
        folder.mkdir(parents=True, exist_ok=True)
        write_program(made, program)
    return made.resolve()


@dataclass(frozen=True, slots=True)
class Replays:
    """What is asked about: a run's name, a network, a calibration, and the folder of the replays."""

    name: str
    network: str
    calibration: Calibration
    output: Path | None = None

    def open(self) -> tuple[str, NetworkReplays]:
        """The program's name and its replays. LabError if the run has no recorded calls, or the network is none."""
        one = recorded(self.name)
        folder = self.output or Path(_FOLDER) / f"predict-{one.name}-{Path(self.network.removeprefix(LAB)).stem}"
        network_for(
            self.network, one.mbps, recorded_job(folder / _PROGRAM, one.ranks_per_host)
        )  # before reading a trace
        job = recorded_job(_imported(one, folder), one.ranks_per_host)
        link = next(iter(self.calibration.links.values()), None)
        description = with_measured_cards(network_for(self.network, one.mbps, job), link, one.hosts)
        return one.name, NetworkReplays(description, folder, self.calibration)


def predict_replayed(asked: Replays, questions: Sequence[WhatIf], bound_percent: float | None, *, as_json: bool) -> int:
    """Answer and print; the exit status."""
    name, replays = asked.open()
    pool = HerePool()
    try:
        answers = replays.answer(questions, pool, _said)
        phy = next((one.phy for one in questions if one.phy), "")
        best = None if bound_percent is None else replays.best(phy, bound_percent, pool, _said)
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt("finished replays are kept: run the same command again to continue.") from error
    if as_json:
        plain: dict[str, Any] = {"profile": name, "answers": [prediction_plain(one) for one in answers]}
        if best is not None:
            plain["best_policy"] = best_plain(best)
        print(json.dumps({"predictions": [plain]}, indent=1))
    else:
        print(predictions_text([Answers(name, answers, None)], asked.calibration, text_width()))
        if best is not None:
            print(best_text(best, "policy"))
    return DONE


def _said(one: Asked, simulated: Simulated[Replayed]) -> None:
    """A line on standard error for each replay."""
    line = f"{one}: {simulated.result.run_time_s:.6g} s"
    Console(stderr=True).print(line, highlight=False, markup=False)
