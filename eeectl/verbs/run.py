"""`eeectl run` and `eeectl sweep`: experiments from a file, and from the command line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from controller.experiments.experiment import Experiment
from controller.experiments.experiment_file import Written, experiment_of, read_experiment
from controller.experiments.fitting import order_for
from controller.experiments.session import RunOptions, RunResult, fitting_lab, look, put_back, resume, run_new
from controller.live.export.attach import ViewOptions
from eeectl.exit_status import DONE, INTERRUPTED, PENDING, REFUSED
from eeectl.set_options import all_hosts, pairs, value
from twin.lab.lateness import Lateness

_Flag = Annotated[bool, Parameter(negative="")]
_Json = Annotated[bool, Parameter(name="--json", negative="")]


run_app, sweep_app = App(name="run"), App(name="sweep")


@run_app.default
def run(
    file: Path,
    /,
    *,
    lab: str = "",
    runs: Path = Path("runs"),
    resume: _Flag = False,
    put_back: _Flag = False,
    preflight: _Flag = False,
    order: _Flag = False,
    anyway: _Flag = False,
    as_json: _Json = False,
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
) -> int:
    """Run an experiment: trials in interleaved random blocks, everything sampled, the lab put back at the end.

    Exit status 3 means that the run ended with trials missing: `eeectl run FOLDER --resume` tries them again.

    Parameters
    ----------
    file
        The experiment's file, see experiments/; with --resume and --put-back the run's folder.
    lab
        Run it on another lab than the file says.
    runs
        Folder in which the run gets its own.
    resume
        Go on with a run that was stopped or killed; trials that count are kept.
    put_back
        Only put the lab back to what it was before a run that was killed.
    preflight
        Only look at the meters, and say whether they can see the effect.
    order
        Only print the trials in their order.
    anyway
        Run even if the meters cannot see the effect that is expected.
    as_json
        Print JSON.
    views
        Who else is shown it.

    """
    if resume or put_back:
        return _go_on(file, RunOptions(runs, anyway, views=views), put=put_back, as_json=as_json)
    experiment, written = read_experiment(file)
    if lab:
        experiment = experiment.model_copy(update={"lab": lab})
    if order:
        fitting_lab(experiment, written)
        return _print_order(experiment, as_json=as_json)
    return _start(experiment, written, RunOptions(runs, anyway, views=views), only_look=preflight, as_json=as_json)


@sweep_app.default
def sweep(
    program: str,
    /,
    *,
    lab: str = "virtual",
    hosts: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = (),
    factor: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    parameter: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    links: str = "hosts",
    slow: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    ranks_per_host: int = 1,
    blocks: int = 3,
    repetitions: int = 1,
    seed: int = 1,
    timeout_s: float = 600.0,
    gaps: _Flag = False,
    traffic: _Flag = False,
    agent_user: str = "",
    name: str = "",
    runs: Path = Path("runs"),
    order: _Flag = False,
    as_json: _Json = False,
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
) -> int:
    """Run a program of the table at all combinations of some factors' levels: `run` without a file.

    Parameters
    ----------
    program
        Its name in the table of programs; `eeectl bench` shows them.
    lab
        Name of a lab, or a folder.
    hosts
        Where it runs; left out: all hosts of the lab.
    factor
        NAME=LEVEL,LEVEL,...: eee=on,off, hold_us, link, speed_mbps, routing, host_count, ranks_per_host, or a
        parameter of the program. As often as there are factors.
    parameter
        NAME=VALUE: a parameter of the program that stays as it is.
    links
        Whose eee, hold_us, link or speed is changed: hosts, trunks, all, or links with commas in between.
    slow
        Factors that change as seldom as possible: once a block for each level.
    ranks_per_host
        Ranks on each host.
    blocks
        Every combination once in each of so many blocks.
    repetitions
        How often in each block.
    seed
        Of the order.
    timeout_s
        For one trial.
    gaps
        Record the idle gaps of the hosts' links.
    traffic
        Count messages and bytes between ranks.
    agent_user
        Who runs agents on nodes, if not the inventory's user.
    name
        Of the run; left out: the program's.
    runs
        Folder in which the run gets its own.
    order
        Only print the trials in their order.
    as_json
        Print JSON.
    views
        Who else is shown it.

    """
    known = {"program": {"name": program, "parameters": _parameters(parameter), "ranks_per_host": ranks_per_host}}
    known["program"] |= {"hosts": list(hosts) or all_hosts(lab), "timeout_s": timeout_s}
    content = {
        "name": name or f"{program}-sweep",
        "lab": lab,
        "factors": _factors(factor, links),
        "measure": known,
        "blocks": blocks,
        "repetitions": repetitions,
        "seed": seed,
        "slow": list(slow),
        "recordings": {"gaps": gaps, "traffic": traffic, "user": agent_user},
    }
    written = Written("the command line", content)
    experiment = experiment_of(written)
    if order:
        fitting_lab(experiment, written)
        return _print_order(experiment, as_json=as_json)
    return _start(experiment, written, RunOptions(runs, views=views), only_look=False, as_json=as_json)


def _start(
    experiment: Experiment,
    written: Written,
    options: RunOptions,
    *,
    only_look: bool,
    as_json: bool,
) -> int:
    if only_look:
        verdict = look(experiment, written, options)
        told = {"seen": verdict.seen, "sentence": verdict.sentence, "smallest_watt": verdict.smallest_watt}
        print(json.dumps(told | {"blocks_needed": verdict.blocks_needed}, indent=1) if as_json else verdict.sentence)
        return 0 if verdict.seen else 1
    return _end(run_new(experiment, written, options, Lateness.of), as_json=as_json)


def _go_on(folder: Path, options: RunOptions, *, put: bool, as_json: bool) -> int:
    if put:
        print(put_back(folder) or "the run had changed nothing: the lab is as it was.")
        return 0
    return _end(resume(folder, options, Lateness.of), as_json=as_json)


def _end(told: RunResult, *, as_json: bool) -> int:
    outcome = told.outcome
    if as_json:
        missing = [{"slot": slot.number, "block": slot.block, "levels": dict(slot.levels)} for slot in outcome.missing]
        facts = {"folder": str(told.folder), "slots": outcome.slots, "valid": outcome.valid, "tried": outcome.tried}
        cause = str(outcome.cause) if outcome.cause else None
        more = {"missing": missing, "interrupted": outcome.interrupted, "back": outcome.back, "cause": cause}
        print(json.dumps(facts | more, indent=1))
    else:
        print(f"{outcome.valid} of {outcome.slots} trials count, {outcome.tried} were tried: {told.folder}")
        if outcome.back:
            print(outcome.back)
        if outcome.missing:
            print(f"`eeectl run {told.folder} --resume` tries the {len(outcome.missing)} that are missing")
    if outcome.interrupted:
        return INTERRUPTED
    if outcome.cause is not None:
        return REFUSED
    return PENDING if outcome.missing else DONE


def _print_order(experiment: Experiment, *, as_json: bool) -> int:
    slots = order_for(experiment)
    if as_json:
        told = [{"slot": slot.number, "block": slot.block, "levels": dict(slot.levels)} for slot in slots]
        print(json.dumps(told, indent=1))
        return 0
    for slot in slots:
        levels = ", ".join(f"{name} {level}" for name, level in slot.levels.items())
        print(f"{slot.number:5d}  block {slot.block + 1}  {levels}")
    return 0


def _factors(words: Sequence[str], links: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in pairs(words, "--factor eee=on,off"):
        levels: dict[str, Any] = {"levels": [value(one) for one in text.split(",")]}
        if name in ("eee", "hold_us", "link", "speed_mbps"):
            levels["links"] = links if links in ("hosts", "trunks", "all") else links.split(",")
        found[name] = levels
    return found


def _parameters(words: Sequence[str]) -> dict[str, Any]:
    return {name: value(text) for name, text in pairs(words, "--parameter count=100")}
