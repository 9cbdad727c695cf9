"""`eeectl sweep`: run an experiment that the command line describes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from controller.experiments.experiment_file import ExperimentSource, experiment_of
from controller.experiments.session import RunOptions, run_new, validated_lab
from controller.live.export.attach import ViewOptions
from eeectl.run_output import print_order, print_result
from eeectl.set_options import all_hosts, pairs, value
from twin.lab.lateness import Lateness

_Flag = Annotated[bool, Parameter(negative="")]

sweep_app = App(name="sweep")


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
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
) -> int:
    """Run a program of the table at all combinations of some factors' levels: `run` without a file.

    Parameters
    ----------
    program
        Its name in the table of programs; `eeectl bench --list` shows them.
    lab
        Name of a lab, or a folder.
    hosts
        Hosts on which it runs; default: all hosts of the lab.
    factor
        NAME=LEVEL,LEVEL,...: eee=on,off, hold_us, link, speed_mbps, routing, host_count, ranks_per_host, or a
        parameter of the program. Give the option once for each factor.
    parameter
        NAME=VALUE: a constant parameter of the program.
    links
        Links whose eee, hold_us, link or speed_mbps changes: hosts, trunks, all, or a comma-separated list.
    slow
        Factors that change as seldom as possible: once a block for each level.
    ranks_per_host
        Ranks on each host.
    blocks
        Number of blocks; each has every combination of levels.
    repetitions
        Trials of each combination in a block.
    seed
        Seed of the random order.
    timeout_s
        Time limit of one trial.
    gaps
        Record the idle gaps of the hosts' links.
    traffic
        Count messages and bytes between ranks.
    agent_user
        User that runs agents on nodes, if not the inventory's.
    name
        Name of the run; default: the program's name followed by -sweep.
    runs
        Folder in which the run gets its own.
    order
        Only print the trials in their order.
    as_json
        Print JSON.
    views
        Where live data are exported.

    """
    run = {"name": program, "parameters": _parameters(parameter), "ranks_per_host": ranks_per_host}
    run |= {"hosts": list(hosts) or all_hosts(lab), "timeout_s": timeout_s}
    content = {
        "name": name or f"{program}-sweep",
        "lab": lab,
        "factors": _factors(factor, links),
        "measure": {"program": run},
        "blocks": blocks,
        "repetitions": repetitions,
        "seed": seed,
        "slow": list(slow),
        "recordings": {"gaps": gaps, "traffic": traffic, "user": agent_user},
    }
    source = ExperimentSource("the command line", content)
    experiment = experiment_of(source)
    if order:
        validated_lab(experiment, source)
        return print_order(experiment, as_json=as_json)
    return print_result(run_new(experiment, source, RunOptions(runs, views=views), Lateness.of), as_json=as_json)


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
