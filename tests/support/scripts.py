"""The scripts of `evaluation/speed` and `evaluation/accuracy`.

With which arguments `make test` tries that each works, and with which `make soak` measures.
"""

from dataclasses import dataclass
from typing import Final

from tests.support import ROOT


@dataclass(frozen=True)
class Script:
    """`smoke` is the least that passes through all of its code; None says in `lacking` what a machine does not have.

    `{folder}` in an argument stands for a new folder.
    """

    module: str
    smoke: tuple[str, ...] | None
    soak: tuple[str, ...] | None = ()
    lacking: str = ""


_SPEED: Final = (
    Script("planning", ("--runs", "1", "--force"), ("--record",)),
    Script("interconnects", None, ("--rounds", "3"), lacking="a load of 512 nodes is its least: a minute"),
    Script("balance", None, lacking="results of a study; test_balance.py has a small one"),
    Script("sweeps", None, lacking="a round takes three minutes; test_results.py compares two processes with one"),
    Script("snmp_agent", ("--rounds", "1", "--seconds", "0.2", "--force"), ("--record",)),
    Script(
        "collector",
        ("--rounds", "1", "--polls", "2", "--switches", "2", "--seconds", "2", "--force"),
        ("--switches", "50", "--record"),
    ),
    Script("idle_gaps", ("--rounds", "1", "--seconds", "1", "--json", "--force"), ("--record",)),
    Script("idle_lab", ("miwa", "--seconds", "1", "--windows", "1", "--settle", "0", "--force"), ("--record",)),
    Script("probe_truth", ("miwa", "--count", "20", "--force"), ("--record",)),
    Script("actuation", None, ("--record",), lacking="an apply by netmiko takes a minute on the smallest lab"),
    Script("replays", ("--side", "3", "--rounds", "1"), ("--record",)),
    Script("ranks", ("--side", "3"), ("--record",)),
    Script("netmiko_ports", None, None, lacking="`actuation` runs it"),
    Script("recorder_overhead", ("--rounds", "1", "--calls", "20000", "--force"), ("--record",)),
    Script("twin_live", ("--rounds", "1", "--seconds", "1", "--echoes", "50", "--json", "--force"), ("--record",)),
)

_ACCURACY: Final = (
    Script("blind_power", ("--repetitions", "1"), ("--record",)),
    Script("blind_links", ("--each", "1", "--classes", "hybrid"), ("--seed", "23", "--each", "20", "--record")),
    Script("miwa_experiment", ("--iterations", "20"), ("--record",)),
    Script("miwa_slowdowns", ("--seeds", "1"), ()),
    Script("koibuchi_slowdowns", ("--seeds", "1", "--iterations", "2"), ()),
    Script("packet_engine", None, lacking="its shortest case takes two minutes"),
    Script("packet_saturation", None, lacking="engine/interconnect/tests/saturation.rs has the small networks"),
    Script("tcep_figures", None, ("--keep", "{folder}/runs"), lacking="test_tcep_figures.py runs its parts"),
    Script("tcep_programs", None, lacking="512 nodes are its least: minutes; test_gated.py gates a small network"),
    Script("killed_runs", None, lacking="test_restoring.py tries the moments in turns"),
    Script("every_step", None, ("--record",), lacking="it kills at every line: eight minutes"),
    Script("lab_time", ("random-rates", "--lab-minutes", "1", "--force"), ("random-rates", "--record")),
    Script("square_wave", None, ("--rate", "1/2"), lacking="test_square_wave.py runs a short one"),
    Script("miwa_live", None, ("--record",), lacking="test_miwa_live.py runs its parts; a trial takes half a minute"),
    Script("closed_loop", None, lacking="test_closed_loop.py runs its parts; a trial takes half a minute"),
    Script("links_off_loop", None, lacking="test_links_off_loop.py runs its parts; a trial takes half a minute"),
    Script("links_off_replay", ("--order", "400", "--chosen-by", "400", "--peaks", "1.001")),
    Script("simgrid", None, None, lacking="SimGrid's program; test_simgrid.py replays its traces"),
    Script("simgrid_calls", None, None, lacking="SimGrid's program; test_simgrid_calls.py replays its traces"),
    Script(
        "regulation_curves", None, None,
        lacking="its program is given: `eeectl regulate`, which it calls, has live tests",
    ),
    Script("beside_booksim2", None, None, lacking="BookSim2's program, which is not Debian's"),
    Script("collectives_ompi", ("3", "--most", "9", "--kinds", "allreduce", "alltoallv"), ("--most", "70000")),
    Script("collectives_han", ("--most-ranks", "4"), ()),
    Script("loggopsim", None, None, lacking="LogGOPSim's program; replay/tests/closed_forms.rs has what it prints"),
    Script("net_power_bench", None, None, lacking="NetPowerBench's files; test_net_power_bench.py has a part"),
)  # fmt: skip

SCRIPTS: Final = {
    f"evaluation.{folder}.{script.module}": script
    for folder, scripts in (("speed", _SPEED), ("accuracy", _ACCURACY))
    for script in scripts
}


def modules_with_main() -> set[str]:
    """The modules that are commands of a person."""
    return {
        f"evaluation.{path.parent.name}.{path.stem}"
        for folder in ("speed", "accuracy")
        for path in (ROOT / "evaluation" / folder).glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
