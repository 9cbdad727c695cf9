"""Experiments on a live lab: a killed one is resumed, Ctrl-C restores the lab, a lost node costs its trials only."""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.lab.folder import load_lab
from eee_testbed.measuring.experiments.awake_stream import STREAM_FILE
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import read_events, read_facts
from eee_testbed.record.trials import read_trials
from eee_testbed.twin.lab import lifecycle as labs
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab


class Bench:
    """Runs one experiment after the other on a small lab, in processes of their own."""

    def __init__(self, lab: Path, state: Path, environment: dict[str, str], folder: Path) -> None:
        self.lab = lab
        self.state = state
        self.folder = folder
        self.switch_count = len(load_lab(lab).switches)
        self._environment = {**environment, "EEE_CONTROLLER_DIR": str(folder / "kept")}

    def start(self, *words: str) -> "subprocess.Popen[str]":
        argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", *words]
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(argv, env=self._environment, cwd=self.folder, text=True, **piped)  # type: ignore[call-overload, no-any-return]

    def done(self, process: "subprocess.Popen[str]") -> tuple[int, str, str]:
        out, errors = process.communicate(timeout=120)
        return process.returncode, out, errors

    def write(self, name: str, factors: str = "eee: {links: [n01], levels: [off, on]}") -> str:
        """An experiment of four short trials; a busy machine's twin may be late."""
        path = self.folder / f"{name}.yaml"
        path.write_text(
            f"name: {name}\nlab: {self.lab}\nblocks: 1\nrepetitions: 2\nfactors: {{{factors}}}\n"
            "measure: {probe: {from: n01, to: n02, count: 60, gap_us: [100, 4000]}}\n"
            "guards: {twin_late_us: 1000000, retries: 0}\nsampling: {period_s: 0.5, lpi_period_s: 0}\n",
            encoding="utf-8",
        )
        return str(path)

    def run_folder(self, name: str) -> Path | None:
        return next(iter(sorted((self.folder / "runs").glob(f"*-{name}"))), None)

    def await_trial(self, name: str, number: int, process: "subprocess.Popen[str]") -> Path:
        """Wait until a trial has begun and something of it is measured."""

        def found() -> Path | None:
            assert process.poll() is None, self.done(process)
            folder = self.run_folder(name)
            measured = folder is not None and (folder / "trials" / f"{number:04d}" / "echoes.jsonl").exists()
            return folder if measured else None

        return eventually(f"trial {number} has begun", found, patience_s=90, every_s=0.02)  # type: ignore[return-value]

    def await_watts(self, name: str, number: int, process: "subprocess.Popen[str]") -> None:
        """Wait until a meter has changed within a trial, so that it was stale in none before."""

        def changed() -> bool:
            assert process.poll() is None, self.done(process)
            folder = self.run_folder(name)
            events = [] if folder is None else read_events(folder)
            begun = [one for one in events if one["kind"] == EventKind.TRIAL_BEGUN]
            if folder is None or len(begun) <= number:
                return False
            watts = RunSamples(folder).table("watts")
            within = (pl.col("sent_ns") > begun[number]["time_ns"]) & (pl.col("unchanged_s") == 0)
            return watts.filter(within).height > 0

        eventually(f"a meter has changed in trial {number}", changed, patience_s=90, every_s=0.05)

    def await_samples_after(self, folder: Path, number: int) -> None:
        """Wait until a trial is valid and every switch was sampled after its end: no later sample can invalidate it."""

        def sampled() -> bool:
            trial = next(trial for trial in read_trials(folder) if trial.number == number)
            ports = RunSamples(folder).table("ports")
            later = ports.filter(pl.col("sent_ns") > trial.ended_ns)["switch"]
            return trial.valid and later.n_unique() == self.switch_count

        eventually("samples after the trial", sampled, every_s=0.05, shown=lambda: read_trials(folder))

    def eee(self) -> list[bool]:
        """Whether the switches' ends of the hosts' links have EEE on."""
        _, out, _ = self.done(self.start("eee", "show", str(self.lab), "--json"))
        return [end["enabled"] for link in json.loads(out)["links"] for end in link["ends"]]

    def agents(self) -> list[str]:
        """Probes that run on the lab's hosts."""
        hosts = labs.running(self.lab.name)[1].hosts.values()
        spaces = {Path(f"/proc/{host.pid}/ns/net").readlink() for host in hosts if host.alive()}
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words, space = (process / "cmdline").read_bytes(), (process / "ns" / "net").readlink()
            except OSError:
                continue  # it has ended
            if b'sys.argv = ["agent"' in words and space in spaces:
                found.append(process.name)
        return found


@pytest.fixture
def bench(
    quick_lab: tuple[Path, Path],
    eeectl_environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Bench:
    folder, state = quick_lab
    monkeypatch.setenv("EEE_STATE_DIR", str(state.parent))
    return Bench(folder, state, eeectl_environment, tmp_path)


def test_a_run_that_is_killed_and_then_stopped_goes_on_and_loses_nothing_and_the_lab_is_restored(bench: Bench) -> None:
    before = bench.eee()
    process = bench.start("run", bench.write("killed", "eee: {links: [n01], levels: [off, on]}, count: [700]"))
    folder = bench.await_trial("killed", 1, process)
    assert bench.agents()
    process.kill()
    process.wait()
    kept = [trial for trial in read_trials(folder) if trial.valid]
    assert len(kept) == 1
    eventually("no agent is left", lambda: not bench.agents())

    process = bench.start("run", str(folder), "--resume")
    bench.await_trial("killed", 3, process)
    process.send_signal(signal.SIGINT)
    status, out, errors = bench.done(process)
    assert status == 130, (out, errors)
    assert "--resume" in out
    assert bench.eee() == before
    assert not bench.agents()
    assert read_facts(folder)["state"] == "interrupted"
    stopped = read_trials(folder)
    kept = [trial for trial in stopped if trial.valid]
    assert len(kept) >= 2
    assert Counter(trial.why for trial in stopped)["it was cut short"] >= 1
    kinds = [event["kind"] for event in read_events(folder)]
    # The trial that was killed has no end.
    assert kinds.count(EventKind.TRIAL_BEGUN) == kinds.count(EventKind.TRIAL_ENDED) + 1

    status, out, errors = bench.done(bench.start("run", str(folder), "--resume"))
    assert status == 0, (out, errors)
    trials = read_trials(folder)
    assert [trial for trial in trials if trial in kept] == kept
    assert Counter(trial.slot for trial in trials if trial.valid) == Counter(range(4))
    assert bench.eee() == before
    assert read_facts(folder)["state"] == "finished"
    for trial in trials:
        if trial.valid:
            lines = trial.path("echoes.jsonl").read_text(encoding="utf-8").splitlines()
            assert json.loads(lines[-1])["kind"] == "summary"


def test_a_probe_beside_a_stream_keeps_both_and_a_kill_leaves_no_agent(bench: Bench) -> None:
    path = bench.folder / "beside.yaml"
    # Slow: where four labs shared two cores, a stream of 50 ms was late twice, which a run is to refuse.
    path.write_text(
        f"name: beside\nlab: {bench.lab}\nblocks: 1\nrepetitions: 2\nfactors: {{count: [1500]}}\n"
        "measure: {probe: {from: n01, to: n02, gap_us: [100, 4000], stream_from: n03, stream_every_us: 400000}}\n"
        "guards: {twin_late_us: 1000000, retries: 0}\nsampling: {period_s: 0.5, lpi_period_s: 0}\n",
        encoding="utf-8",
    )
    process = bench.start("run", str(path))
    folder = bench.await_trial("beside", 1, process)
    assert len(bench.agents()) >= 2  # the stream's, and the probe's
    process.kill()
    process.wait()
    eventually("no agent is left", lambda: not bench.agents())
    whole = read_trials(folder)[0]
    assert whole.valid, whole.why
    rows = [json.loads(line) for line in whole.path(STREAM_FILE).read_text(encoding="utf-8").splitlines()]
    assert rows[-1]["kind"] == "summary"
    assert rows[-1]["rounds"] >= 5
    assert (whole.folder.parent / "0001" / STREAM_FILE).stat().st_size
    status, out, errors = bench.done(bench.start("run", str(folder), "--resume"))
    assert status == 0, (out, errors)
    assert not bench.agents()


def test_a_node_that_is_lost_costs_its_trials_and_none_of_those_before(bench: Bench) -> None:
    process = bench.start("run", bench.write("lost", "count: [700, 800]"), "--json")
    folder = bench.await_trial("lost", 1, process)
    bench.await_samples_after(folder, 0)
    labs.order(bench.lab.name, "fault", kind="power", target="n01", on=False)
    try:
        status, out, errors = bench.done(process)
    finally:
        labs.order(bench.lab.name, "clear")
    assert status in (1, 3), errors
    result = json.loads(out)
    assert result["back"] == ""
    failed = [trial for trial in read_trials(folder) if trial.state != "valid"]
    assert failed
    assert all("n01" in trial.why for trial in failed), [trial.why for trial in failed]
    assert result["valid"] + len(result["missing"]) == 4
    assert result["valid"] >= 1


def test_a_stale_meter_costs_its_trial_and_none_of_those_before(bench: Bench) -> None:
    path = bench.folder / "still.yaml"
    path.write_text(
        f"name: still\nlab: {bench.lab}\nblocks: 1\nrepetitions: 2\nmeasure: {{idle: {{window_s: 26}}}}\n"
        "guards: {retries: 0, flaps: false}\nsampling: {period_s: 0.5, lpi_period_s: 0}\n",
        encoding="utf-8",
    )
    process = bench.start("run", str(path), "--json")
    bench.await_watts("still", 1, process)
    labs.order(bench.lab.name, "fault", kind="freeze", target="pdu1")
    try:
        status, out, errors = bench.done(process)
    finally:
        labs.order(bench.lab.name, "clear")
    assert status == 3, errors
    result = json.loads(out)
    assert (result["valid"], len(result["missing"])) == (1, 1)
    first, second = read_trials(bench.folder / result["folder"])
    assert first.valid
    assert second.why == "the meter pdu1 stopped updating."


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_is_full_ends_a_run_whose_lab_is_restored_and_keeps_what_was_measured(
    bench: Bench, small_disk: Path
) -> None:
    before = bench.eee()
    (bench.folder / "runs").symlink_to(small_disk)
    process = bench.start("run", bench.write("full", "eee: {links: [n01], levels: [off, on]}, count: [700]"))
    folder = bench.await_trial("full", 1, process)
    bench.await_samples_after(folder, 0)
    filler = small_disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    status, _, errors = bench.done(process)
    assert status == 1
    assert "No space left on device" in errors
    assert "Traceback" not in errors
    assert bench.eee() == before
    assert not bench.agents()
    first = read_trials(folder)[0]
    assert first.valid
    assert RunSamples(folder).table("ports").height > 0

    filler.unlink()
    status, out, errors = bench.done(bench.start("run", str(folder), "--resume"))
    assert status == 0, (out, errors)
    trials = read_trials(folder)
    assert trials[0] == first
    assert Counter(trial.slot for trial in trials if trial.valid) == Counter(range(4))
    assert bench.eee() == before


def test_an_unknown_host_is_reported_before_anything_is_changed(bench: Bench) -> None:
    text = Path(bench.write("wrong")).read_text(encoding="utf-8").replace("to: n02", "to: n77")
    (bench.folder / "wrong.yaml").write_text(text, encoding="utf-8")
    status, out, errors = bench.done(bench.start("run", str(bench.folder / "wrong.yaml")))
    assert (status, out) == (1, "")
    assert "measure.probe.to: unknown host n77" in errors
    assert bench.run_folder("wrong") is None
