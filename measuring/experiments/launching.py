"""Launch a program of the table on nodes, over SSH and a launcher of the table, and leave nothing of it behind.

On each node a keeper (`agents/job_keeper.py`) creates a private folder with the program's files and runs until the end.
The launcher, by default Open MPI's, starts on the first node of the placement, and reaches the others from there. When
the program ends, and likewise at a timeout, a Ctrl-C, a lost node or a killed `eeectl`, the keepers kill the remaining
processes of the job on their nodes and remove the folders.

The launcher's output is written to `folder` as it arrives: `program.out`, `program.err`. The result file of programs
that have one, `traffic.json`, `mpi_calls.json` and the ranks' files in `traces/` follow at the end.
"""

import asyncio
import base64
import contextlib
import fnmatch
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from eee_testbed.agents.pack import packed
from eee_testbed.benchmarks.program import READY, Answer, Figure, Parameters, Placement, Program
from eee_testbed.controller.transports.hosts import Json
from eee_testbed.controller.transports.hosts import Program as NodeProgram
from eee_testbed.controller.transports.node_session import NodeSession, stream_from
from eee_testbed.lab.errors import DeviceError, LabError, Unreachable, Unreadable
from eee_testbed.lab.model import Host, Lab
from eee_testbed.lab.plain_text import decoded_lines
from eee_testbed.measuring.experiments import mpi_calls, mpi_trace
from eee_testbed.measuring.experiments.launch_job import Job, LaunchSetup, job_of
from eee_testbed.measuring.experiments.launchers.launcher import Start
from eee_testbed.measuring.experiments.login_check import refusing
from eee_testbed.measuring.experiments.one_sided import UnclearWindows
from eee_testbed.measuring.experiments.preloads import fresh_libraries, keep_compiled, needed_by, preloading
from eee_testbed.measuring.experiments.raw_files import RawFile
from eee_testbed.measuring.experiments.traffic import PREFIX, Traffic, monitored

_GREETING_TIMEOUT_S: Final = 75.0
"""More than a keeper has for preparing its folder (`agents.job_keeper`)."""

_RELEASE_TIMEOUT_S: Final = 20.0
_AT_ONCE: Final = 16
_TRAFFIC: Final = "traffic.json"
_CALLS: Final = "mpi_calls.json"
_STATUS: Final = '"$@"; s=$?; [ $s -ne 255 ] || s=254; exit $s'
"""Maps a launcher's own 255, so that it is not mistaken for a failure of ssh."""


@dataclass(frozen=True, slots=True)
class Launched:
    """A program that ran to its end, whether or not its answer is right.

    `begun_ns` and `ended_ns`: start of the launcher (a few tenths of a second before the ranks run) and its end, by the
    given clock; the figure `elapsed` of every answer is their difference. `notes`: sentences on what makes the figures
    doubtful, such as more ranks than processors.
    """

    answer: Answer
    begun_ns: int
    ended_ns: int
    output_text: str
    notes: tuple[str, ...] = ()
    traffic: Traffic | None = None


@dataclass(slots=True)
class _Window:
    begun_ns: int = 0
    ended_ns: int = 0


def launch(lab: Lab, program: Program, parameters: Parameters, placement: Placement, setup: LaunchSetup) -> Launched:
    """Run a program on nodes of the lab. Returns when it ended by itself with status 0; its answer may still be wrong.

    Output is buffered while the disk is full; RunFolderFailed at the end if it still is.
    Raises LabError: unknown host, program missing on a node, node unreachable or lost during the run, rank ended with
    another status or by a signal, no end within the time-out. A KeyboardInterrupt is passed on after everything has
    been killed on all nodes. Call it outside a running event loop.
    """
    job = job_of(lab, program, parameters, placement, setup)
    folder = setup.folder
    mpi_trace.clear_traces(folder)
    with job.output, job.errors:
        window, fetched, facts_of = asyncio.run(_run(job))
    text = job.output.text
    for name in sorted(fetched):
        if any(fnmatch.fnmatch(name, pattern) for pattern in job.results):
            _write_file(folder / name, fetched[name])
            text += "\n" + decoded_lines(fetched[name])
    counts = {name: _text(data) for name, data in fetched.items()}
    answer = setup.figures.added_to(program.read(parameters, job.placement, text), text)
    elapsed = Figure("elapsed", (window.ended_ns - window.begun_ns) / 1e9, "s")
    answer, notes = _with_calls(job, replace(answer, figures=(*answer.figures, elapsed)), counts, facts_of, folder)
    matrix, more = _matrix_of(job, counts)
    notes = (*_crowded(job.placement, facts_of), *notes, *more, *_lost_traces(job, facts_of))
    return Launched(answer, window.begun_ns, window.ended_ns, text, notes, matrix)


def _matrix_of(job: Job, counts: Mapping[str, str]) -> tuple[Traffic | None, tuple[str, ...]]:
    """The matrix of messages, and why there is none though it was asked for."""
    if job.traffic:
        named = (data for name, data in counts.items() if name.startswith(PREFIX))
        try:
            matrix = monitored(job.placement.ranks, named)
        except UnclearWindows as error:
            return None, (str(error),)
        _write_file(job.setup.folder / _TRAFFIC, json.dumps(matrix.plain()).encode() + b"\n")
        return matrix, ()
    if job.calls:
        told = f"launcher {job.setup.choice.launcher.name} cannot count messages between ranks"
        return None, (f"{told}: no traffic matrix was recorded.",)
    asked = job.setup.traffic
    return None, ((f"{job.program} sends no MPI messages: no traffic matrix was recorded.",) if asked else ())


def _lost_traces(job: Job, facts_of: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Why there are no traces, or not of all ranks, though they were asked for."""
    if not job.setup.trace:
        return ()
    if not job.trace:
        return (f"{job.program} sends no MPI messages: no trace was recorded.",)
    if mpi_trace.recorded_ranks(job.setup.folder) < job.placement.ranks:
        return (_unseen("recorded", job.program, facts_of),)
    return ()


def _with_calls(
    job: Job, answer: Answer, counts: Mapping[str, str], facts_of: Mapping[str, Mapping[str, Any]], folder: Path
) -> tuple[Answer, tuple[str, ...]]:
    """The answer with what the counter of calls saw, and notes on what it did not see and somebody would miss."""
    calls = mpi_calls.read_calls(job.placement.ranks, counts) if job.counted else None
    names = {figure.name for figure in answer.figures}
    if calls is None:
        missed = job.calls or (job.counted and "time" not in names)
        return answer, ((_unseen("counted and timed", job.program, facts_of),) if missed else ())
    if job.placement.ranks > 1 and calls.worlds == {1}:
        raise LabError(
            f"{job.program}: each rank ran alone, as it is made for another MPI than launcher "
            f"{job.setup.choice.launcher.name} starts: compile it with that MPI's mpicc, or choose another --launcher"
            f"{job.setup.choice.launcher.if_alone}."
        )
    _write_file(folder / _CALLS, json.dumps([dict(rank) for rank in calls.by_rank]).encode() + b"\n")
    added = []
    if "communications" not in names:
        added.append(Figure("communications", calls.communications(len(job.placement.hosts)), "call"))
    if calls.run_s is not None:
        added.append(Figure("mpi_time", calls.run_s, "s"))
    loop_ns = answer.loop_ns or calls.first_ns
    return replace(answer, figures=(*answer.figures, *added), loop_ns=loop_ns), ()


# -- the job, on the event loop


async def _run(job: Job) -> tuple[_Window, dict[str, bytes], dict[str, Mapping[str, Any]]]:
    async with _keepers(job) as (keepers, facts_of):
        first = keepers[0].host
        start = Start(
            replace(job.launch, argv=preloading(job.launch.argv, job.preloads)),
            job.placement,
            job.name,
            str(facts_of[first.name]["folder"]),
            traffic=job.traffic,
            crowded=bool(_crowded(job.placement, facts_of)),
            interfaces=tuple(host.interface for host in job.hosts),
            words=job.setup.choice.words,
            allocation=job.setup.choice.allocation,
        )
        argv = job.setup.choice.launcher.argv(start)
        with contextlib.ExitStack() as measured:
            if not job.launch.says_ready:
                measured.enter_context(job.setup.timed)
            window = await _supervised(job, keepers, argv, measured)
        fetched = await _release_keepers(job, keepers)
    return window, fetched, facts_of


def _crowded(placement: Placement, facts_of: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Sentences about nodes with fewer processors than ranks."""
    each = placement.ranks_per_host
    return tuple(
        f"{name} runs {each} ranks on {facts['cpus']} processors: ranks wait for each other."
        for name, facts in facts_of.items()
        if facts["cpus"] < each
    )


def _unseen(done: str, program: str, facts_of: Mapping[str, Mapping[str, Any]]) -> str:
    """Why no calls of MPI were counted or recorded."""
    for name, facts in facts_of.items():
        if facts["unprepared"]:
            lacking = "mpicc" if done == "recorded" else "a C compiler"
            return f"calls of MPI were not {done} ({name}: {facts['unprepared']}): install {lacking} on all nodes."
    return f"calls of MPI were not {done}: {program} does not use MPI as a shared library, or not to its end."


@contextlib.asynccontextmanager
async def _keepers(job: Job) -> AsyncIterator[tuple[tuple[NodeSession, ...], dict[str, Mapping[str, Any]]]]:
    """A session with a keeper on every node, and what each keeper reports about its node, by name.

    A keeper hears from here from its answer on: on many nodes the last one answers long after the first. On exit the
    first node's keeper ends first, so that no new process can start.
    """
    keeper = NodeProgram("the job's keeper", packed("job_keeper"))
    sessions = tuple(NodeSession(keeper, host) for host in job.hosts)
    free = asyncio.Semaphore(_AT_ONCE)
    heartbeats: list[asyncio.Task[None]] = []
    async with contextlib.AsyncExitStack() as stack:

        async def start(session: NodeSession) -> Json:
            async with free:
                await stack.enter_async_context(session)
                answer = await _start_keeper(job, session)
                heartbeats.append(asyncio.create_task(_send_heartbeats(session, job.setup.keepalive.every_s)))
                return answer

        try:
            answers = await _all([start(session) for session in sessions])
            facts_of = {session.host.name: answer for session, answer in zip(sessions, answers, strict=True)}
            _require_complete(job, facts_of)
            yield sessions, facts_of
        finally:
            await _release_keepers(job, sessions, ignore_errors=True)
            await _cancel(heartbeats)


async def _send_heartbeats(session: NodeSession, every_s: float) -> None:
    """Let a keeper hear from here until cancelled."""
    while True:
        await asyncio.sleep(every_s)
        await session.send(None)


async def _start_keeper(job: Job, session: NodeSession) -> Json:
    """Send a keeper the program's files; returns what it reports about its node."""
    preloads, prepare = needed_by(job.preloads, session.host)
    launcher = job.setup.choice.launcher
    contents = {**launcher.files(job.placement), **job.launch.files, **preloads}
    files = {name: base64.b64encode(data).decode() for name, data in contents.items()}
    needed = launcher.needed_on_first(job.setup.choice.words) if session.host == job.hosts[0] else launcher.commands
    commands = [word for word in (job.launch.argv[0], *job.launch.commands, *needed) if word not in files]
    greeting = {"job": job.name, "files": files, "commands": commands, "modules": list(job.launch.modules)}
    await session.send({**greeting, "prepare": list(prepare), "linger_s": job.setup.keepalive.linger_s})
    try:
        async with asyncio.timeout(_GREETING_TIMEOUT_S):
            return await session.answer()
    except TimeoutError as error:
        raise Unreachable(
            session.host.name, f"did not answer over SSH within {_GREETING_TIMEOUT_S:g} s: check the node."
        ) from error


def _require_complete(job: Job, facts_of: Mapping[str, Mapping[str, Any]]) -> None:
    """DeviceError if a node lacks what the program needs."""
    lacking = {name: facts["missing"] for name, facts in facts_of.items() if facts["missing"]}
    if lacking:
        name, absent = next(iter(lacking.items()))
        others = [other for other, what in lacking.items() if what == absent and other != name]
        also = f" (so does {', '.join(others)})" if others else ""
        sentence = f"lacks {', '.join(absent)}, which program {job.program} needs{also}: install it on every node."
        raise DeviceError(name, sentence)


async def _supervised(
    job: Job, keepers: tuple[NodeSession, ...], argv: list[str], measured: contextlib.ExitStack
) -> _Window:
    """Run the launcher on the first node and watch the keepers; the first of them to end decides the outcome.

    Where the program says that its ranks are ready, `job.setup.timed` is entered into `measured` then, and they go on.
    """
    window = _Window()
    first = keepers[0].host
    remote = ["env", f"EEE_JOB={job.name}", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
    remote += ["sh", "-c", _STATUS, "sh", *argv]

    def begun() -> None:
        window.begun_ns = job.setup.now()

    orders: list[asyncio.Task[None]] = []

    def take(data: bytes) -> None:
        job.output.take(data)
        if job.launch.says_ready and not orders and READY in job.output.text.splitlines():
            measured.enter_context(job.setup.timed)
            orders.append(asyncio.create_task(keepers[0].send({"begin": True})))

    running = asyncio.create_task(stream_from(first, remote, take, job.errors.take, begun))
    watching = [asyncio.create_task(_watch_keeper(session)) for session in keepers]
    try:
        async with asyncio.timeout(job.setup.timeout_s):
            await asyncio.wait([running, *watching], return_when=asyncio.FIRST_COMPLETED)
    except TimeoutError as error:
        raise await _timeout_error(job) from error
    finally:
        window.ended_ns = job.setup.now()
        lost = [task.exception() for task in watching if task.done() and not task.cancelled()]
        await _cancel([*watching, *orders, *([] if running.done() else [running])])
    for failure in lost:
        if failure is not None:
            raise failure
    _check_status(job, running.result())
    return window


async def _timeout_error(job: Job) -> LabError:
    """Why a program did not end: names a node that the first one can no longer reach, if any."""
    first, *others = job.hosts
    unreachable = await refusing(first, job.placement.hosts[1:])
    within = f"within {job.setup.timeout_s:g} s and was killed on all nodes"
    for host in others:
        if host.name in unreachable:
            sentence = f"{first.name} can no longer reach it, and {job.program} did not end {within}: check its link."
            return Unreachable(host.name, sentence)
    return LabError(f"{job.program} on {', '.join(job.placement.hosts)} did not end {within}: increase its timeout.")


async def _watch_keeper(session: NodeSession) -> None:
    """Unreachable when a keeper's session has ended."""
    said = await session.gone()
    raise Unreachable(
        session.host.name,
        f"was lost while the program ran ({said}); the program was killed on the other nodes: check the node, then run "
        "it again.",
    )


def _check_status(job: Job, status: int) -> None:
    """LabError if the launcher's exit status is not 0."""
    if status == 0:
        return
    faulty_host, sentence = job.setup.choice.launcher.diagnose(status, job.errors.text, job.placement.hosts)
    if faulty_host in {host.name for host in job.hosts}:
        raise DeviceError(faulty_host, sentence)
    raise LabError(f"{job.program}: {sentence}")


async def _release_keepers(
    job: Job, keepers: tuple[NodeSession, ...], *, ignore_errors: bool = False
) -> dict[str, bytes]:
    """Have every keeper clean up, the first node's first; returns the files they fetched, by name.

    `ignore_errors`: used on exit for the keepers that remain, where the earlier error is the one to report.
    """
    found: dict[str, bytes] = {}

    async def release(session: NodeSession) -> None:
        if session.parted or not session.begun:
            return
        session.parted = True
        wanted = [f"{PREFIX}.*.prof", mpi_calls.PATTERN, *fresh_libraries(job.preloads, session.host)]
        wanted += job.results if session is keepers[0] else []
        await session.send({"fetch": wanted, "parts": [mpi_trace.PATTERN] if job.trace else []})
        answer: Json = {}
        try:
            while "files" not in answer:  # before: its greeting, if that was not read yet, and parts of traces
                async with asyncio.timeout(_RELEASE_TIMEOUT_S):
                    answer = await session.answer()
                if "part" in answer:
                    mpi_trace.take_part(session.host, job.setup.folder, answer)
        except TimeoutError as error:
            raise Unreachable(
                session.host.name, "no longer answers: its measurements are lost; check the node, then run again."
            ) from error
        files = _fetched_files(session.host, answer["files"])
        keep_compiled(job.preloads, session.host, files)
        found.update(files)

    first, *others = keepers
    for group in ([first], others):
        try:
            await _all([release(session) for session in group])
        except LabError:
            if not ignore_errors:
                raise
    return found


async def _all(tasks: list[Any]) -> list[Any]:
    """Wait for all; returns their results, or raises the first error."""
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


async def _cancel(tasks: list["asyncio.Task[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _fetched_files(host: Host, files: Any) -> dict[str, bytes]:
    """Files as a keeper sends them; Unreadable if they are none."""
    try:
        return {str(name): base64.b64decode(data, validate=True) for name, data in files.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise Unreadable(host.name, "the files of its ranks", str(error)) from error


def _write_file(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    with RawFile(path) as file:
        file.append(data)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
