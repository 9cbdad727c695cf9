"""Starting a program of the table on nodes, over SSH and Open MPI, and leaving nothing of it behind.

On each node a keeper (`agents/job_keeper.py`) makes a private folder with the program's files and stays until the end.
Open MPI is started on the first node of the placement, in that folder, and reaches the others from there by SSH. When
the program ends, and just as well at a time-out, a Ctrl-C, a lost node or a killed `eeectl`, the keepers kill whatever
is left of the job on their nodes and remove the folders.

What `mpirun` prints is written to `folder` while it comes: `program.out`, `program.err`; `traffic.json` at the end.
"""

import asyncio
import base64
import contextlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from agents.pack import packed
from benchmarks.programs.program import Answer, Figure, Launch, Parameters, Placement, Program, Unfit
from controller.errors import DeviceError, LabError, Unreachable
from controller.experiments.mpirun import complaint, mpirun_argv
from controller.experiments.traffic import PREFIX, Traffic, monitored
from controller.model.lab import Host, Lab
from controller.transports.hosts import Json
from controller.transports.hosts import Program as NodeProgram
from controller.transports.node_session import NodeSession, stream_from

_HELLO_S: Final = 30.0
_GOODBYE_S: Final = 20.0
_LINGER_S: Final = 20.0
_HEARTBEAT_S: Final = 2.0
_AT_ONCE: Final = 16
_OUTPUT: Final = "program.out"
_ERRORS: Final = "program.err"
_TRAFFIC: Final = "traffic.json"
_STATUS: Final = '"$@"; s=$?; [ $s -ne 255 ] || s=254; exit $s'
"""mpirun's own 255 must not be taken for ssh's."""

Now = Callable[[], int]
"""The run's clock: UTC in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Launched:
    """A program that ran to its end, whatever it answered.

    `begun_ns` and `ended_ns`: from the start of `mpirun` (a few tenths of a second before the ranks run) to its end, of
    the clock that was given; the figure `elapsed` of every answer is what lies between. `notes`: sentences on what
    makes its figures doubtful, such as more ranks than processors.
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


@dataclass(frozen=True, slots=True)
class _Job:
    """What is about to run: `name` marks its processes on all nodes."""

    program: str
    launch: Launch
    placement: Placement
    hosts: tuple[Host, ...]
    timeout_s: float
    folder: Path
    traffic: bool
    now: Now
    name: str = field(default_factory=lambda: secrets.token_hex(8))


def launch(
    lab: Lab,
    program: Program,
    parameters: Parameters,
    placement: Placement,
    *,
    timeout_s: float,
    folder: Path,
    traffic: bool = False,
    now: Now = time.time_ns,
) -> Launched:
    """Run a program on nodes of the lab, its output kept in `folder`, which is made if there is none.

    Returns when the program ended by itself with status 0: its answer may still be wrong. LabError otherwise: a host
    that is not in the lab, a program that a node lacks, a node that cannot be reached or is lost meanwhile, a rank that
    ended with another status or by a signal, no end within `timeout_s`. At a KeyboardInterrupt too, everything is
    killed on all nodes before it passes through. To be called outside a running event loop.
    """
    hosts = hosts_of(lab, placement)
    placement = replace(placement, addresses=tuple(host.data_address for host in hosts))
    try:
        asked = program.launch(parameters, placement)
    except Unfit as error:
        raise LabError(f"{program.name}: {error}") from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"{folder} cannot be made ({error.strerror}): choose another place for the output.") from error
    job = _Job(program.name, asked, placement, hosts, timeout_s, folder, traffic and asked.monitored, now)
    window, fetched, notes = asyncio.run(_run(job))
    output = (folder / _OUTPUT).read_text(encoding="utf-8", errors="replace")
    text = "\n".join([output, *(_text(data) for name, data in fetched.items() if name == asked.result)])
    seen = None
    if job.traffic:
        seen = monitored(placement.ranks, (_text(data) for name, data in fetched.items() if name.startswith(PREFIX)))
        (folder / _TRAFFIC).write_text(json.dumps(seen.plain()) + "\n", encoding="utf-8")
    elif traffic:
        notes = (*notes, f"{program.name} sends no MPI messages: there is no traffic matrix.")
    answer = program.read(parameters, placement, text)
    elapsed = Figure("elapsed", (window.ended_ns - window.begun_ns) / 1e9, "s")
    answer = replace(answer, figures=(*answer.figures, elapsed))
    return Launched(answer, window.begun_ns, window.ended_ns, text, notes, seen)


def hosts_of(lab: Lab, placement: Placement) -> tuple[Host, ...]:
    """The hosts of a placement; LabError if the lab has no such, one comes twice, or there are no ranks."""
    known = {host.name: host for host in lab.hosts}
    for name in placement.hosts:
        if name not in known:
            raise LabError(f"lab {lab.name} has no host '{name}': it has {', '.join(known) or 'none'}.")
    if len(set(placement.hosts)) < len(placement.hosts):
        raise LabError("a host is named twice: name it once and give more ranks per host.")
    if not placement.hosts or placement.ranks_per_host < 1:
        raise LabError("a program needs at least one host with one rank.")
    return tuple(known[name] for name in placement.hosts)


# -- the job, on the event loop


async def _run(job: _Job) -> tuple[_Window, dict[str, bytes], tuple[str, ...]]:
    async with _keepers(job) as keepers:
        told = await _meet(job, keepers)
        crowded = [name for name, facts in told.items() if facts["cpus"] < job.placement.ranks_per_host]
        first = keepers[0].host
        argv = mpirun_argv(
            job.launch,
            job.placement,
            job.name,
            str(told[first.name]["folder"]),
            traffic=job.traffic,
            crowded=bool(crowded),
        )
        window = await _attended(job, keepers, argv)
        fetched = await _farewell(job, keepers)
    each = job.placement.ranks_per_host
    notes = tuple(
        f"{name} has {told[name]['cpus']} processors for {each} ranks: they wait for each other." for name in crowded
    )
    return window, fetched, notes


@contextlib.asynccontextmanager
async def _keepers(job: _Job) -> AsyncIterator[tuple[NodeSession, ...]]:
    """A session with a keeper on every node. Leaving it, the first node's is ended first: nothing starts anew then."""
    keeper = NodeProgram("the job's keeper", packed("job_keeper"))
    sessions = tuple(NodeSession(keeper, host) for host in job.hosts)
    free = asyncio.Semaphore(_AT_ONCE)
    async with contextlib.AsyncExitStack() as stack:

        async def enter(session: NodeSession) -> None:
            async with free:
                await stack.enter_async_context(session)

        await asyncio.gather(*map(enter, sessions))
        try:
            yield sessions
        finally:
            await _farewell(job, sessions, quietly=True)


async def _meet(job: _Job, keepers: tuple[NodeSession, ...]) -> dict[str, Mapping[str, Any]]:
    """Give every keeper the files; what each says of its node, by name."""
    files = {name: base64.b64encode(data).decode() for name, data in job.launch.files.items()}
    commands = [word for word in (job.launch.argv[0], *job.launch.commands, "mpirun", "orted") if word not in files]
    own = [word for word in commands if not word.startswith("./")]
    asked = {"job": job.name, "files": files, "commands": own, "modules": list(job.launch.modules)}

    async def meet(session: NodeSession) -> Json:
        await session.tell({**asked, "linger_s": _LINGER_S})
        try:
            async with asyncio.timeout(_HELLO_S):
                return await session.answer()
        except TimeoutError as error:
            raise Unreachable(session.host.name, f"did not answer by SSH within {_HELLO_S:g} s: look at it.") from error

    answers = await _all([meet(session) for session in keepers])
    told = {session.host.name: answer for session, answer in zip(keepers, answers, strict=True)}
    lacking = {name: facts["missing"] for name, facts in told.items() if facts["missing"]}
    if lacking:
        name, absent = next(iter(lacking.items()))
        others = f" (and {len(lacking) - 1} more nodes lack something)" if len(lacking) > 1 else ""
        sentence = f"lacks {', '.join(absent)}, which {job.program} needs{others}: install it on every node."
        raise DeviceError(name, sentence)
    return told


async def _attended(job: _Job, keepers: tuple[NodeSession, ...], argv: list[str]) -> _Window:
    """Run Open MPI on the first node while the keepers are watched; whatever ends first decides."""
    window = _Window()
    first = keepers[0].host
    remote = ["env", f"EEE_JOB={job.name}", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
    remote += ["sh", "-c", _STATUS, "sh", *argv]

    def begun() -> None:
        window.begun_ns = job.now()

    with (job.folder / _OUTPUT).open("wb") as output, (job.folder / _ERRORS).open("wb") as errors:
        running = asyncio.create_task(stream_from(first, remote, output, errors, begun=begun))
        watching = [asyncio.create_task(_watch(session)) for session in keepers]
        try:
            async with asyncio.timeout(job.timeout_s):
                await asyncio.wait([running, *watching], return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError as error:
            sentence = f"did not end within {job.timeout_s:g} s and was killed on all nodes: allow more time."
            raise LabError(f"{job.program} on {', '.join(job.placement.hosts)} {sentence}") from error
        finally:
            window.ended_ns = job.now()
            lost = [task.exception() for task in watching if task.done() and not task.cancelled()]
            await _end([*watching, *([] if running.done() else [running])])
    for failure in lost:
        if failure is not None:
            raise failure
    await _judge(job, running.result())
    return window


async def _watch(session: NodeSession) -> None:
    """Heartbeats to a keeper until this is cancelled; Unreachable if it goes away."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            await session.tell(None)

    beating = asyncio.create_task(beat())
    try:
        await session.gone()
    finally:
        await _end([beating])
    raise Unreachable(
        session.host.name, "was lost while the program ran, which was killed on the others: check it, then run again."
    )


async def _judge(job: _Job, status: int) -> None:
    """LabError if mpirun's exit status is not 0; a host that cannot log in to another is looked for then."""
    if status == 0:
        return
    said = (job.folder / _ERRORS).read_text(encoding="utf-8", errors="replace")
    blamed, sentence = complaint(status, said, job.placement.hosts)
    if blamed in {host.name for host in job.hosts}:
        raise DeviceError(blamed, sentence)
    raise LabError(f"{job.program}: {sentence}")


async def _farewell(job: _Job, keepers: tuple[NodeSession, ...], *, quietly: bool = False) -> dict[str, bytes]:
    """Have every keeper clean up, the first node's first; what they fetched, by name.

    `quietly`: for those that were not asked yet, on the way out, where what went wrong before is what counts.
    """
    counts = f"{PREFIX}.*.prof"
    found: dict[str, bytes] = {}

    async def part(session: NodeSession) -> None:
        if session.parted:
            return
        session.parted = True
        await session.tell({"fetch": [counts, job.launch.result] if session is keepers[0] else [counts]})
        try:
            async with asyncio.timeout(_GOODBYE_S):
                answer = await session.answer()
        except TimeoutError as error:
            raise Unreachable(session.host.name, "does not answer any more, so what it measured is lost.") from error
        for name, data in answer["files"].items():
            found[name] = base64.b64decode(data)

    first, *others = keepers
    for group in ([first], others):
        try:
            await _all([part(session) for session in group])
        except LabError:
            if not quietly:
                raise
    return found


async def _all(work: list[Any]) -> list[Any]:
    """The results of all, or the first error when all have ended."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


async def _end(tasks: list["asyncio.Task[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
