"""`make demo`: the virtual lab up, shown, EEE proved by a probe of a few seconds, and the lab down.

It uses the lab as any visitor could: `eeectl`, a terminal on a switch over SSH, and the echo probe on a host. It
reads nothing from the engine but what `eeectl lab truth` tells at the end, to put beside what was measured.
"""

import asyncio
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import asyncssh
from rich.console import Console
from rich.table import Table
from twin_engine import phy_profiles

from agents.pack import packed
from agents.stream import read_stream
from controller.errors import LabError
from controller.inventory import find_lab, load_lab
from twin.statedir import StateDir

LAB: Final = "virtual"
SWITCH: Final = "sw1"
HOST, TARGET, PORTS = "n01", "n02", "gi1/0/1-2"
TARGET_DATA: Final = load_lab(find_lab(LAB)).host(TARGET).data_address
ECHOES: Final = 1_500
GAPS_US: Final = (100, 4_000)
EDGES_US: Final = (100, 500, 900, 1_000, 1_050, 1_100, 1_150, 1_200, 1_500, 2_000, 3_000, 4_000)
_NO_LPI_NS: Final = 1_000_000_000  # none in the first second after link-up (IEEE 802.3, clause 78)


@dataclass(frozen=True, slots=True)
class Echoes:
    """What one probe saw: idle gap before each echo and its round-trip time, microseconds; lost ones left out."""

    gap_us: tuple[float, ...]
    rtt_us: tuple[float, ...]
    lost: int

    def median_us(self, low_us: float, high_us: float) -> float | None:
        """Median round trip of the echoes whose gap lies in [low, high); None without any."""
        chosen = [rtt for gap, rtt in zip(self.gap_us, self.rtt_us, strict=True) if low_us <= gap < high_us]
        return statistics.median(chosen) if chosen else None


def read_probe(text: str) -> Echoes:
    """What the probe wrote; a gap is from one echo's answer to the next echo."""
    told = read_stream(text)
    sent, rtt = told.column("sent_ns"), told.column("rtt_ns")
    gaps: list[float] = []
    rtts: list[float] = []
    before_ns: int | None = None
    counted_from_ns = sent[0] + _NO_LPI_NS
    for sent_ns, rtt_ns in zip(sent, rtt, strict=True):
        if rtt_ns is not None and before_ns is not None and sent_ns > counted_from_ns:
            gaps.append((sent_ns - before_ns) / 1_000)
            rtts.append(rtt_ns / 1_000)
        before_ns = sent_ns + rtt_ns if rtt_ns is not None else None
    return Echoes(tuple(gaps), tuple(rtts), rtt.count(None))


def _eeectl(*arguments: str, told: str | None = None) -> str:
    """Run eeectl, with `told` on its standard input; its messages go to our terminal, its output is returned."""
    done = subprocess.run(
        [sys.executable, "-m", "controller.cli", *arguments],
        check=False, stdout=subprocess.PIPE, text=True, input=told,
    )  # fmt: skip
    if done.returncode != 0:
        raise LabError(f"`eeectl {' '.join(arguments)}` failed with exit status {done.returncode}; see above.")
    return done.stdout


async def _type_in(commands: Sequence[str]) -> str:
    """Type commands into a terminal on the switch, as a person would, and return the session's text."""
    folder = StateDir(LAB).path
    async with (
        asyncssh.connect(SWITCH, config=[str(folder / "ssh_config")]) as connection,
        connection.create_process(term_type="vt100", term_size=(132, 0)) as process,
    ):
        text = ""
        for command in ("", *commands):
            if command:
                process.stdin.write(command + "\r")
            while not text.rstrip("\x00 ").endswith(("#", ">")) or (command and command not in text):
                chunk = await asyncio.wait_for(process.stdout.read(4096), 10)
                if not chunk:
                    raise LabError(f"{SWITCH} closed the session after: {text.strip()[-200:]}")
                text += chunk
            text += "\x00"  # seen; the next prompt has to be a new one
    return text.replace("\x00", "").replace("\r", "")


def _switch_eee(*, on: bool) -> None:
    """Set EEE on the hosts' ports; the links come up anew, which a first answered ping tells."""
    word = "eee enable" if on else "no eee enable"
    asyncio.run(_type_in(["configure", f"interface range {PORTS}", word, "end"]))
    # ping gives up at the first failed ARP: until the link is back there are a few
    until = f"for n in $(seq 20); do ping -q -c 1 -W 1 {TARGET_DATA} && exit 0; done; exit 1"
    _eeectl("lab", "exec", "--lab", LAB, HOST, "--", "sh", "-c", until)


def _probe(seed: int) -> Echoes:
    words = ("--count", str(ECHOES), "--gap-us", ":".join(map(str, GAPS_US)), "--draw", "uniform", "--seed", str(seed))
    argv = ("lab", "exec", "--lab", LAB, "--root", HOST, "--", "python3", "-", TARGET_DATA, *words)
    return read_probe(_eeectl(*argv, told=packed("echo_probe")))


def _show(console: Console, off: Echoes, on: Echoes) -> None:
    table = Table(title=f"median round trip {HOST} - {SWITCH} - {TARGET} by the idle gap before the echo")
    for heading in ("gap, us", "EEE off, us", "EEE on, us", "difference, us"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for low_us, high_us in itertools.pairwise(EDGES_US):
        a, b = off.median_us(low_us, high_us), on.median_us(low_us, high_us)
        if a is None or b is None:
            continue
        bar = "#" * max(0, round((b - a) / 20))
        table.add_row(f"{low_us} - {high_us}", f"{a:.1f}", f"{b:.1f}", f"{b - a:+.1f}", bar)
    console.print(table)
    console.print(f"echoes: {len(off.rtt_us)} and {len(on.rtt_us)}, lost: {off.lost} and {on.lost}")


def _show_truth(console: Console) -> None:
    truth = json.loads(_eeectl("lab", "truth", LAB, "--json"))
    standard = phy_profiles()["1000BASE-T"]
    wakes_us = 0.0
    for device in (SWITCH, HOST, TARGET):
        lpi = truth["timing"][device]["lpi"]
        sleep_us = standard["sleep_us"] if lpi["sleep_us"] is None else lpi["sleep_us"]
        wake_us = standard["wake_us"] if lpi["wake_us"] is None else lpi["wake_us"]
        wakes_us += wake_us * (2 if device == SWITCH else 1)
        console.print(f"{device}: hold {lpi['hold_us']:g} us, Ts {sleep_us:g} us, Tw {wake_us:g} us")
    console.print(f"an echo after a long gap wakes four transmitters, two of them {SWITCH}'s: {wakes_us:g} us")
    late = truth["engine"]["lateness"]
    console.print(
        f"{late['count']} frames were delivered late by {late['p50_us']:.1f} us (median), {late['p90_us']:.1f} us "
        f"(p90), {late['p99_us']:.1f} us (p99), {late['max_us']:.0f} us at most"
    )


def _demonstrate(console: Console) -> None:
    console.rule("the lab")
    console.print(_eeectl("lab", "status", LAB), markup=False, highlight=False)
    console.rule(f"a terminal on {SWITCH}: EEE off, probe; EEE on, probe")
    _switch_eee(on=False)
    time_up = time.monotonic()
    off = _probe(seed=1)
    _switch_eee(on=True)
    on = _probe(seed=2)
    console.print(f"two probes of {ECHOES} echoes took {time.monotonic() - time_up:.0f} s")
    _show(console, off, on)
    console.print(asyncio.run(_type_in(["terminal datadump", f"show eee {PORTS.partition('-')[0]}"])), markup=False)
    console.rule("what the twin knows to be true")
    _show_truth(console)


def main() -> int:
    """Bring the lab up, demonstrate, take it down whatever happens; the exit status is 0 if all went well."""
    console = Console()
    try:
        _eeectl("lab", "up", LAB)
        try:
            _demonstrate(console)
        finally:
            console.rule("lab down")
            _eeectl("lab", "down", LAB)
    except LabError as error:
        console.print(f"demo: {error}", style="red", markup=False)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
