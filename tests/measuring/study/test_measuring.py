"""The study's loop, with runs that a toy writes instead of a lab: budget, order, interruption, resumption."""

import io
import itertools
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.fit_runs import FitResult, fit_runs
from eee_testbed.analysis.fitted_part import Part
from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.report.page import report_of
from eee_testbed.analysis.report.report_data import read_report_data
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED
from eee_testbed.eeectl.set_options import share_of
from eee_testbed.eeectl.verbs.study import seconds_of
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.measuring.experiments.experiment_file import read_experiment
from eee_testbed.measuring.experiments.validation import order_for
from eee_testbed.measuring.study.commands import never
from eee_testbed.measuring.study.design import PILOT, Design, StudiedProgram, design
from eee_testbed.measuring.study.ending import OUT_OF_TIME
from eee_testbed.measuring.study.folder import Aim, StudyFolder
from eee_testbed.measuring.study.measuring import Fit, Measuring
from eee_testbed.measuring.study.standing import read_standing
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import Run, RunFolder, read_events, read_facts
from tests.support.measured.synthetic_run import BASE_NS, Writer, echoes_text

_BLOCK_S = 30.0
_HALO = StudiedProgram("command", {"words": ["/shared/halo", "100"]}, 2, (r"time=Time = ([\d.]+) s",))
_HOUR_NS = 3_600_000_000_000


class _ToyLab:
    """Executes `eeectl run` by writing trials with known answers; EEE costs 10 % with pauses of 2 ms and more.

    The switch's ports sleep; beside a stream nothing does. Blocks near edges have EEE on alone, and take half as long.
    """

    def __init__(self, interrupt_at: int = -1, slow_at: Sequence[int] = ()) -> None:
        self.now_s = 0.0
        self.calls: list[tuple[str, ...]] = []
        self._interrupt_at = interrupt_at
        self._slow_at = slow_at

    def __call__(self, *words: str, over: Callable[[], bool] = never) -> int:
        self.calls.append(words)
        slow = len(self.calls) - 1 in self._slow_at
        stopped = len(self.calls) - 1 == self._interrupt_at or slow
        place = Path(words[1])
        if "--resume" in words:
            facts = read_facts(place)
            old = 0 if facts["state"] != "finished" else facts["experiment"]["blocks"]
            blocks = int(words[words.index("--blocks") + 1]) if "--blocks" in words else facts["experiment"]["blocks"]
            run = Run.resume(RunFolder.read(place))
            run.add_facts({"experiment": {**facts["experiment"], "blocks": blocks}})
        else:
            experiment, _ = read_experiment(place)
            described = experiment.model_dump(mode="json", by_alias=True)
            lab = load_lab(find_lab("miwa"))
            facts = {"lab": lab.name, "lab_folder": lab.folder, "lab_digest": "ab" * 32, "experiment": described}
            facts |= {"slot_count": len(order_for(experiment))}
            run = Run.create(Path(words[words.index("--runs") + 1]), experiment.name, facts)
            old, blocks = 0, experiment.blocks
        self.now_s += _BLOCK_S * (blocks - old) * (0.5 if "edges" in place.name else 1.0)
        number = sum(event["kind"] == "trial_begun" for event in read_events(run.folder))
        writer = Writer(run, BASE_NS + len(self.calls) * _HOUR_NS, number, np.random.default_rng(len(self.calls)))
        for block in range(old, old + 1 if slow else old if stopped else blocks):
            _write(writer, run.folder.name, block)
        run.close("interrupted" if stopped else "finished")
        if slow:
            self.now_s = next(at_s for at_s in itertools.count(self.now_s) if self._is_over(at_s, over))
            return OUT_OF_TIME
        return INTERRUPTED if stopped else DONE

    def _is_over(self, at_s: float, over: Callable[[], bool]) -> bool:
        """Whether the time is over at a moment; a lab so slow gets nothing more done until then."""
        self.now_s = at_s
        return over()


def _write(writer: Writer, name: str, block: int) -> None:
    if "program-eee" in name:
        for eee, time_s in (("off", 2.0), ("on", 2.1)):
            figures = [("time", time_s * float(np.exp(writer.random.normal(0, 0.004))), "s")]
            words = {"words": ["/shared/halo", "100"], "expect": "", "mpi": True}
            writer.write(
                {"eee": eee}, 2.5, figures=figures, program="command", parameters=words, hosts=("n01", "n02"),
                ranks_per_host=2, block=block,
            )  # fmt: skip
        return
    if "alltoall" in name:
        for sleep_us, slower in ((0, 1.0), (2_000, 1.1)):
            for eee in ("off", "on"):
                time_s = 2.0 * (slower if eee == "on" else 1.0) * float(np.exp(writer.random.normal(0, 0.02)))
                figures = [("time", time_s, "s"), ("communications", 500.0, "call")]
                writer.write(
                    {"eee": eee, "sleep_us": sleep_us},
                    2.0,
                    figures=figures,
                    program="alltoall",
                    hosts=("n01", "n02"),
                    block=block,
                )
        return
    streamed = "cards-alone" in name
    for eee in ("on",) if "edges" in name else ("off", "on"):
        text = echoes_text("off" if streamed else eee, writer.random, count=150, at_ns=writer.now_ns)
        parameters = {"stream_from": "n04", "stream_every_us": 240.0} if streamed else {}
        files, hosts = {"echoes.jsonl": text}, ("n01", "n02")
        writer.write({"eee": eee}, 5.0, what="probe", files=files, hosts=hosts, block=block, parameters=parameters)


class _FirstFit:
    """A fit that keeps the policies of the first block: for what a study does with them, not for how they narrow."""

    def __init__(self) -> None:
        self._links: FitResult | None = None

    def __call__(self, runs: Sequence[RunSamples], known: Calibration | None, what: Sequence[Part]) -> FitResult:
        if "links" not in what:
            return fit_runs(runs, known, what)
        if self._links is None:
            self._links = fit_runs(runs, known, what)
        return self._links


def _no_fit(*_: object) -> FitResult:
    """For what a study does whatever is known."""
    raise NotEnoughData("a toy")


@pytest.fixture(scope="module")
def first_fit() -> _FirstFit:
    """One for all studies whose first block is the same."""
    return _FirstFit()


def _study(root: Path, budget_s: float) -> StudyFolder:
    lab = load_lab(find_lab("miwa"))
    made = [one for one in design(lab, PILOT).experiments if one["name"] != "power-staged"]  # the toy has no meters
    return StudyFolder.create(root, "miwa", lab.name, Design(tuple(made), ()), Aim(0.03, budget_s))


def _measuring(folder: StudyFolder, toy: _ToyLab, console: Console | None = None, fit: Fit = fit_runs) -> Measuring:
    quiet = Console(quiet=True) if console is None else console
    return Measuring(load_lab(find_lab(folder.lab)), folder, toy, lambda: toy.now_s, quiet, fit)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyFolder, _ToyLab, str]:
    folder, toy = _study(tmp_path_factory.mktemp("study"), 8.5 * _BLOCK_S), _ToyLab()
    console = Console(record=True, width=150, quiet=False, file=(tmp_path_factory.mktemp("out") / "out").open("w"))
    assert _measuring(folder, toy, console).execute() == DONE
    return folder, toy, console.export_text()


@pytest.mark.night
def test_the_pilot_comes_first_and_then_what_narrows_most_within_the_budget(
    whole: tuple[StudyFolder, _ToyLab, str],
) -> None:
    folder, _, _ = whole
    kinds = [block.kind for block in folder.blocks]
    assert kinds[:2] == ["probe-sweep", "alltoall-eee"]
    assert kinds[2] == "alltoall-eee"  # not found before its first repetition, and what the report leads with
    assert kinds[3] == "cards-alone"  # two hosts at one switch: which times are the ports' is open
    assert set(kinds) <= {"probe-sweep", "alltoall-eee", "cards-alone", "edges-n01-n02"}
    assert sum(block.time_s for block in folder.blocks) <= folder.aim.budget_s


@pytest.mark.night
def test_the_table_says_what_is_known_wanted_next_and_how_each_ends(whole: tuple[StudyFolder, _ToyLab, str]) -> None:
    _, _, printed = whole
    assert "next: alltoall-eee, because alltoall 2x0, slower with eee on is not found yet; 2.8 min left" in printed
    last = printed[printed.index("end: ") :]
    for name in ("alltoall 2x0, slower with eee on", "n01-n02: hold", "n01-n02: Ts", "n01-n02: wakes of a round trip"):
        row = next(line for line in last.splitlines() if name in line)
        assert any(words in row for words in ("known", "needs about", "cannot be known here, because"))
        assert "±" in row


@pytest.mark.night
def test_an_interval_that_was_narrowed_holds_the_truth(whole: tuple[StudyFolder, _ToyLab, str]) -> None:
    folder, _, _ = whole
    seen = [block.seen["alltoall 2x0, slower with eee on"] for block in folder.blocks[3:]]
    assert seen[-1][1] < seen[0][1]


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [7.5, 8.5])
def test_a_block_is_measured_if_there_is_time_to_fit_it_too(
    tmp_path: Path, blocks: float, first_fit: _FirstFit
) -> None:
    lab, toy = load_lab(find_lab("miwa")), _ToyLab()
    probes = Design(design(lab, PILOT).experiments[:1], ())
    folder = StudyFolder.create(tmp_path, "miwa", lab.name, probes, Aim(0.001, blocks * _BLOCK_S))

    def slow(runs: Sequence[RunSamples], known: Calibration | None, what: Sequence[Part]) -> FitResult:
        if "links" in what:
            toy.now_s += 2.0 * _BLOCK_S
        return first_fit(runs, known, what)

    assert _measuring(folder, toy, fit=slow).execute() == DONE
    assert toy.now_s <= folder.aim.budget_s
    assert len(folder.blocks) > 1


def test_links_are_fitted_while_power_is_measured(tmp_path: Path) -> None:
    lab, toy = load_lab(find_lab("virtual")), _ToyLab()
    made = {one["name"]: one for one in design(lab, PILOT).experiments}
    pilot = Design((made["probe-sweep"], made["power-staged"]), ())
    folder = StudyFolder.create(tmp_path, "virtual", lab.name, pilot, Aim(0.02, 1.0))
    fits, powers = threading.Event(), threading.Event()
    fitted: list[tuple[str, list[str]]] = []

    def fit(runs: Sequence[RunSamples], _: Calibration | None, what: Sequence[Part]) -> FitResult:
        fitted.append((*what, [run.folder.name.partition("Z-")[2] for run in runs]))
        if "links" in what:
            fits.set()
            assert powers.wait(60.0), "power is measured only after the fit"
        raise NotEnoughData("a toy")

    def run(*words: str, over: Callable[[], bool] = never) -> int:
        if "power" in words[1]:
            assert fits.wait(60.0), "links are not fitted meanwhile"
            powers.set()
        return toy(*words, over=over)

    study = Measuring(lab, folder, run, lambda: toy.now_s, Console(quiet=True), fit)
    assert study.execute() == DONE
    assert fitted[0] == ("links", ["probe-sweep"])
    assert [what for what, _ in fitted] == ["links", "power", "run-time"]


@pytest.mark.slow
def test_a_study_that_was_interrupted_goes_on_where_it_was(tmp_path: Path, first_fit: _FirstFit) -> None:
    folder = _study(tmp_path, 4.5 * _BLOCK_S)
    stopped = _ToyLab(interrupt_at=1)
    assert _measuring(folder, stopped, fit=first_fit).execute() == INTERRUPTED
    assert [block.kind for block in folder.blocks] == ["probe-sweep"]
    again = _ToyLab()
    study = _measuring(StudyFolder.open(folder.path), again, fit=first_fit)
    study.views = ("--prometheus", "9464")
    assert study.execute() == DONE
    assert all(call[-2:] == ("--prometheus", "9464") for call in again.calls)
    first, *rest = again.calls
    assert first[1].endswith("alltoall-eee")
    assert "--resume" in first
    assert "--blocks" not in first
    kinds = [block.kind for block in folder.blocks]
    assert kinds[:3] == ["probe-sweep", "alltoall-eee", "alltoall-eee"]
    assert len(rest) == len(kinds) - 2


def _of_two_programs(root: Path, budget_s: float) -> StudyFolder:
    lab = load_lab(find_lab("miwa"))
    kept = {one["name"]: one for one in design(lab, PILOT, "", ("n01", "n02"), (_HALO,)).experiments}
    own = kept["program-eee"]
    made = Design((kept["probe-sweep"], own, {**own, "name": "program-eee-2"}), ())
    return StudyFolder.create(root, "miwa", lab.name, made, Aim(0.05, budget_s))


@pytest.mark.slow
@pytest.mark.parametrize(("budget_s", "ends_s"), [(300.0, 900.0), (4_000.0, 5_000.0)])
def test_a_pilot_in_a_lab_that_became_too_slow_is_stopped_and_reported(
    tmp_path: Path, budget_s: float, ends_s: float
) -> None:
    """From the second run on, each gets one block done, and then nothing until it is stopped."""
    folder, toy = _of_two_programs(tmp_path, budget_s), _ToyLab(slow_at=(1, 2))
    console = Console(record=True, width=400, file=io.StringIO())
    study = _measuring(folder, toy, console, fit=_no_fit)
    assert study.execute() == DONE
    assert study.missing
    assert toy.now_s == pytest.approx(ends_s, abs=1.0)
    assert len(toy.calls) == 3, "one that is too slow does not take the time of those that wait"
    printed = console.export_text()
    minutes = f"stopped after {ends_s / 60:.0f} min, as the budget is {budget_s / 60:.0f} min: "
    assert minutes + "measured probe-sweep; program-eee has 2 of 6 trials; program-eee-2 has 2 of 6 trials." in printed
    assert f"`eeectl study --resume {folder.path} --budget 40m` goes on" in printed
    assert "end: the budget is spent; 0.0 min left" in printed
    row = next(line for line in printed.splitlines() if "halo 2x2, slower with eee on" in line)
    assert "needs" in row, "of the block that was measured"
    standing = read_standing(folder.path)
    assert standing is not None
    assert standing.ended
    again = _ToyLab()
    assert _measuring(folder, again, fit=_no_fit).execute() == DONE
    assert [call[1] for call in again.calls[:2]] == [str(folder.run_of(f"program-eee{mark}")) for mark in ("", "-2")]


@pytest.mark.slow
def test_what_needs_more_than_its_share_of_the_pilot_goes_on_after_the_others(tmp_path: Path) -> None:
    folder, toy = _of_two_programs(tmp_path, 300.0), _ToyLab(slow_at=(1,))
    study = _measuring(folder, toy, fit=_no_fit)
    assert study.execute() == DONE
    assert not study.missing
    runs = [Path(call[1]).name.rpartition("Z-")[2].removesuffix(".yaml") for call in toy.calls]
    assert runs[:4] == ["probe-sweep", "program-eee", "program-eee-2", "program-eee"]


@pytest.mark.slow
def test_a_study_of_ones_own_program_is_about_that(tmp_path: Path, first_fit: _FirstFit) -> None:
    lab, toy = load_lab(find_lab("miwa")), _ToyLab()
    made = design(lab, PILOT, "", ("n01", "n02"), (_HALO,))
    kept = tuple(one for one in made.experiments if one["name"] in ("probe-sweep", "program-eee"))
    folder = StudyFolder.create(tmp_path, "miwa", lab.name, Design(kept, ()), Aim(0.05, 12 * _BLOCK_S))
    console = Console(record=True, width=200, file=io.StringIO())
    assert _measuring(folder, toy, console, fit=first_fit).execute() == DONE
    kinds = [block.kind for block in folder.blocks]
    assert kinds[:2] == ["probe-sweep", "program-eee"]
    run = folder.run_of("program-eee")
    assert run is not None
    assert read_facts(run)["experiment"]["blocks"] >= 3, "fewer have no interval"
    assert "alltoall" not in " ".join(kinds)
    rows = [line for line in console.export_text().splitlines() if "halo 2x2, slower with eee on" in line]
    assert "known" in rows[-1]
    found = report_of(read_report_data(folder.all_runs(), None, ""))
    assert found.findings[0].sentence.startswith("EEE makes halo on 2 hosts with 2 ranks each ")


def test_what_is_wanted_is_written_as_people_write_it() -> None:
    assert share_of("2%", "precision") == share_of("0.02", "precision") == 0.02
    assert (seconds_of("90s"), seconds_of("40m"), seconds_of("1.5h")) == (90.0, 2_400.0, 5_400.0)
    for bad in ("", "0%", "150%", "x"):
        with pytest.raises(LabError, match="write it as 2%"):
            share_of(bad, "precision")
    for bad in ("", "0m", "40", "m"):
        with pytest.raises(LabError, match="write it as 90s"):
            seconds_of(bad)
