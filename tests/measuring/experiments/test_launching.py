"""Programs on a live lab: right answers, the traffic matrix, and nothing left behind whichever way a program ends."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.analysis.programs.profile import Traffic
from eee_testbed.benchmarks.program import Placement
from eee_testbed.benchmarks.table import PROGRAMS
from eee_testbed.controller.transports.hosts import ssh_command
from eee_testbed.lab.errors import LabError, Unreachable
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.launch_job import Keepalive, LaunchSetup
from eee_testbed.measuring.experiments.launching import Launched, launch
from eee_testbed.record.store import read_facts
from eee_testbed.record.trials import read_trials
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.miwa import recorded_calls
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import import_trace
from eee_testbed.twin.lab import lifecycle as labs
from tests.support.needs import lacking
from tests.support.untimed import run as run_untimed
from tests.support.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.lab
FOUR = ("n01", "n02", "n03", "n04")
# Prints what a job leaves behind: folders, and processes that carry its mark.
_TRACES = "ls -d /tmp/eee-* 2>/dev/null; grep -lsz ^EEE_JOB= /proc/[0-9]*/environ; true"


@pytest.fixture
def start(lab: Lab, tmp_path: Path) -> Callable[..., Launched]:
    """Launch a program of the table, its output in `tmp_path`."""

    def run(name: str, hosts: Sequence[str] = FOUR, *, each: int = 1, **options: Any) -> Launched:
        known = PROGRAMS[name]
        given = {
            "timeout_s": 60.0,
            "traffic": False,
            "trace": False,
            **{
                key: options.pop(key)
                for key in ("timeout_s", "traffic", "trace", "timed", "keepalive")
                if key in options
            },
        }
        placement = Placement(tuple(hosts), each)
        return launch(lab, known, known.parameters.model_validate(options), placement, LaunchSetup(tmp_path, **given))

    return run


def on(lab: Lab, host: str, words: str) -> str:
    """What a shell command prints on a host."""
    (known,) = [one for one in lab.hosts if one.name == host]
    argv = ssh_command(known, ["sh", "-c", words])
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout


def nothing_is_left(lab: Lab, *hosts: str) -> None:
    for host in hosts or FOUR:
        eventually(f"no traces on {host}", lambda host=host: not on(lab, host, _TRACES).strip())


@contextmanager
def instead(eeectl: Callable[..., Any], lab: Lab, host: str, name: str, script: str) -> Iterator[None]:
    """Another program than the one of this name on a host's path."""

    def as_root(words: str) -> None:
        done = eeectl("lab", "exec", host, "--lab", lab.name, "--root", "--", "sh", "-c", words)
        assert done.returncode == 0, done.stderr

    path, text = f"/usr/local/bin/{name}", shlex.quote(f"#!/bin/sh\n{script}\n")
    as_root(f"test ! -e {path} && mkdir -p /usr/local/bin && printf %s {text} >{path} && chmod 755 {path}")
    try:
        yield
    finally:
        as_root(f"rm {path}")


def test_alltoall_and_its_traffic(lab: Lab, start: Callable[..., Launched], tmp_path: Path) -> None:
    done = start("alltoall", iterations=20, warm_up_iterations=0, array_byte=4096, sleep_us=0, traffic=True)
    assert done.answer.right is True
    assert done.begun_ns < done.ended_ns
    result = json.loads((tmp_path / "traffic.json").read_text(encoding="utf-8"))
    for source in range(4):
        for target in range(4):
            if source == target:
                assert (result["messages"][source][target], result["bytes"][source][target]) == (0, 0)
            else:
                # 20 exchanges of 1,024 byte each, beside a barrier and two small reductions
                assert 20 <= result["messages"][source][target] <= 40
                assert 20 * 1024 <= result["bytes"][source][target] <= 20 * 1024 + 1000
    assert Traffic.model_validate_json((tmp_path / "traffic.json").read_bytes()).bytes[0][1] == result["bytes"][0][1]
    for called in json.loads((tmp_path / "mpi_calls.json").read_text(encoding="utf-8")):
        assert called["MPI_Alltoall"] == 20
        assert called["MPI_Barrier"] >= 1
    assert done.answer.figure("communications").value == 20, "those of the loop that it measures"
    assert (tmp_path / "program.out").read_text(encoding="utf-8").startswith("ranks ready\nalltoall {")
    nothing_is_left(lab)


def test_a_second_launch_counts_calls_without_compiling_again(
    lab: Lab, start: Callable[..., Launched], eeectl: Callable[..., Any], tmp_path: Path
) -> None:
    parameters = {"warm_up_iterations": 0, "sleep_us": 0, "traffic": True}
    start("alltoall", ("n01", "n02"), iterations=5, **parameters)
    with ExitStack() as broken:
        for host in ("n01", "n02"):
            broken.enter_context(instead(eeectl, lab, host, "cc", "exit 1"))
        done = start("alltoall", ("n01", "n02"), iterations=7, **parameters)
    assert done.notes == ()
    for called in json.loads((tmp_path / "mpi_calls.json").read_text(encoding="utf-8")):
        assert called["MPI_Alltoall"] == 7


def test_recorded_calls_of_all_ranks_come_back_and_are_replayed(start: Callable[..., Launched], tmp_path: Path) -> None:
    """With the counter of calls before the recorder: both see the same."""
    parameters = {"iterations": 20, "warm_up_iterations": 0, "array_byte": 4096, "sleep_us": 0}
    done = start("alltoall", ("n01", "n02"), each=2, trace=True, traffic=True, **parameters)
    assert not any("recorded" in note for note in done.notes)
    program = import_trace([tmp_path], "", Options("alltoall"))
    run_untimed(program)
    assert program.ranks == 4
    exchanged = program.calls.filter(call=Call.ALLTOALL.value)
    assert exchanged["bytes"].to_list() == 4 * 20 * [1024]
    counted = json.loads((tmp_path / "mpi_calls.json").read_text(encoding="utf-8"))
    assert [dict(rank) for rank in recorded_calls([tmp_path])] == counted
    start("alltoall", ("n01", "n02"), each=2, trace=True, **{**parameters, "iterations": 5})
    assert import_trace([tmp_path], "", Options("again")).calls.filter(call=Call.ALLTOALL.value).height == 4 * 5


def test_ranks_of_one_host_are_numbered_together(start: Callable[..., Launched]) -> None:
    done = start("alltoall", ("n02", "n03"), each=2, iterations=10, sleep_us=0)
    assert done.answer.right is True
    assert done.answer.figure("communication_size").value == 2048
    each = len(os.sched_getaffinity(0)) + 1
    result = start("command", ("n03", "n01"), each=each, words="sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname)'")
    seats = [f"{rank} {'n03' if rank < each else 'n01'}" for rank in range(2 * each)]
    assert sorted(result.output_text.split("\n")[:-1]) == sorted(seats)
    # The engine may have a processor for itself just then.
    note = re.fullmatch(rf"n03 runs {each} ranks on (\d+) processors: ranks wait for each other\.", result.notes[0])
    assert note is not None
    assert each - 2 <= int(note[1]) <= each - 1


def test_a_node_that_is_slow_to_start_costs_no_other_its_session(
    lab: Lab, start: Callable[..., Launched], eeectl: Callable[..., Any]
) -> None:
    """On many nodes the first keepers wait for the last one for longer than they would wait for a lost controller."""
    keepalive = Keepalive(every_s=0.2, linger_s=2.0)
    with instead(eeectl, lab, "n04", "python3", 'sleep 5; exec /usr/bin/python3 "$@"'):
        done = start("alltoall", iterations=5, warm_up_iterations=0, sleep_us=0, keepalive=keepalive)
    assert done.answer.right is True
    nothing_is_left(lab)


class _Noted:
    """A context that notes when it was entered and left."""

    entered_ns = left_ns = 0

    def __enter__(self) -> None:
        self.entered_ns = time.time_ns()

    def __exit__(self, *_: object) -> None:
        self.left_ns = time.time_ns()


def test_what_is_measured_begins_when_all_ranks_have_started(start: Callable[..., Launched]) -> None:
    noted = _Noted()
    done = start("alltoall", iterations=10, sleep_us=0, timed=noted)
    assert done.answer.loop_ns is not None
    assert done.begun_ns < noted.entered_ns < done.answer.loop_ns[0] < done.answer.loop_ns[1] < noted.left_ns
    noted = _Noted()
    done = start("command", ("n01",), words="sh -c 'test -p begin; echo $?; echo ranks ready'", timed=noted)
    assert done.output_text.split("\n")[0] == "0"
    assert 0 < noted.entered_ns < done.begun_ns < noted.left_ns, "a command does not say when its ranks are ready"


def test_traffic_of_the_patterns(start: Callable[..., Launched]) -> None:
    tcp = start("bit-reversal", transport="tcp", duration_s=0.3)
    assert (tcp.answer.right, tcp.answer.figure("pairs").value) == (True, 2)
    udp = start("matrix-transpose", duration_s=0.3, rate_mbps=5, traffic=True)
    assert udp.answer.right is True
    assert udp.answer.figure("throughput").value > 0
    assert udp.traffic is None
    assert "no traffic matrix" in udp.notes[0]


def test_netpipe(start: Callable[..., Launched]) -> None:
    if shutil.which("NPopenmpi") is None:
        lacking("this release of Debian or Ubuntu has no NetPIPE")
    done = start("netpipe", ("n01", "n03"), most_byte=16, repeats=1, integrity=True)
    assert done.answer.right is True
    assert done.answer.figure("sizes").value > 2


def test_unknown_hosts_and_missing_programs_are_reported(lab: Lab, start: Callable[..., Launched]) -> None:
    with pytest.raises(LabError, match="has no host 'n99': it has n01, n02"):
        start("alltoall", ("n01", "n99"))
    with pytest.raises(LabError, match="listed twice"):
        start("alltoall", ("n01", "n01"))
    on(lab, "n01", "printf '#!/bin/sh\\n' >only_here; chmod +x only_here")
    with pytest.raises(LabError, match=r"^n02: lacks /home/lab/only_here, which program command needs: install it"):
        start("command", ("n01", "n02"), words="/home/lab/only_here")
    nothing_is_left(lab)


def test_a_rank_that_fails_is_named(lab: Lab, start: Callable[..., Launched]) -> None:
    with pytest.raises(LabError, match=r"ended with status 3 \(no room here\)"):
        start("command", words="sh -c 'echo no room here >&2; exit 3'")
    with pytest.raises(LabError, match=r"was ended (there )?by signal 9"):
        start("command", ("n01", "n02"), words="sh -c 'test $OMPI_COMM_WORLD_RANK = 0 && sleep 50; kill -9 $$'")
    nothing_is_left(lab)


def test_a_program_that_does_not_end_is_killed_on_all_nodes(lab: Lab, start: Callable[..., Launched]) -> None:
    # The first leaves its process group and its parent, and is found all the same.
    start("command", ("n01", "n02"), words="sh -c 'setsid -f sleep 500 </dev/null >/dev/null 2>&1'")
    with pytest.raises(LabError, match="did not end within 3 s and was killed on all nodes"):
        start("command", words="sleep 500", timeout_s=3.0)
    nothing_is_left(lab)


def test_a_node_that_is_lost_during_the_run(
    lab: Lab, start: Callable[..., Launched], eeectl: Callable[..., Any]
) -> None:
    def link(state: str) -> None:
        done = eeectl("lab", "exec", "n03", "--lab", lab.name, "--root", "--", "ip", "link", "set", "mgmt0", state)
        assert done.returncode == 0, done.stderr

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(start, "command", words="sleep 500")
        eventually("it runs on n03", lambda: "/proc" in on(lab, "n03", _TRACES))
        link("down")
        try:
            with pytest.raises(Unreachable, match=r"n03: was lost while the program ran \(the SSH connection ended"):
                running.result(PATIENCE_S)
        finally:
            link("up")
    nothing_is_left(lab)


def test_a_cut_cable_is_reported_at_the_timeout(lab: Lab, start: Callable[..., Launched]) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(start, "alltoall", ("n01", "n02"), sleep_us=1000, iterations=1_000_000, timeout_s=8.0)
        eventually("it runs on n02", lambda: "/proc" in on(lab, "n02", _TRACES))
        labs.order(lab.name, "fault", kind="cut", target="n02")
        try:
            with pytest.raises(Unreachable, match=r"^n02: n01 can no longer reach it, and alltoall did not end"):
                running.result(PATIENCE_S)
        finally:
            labs.order(lab.name, "clear")
    nothing_is_left(lab, "n01", "n02")


@pytest.fixture
def bench(lab: Lab, tmp_path: Path, eeectl_environment: dict[str, str]) -> Iterator[Callable[..., Any]]:
    """Start `eeectl bench` in a process group of its own."""
    begun: list[subprocess.Popen[str]] = []

    def run(*words: str) -> subprocess.Popen[str]:
        environment = {**eeectl_environment, "EEE_CONTROLLER_DIR": str(tmp_path / "state")}
        argv = [
            sys.executable,
            "-m",
            "eee_testbed.eeectl.cli",
            "bench",
            *words,
            "--lab",
            lab.folder,
            "--runs",
            str(tmp_path),
        ]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun.append(subprocess.Popen(argv, env=environment, start_new_session=True, **pipes))
        return begun[-1]

    yield run
    for process in begun:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_bench(bench: Callable[..., Any]) -> None:
    words = shlex.split("alltoall --hosts n01,n03 --set iterations=10 --set sleep_us=0 --traffic --json")
    process = bench(*words)
    output, errors = process.communicate(timeout=120)
    result = json.loads(output)
    trials = read_trials(Path(result["folder"]))
    states = [repetition["state"] for repetition in result["repetitions"]]
    assert states == [trial.state for trial in trials]
    assert set(states[:-1]) <= {"invalid"}, "only a disturbed one is tried again"
    assert process.returncode == (0 if states[-1] == "valid" else 1), errors
    for trial, repetition in zip(trials, result["repetitions"], strict=True):
        assert trial.answer_right is True
        assert repetition["traffic"]["n03"]["messages"] >= 10
        assert trial.path("program.out").exists()
    assert read_facts(Path(result["folder"]))["state"] == "finished"


def test_ctrl_c_leaves_no_process_and_keeps_the_output(lab: Lab, bench: Callable[..., Any], tmp_path: Path) -> None:
    process = bench("command", "--set", "words=sleep 500", "--hosts", "n02,n04")
    eventually("it runs on n04", lambda: "/proc" in on(lab, "n04", _TRACES))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    nothing_is_left(lab, "n02", "n04")
    (folder,) = tmp_path.glob("*-bench-command")
    (trial,) = read_trials(folder)
    assert (trial.state, trial.why) == ("failed", "it was cut short")


def test_the_launcher_is_killed(lab: Lab, start: Callable[..., Launched]) -> None:
    child = os.fork()
    if not child:
        try:
            start("command", ("n01", "n02"), words="sleep 500")
        finally:
            os._exit(1)
    try:
        eventually("it runs on n02", lambda: "/proc" in on(lab, "n02", _TRACES))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    nothing_is_left(lab, "n01", "n02")
