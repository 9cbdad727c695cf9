"""`eeectl sweep`: run an experiment that the command line describes."""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter

from eee_testbed.eeectl.after_dashes import AfterDashes
from eee_testbed.eeectl.lab_name import require_up
from eee_testbed.eeectl.notice import NoticeOptions
from eee_testbed.eeectl.program_options import ProgramOptions, program_of
from eee_testbed.eeectl.run_output import print_order, print_result
from eee_testbed.eeectl.set_options import pairs, value
from eee_testbed.lab.yaml_source import CommandLine
from eee_testbed.measuring.experiments.experiment_file import experiment_of
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.twin.lab.lateness import Lateness

_Flag = Annotated[bool, Parameter(negative="")]

sweep_app = App(name="sweep")


@sweep_app.default
def sweep(
    program: str = "",
    /,
    *,
    command: AfterDashes = (),
    factor: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    values: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    links: str = "hosts",
    slow: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    blocks: int = 3,
    seed: int = 1,
    order: _Flag = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    options: Annotated[ProgramOptions, Parameter(name="*")] = ProgramOptions(),  # noqa: B008 - frozen
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
    telling: NoticeOptions = NoticeOptions(),  # noqa: B008 - frozen
) -> int:
    r"""Run a program at all combinations of some factors' levels: `run` without an experiment's file.

    Instead of PROGRAM, any command that is on the hosts, after --. It is not run by a shell:
    eeectl sweep --factor eee=on,off --figure 'time=Time = ([\d.]+) s' -- /shared/halo 1000

    Parameters
    ----------
    program
        Name of a program that eeectl knows; `eeectl bench --list` shows them.
    command
        The command.
    factor
        NAME=LEVEL,LEVEL,...: eee=on,off, hold_us, link, speed_mbps, routing, host_count, ranks_per_host, or a
        parameter of the program. Give the option once for each factor.
    values
        NAME=VALUE: a constant parameter of the program. Give the option once for each parameter.
    links
        Links whose eee, hold_us, link or speed_mbps changes: hosts, trunks, all, or a comma-separated list.
    slow
        Factors that change rarely: once in a block for each level.
    blocks
        Number of blocks; each has every combination of levels.
    seed
        Seed of the random order.
    order
        Only print the trials in their order.
    as_json
        Print JSON.
    options
        Where the program runs, and what is recorded of it.
    views
        Where live data are exported.
    telling
        Whom it tells at its end.

    """
    from eee_testbed.measuring.experiments.session import RunOptions, run_new, validated_lab

    with telling.notice("sweep", measures=not order) as notice:
        program, parameters = program_of(program, command, _parameters(values))
        content = options.content(program, parameters, f"{program}-sweep")
        content |= {"factors": _factors(factor, links), "blocks": blocks, "seed": seed, "slow": list(slow)}
        source = CommandLine(content)
        experiment = experiment_of(source)
        lab = validated_lab(experiment, source)
        if order:
            return print_order(experiment, as_json=as_json)
        require_up(lab)
        result = run_new(experiment, source, RunOptions(options.runs, views=views), Lateness.of)
        return notice.run_ended(print_result(result, as_json=as_json), result)


def _factors(arguments: Sequence[str], links: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in pairs(arguments, "--factor eee=on,off"):
        levels: dict[str, Any] = {"levels": [value(one) for one in text.split(",")]}
        if name in ("eee", "hold_us", "link", "speed_mbps"):
            levels["links"] = links if links in ("hosts", "trunks", "all") else links.split(",")
        found[name] = levels
    return found


def _parameters(arguments: Sequence[str]) -> dict[str, Any]:
    return {name: value(text) for name, text in pairs(arguments, "--set count=100")}
