"""Programs on TCEP's network, links always on and turned off by TCEP (as Kim et al. 2018, Figs. 13, 14).

``python -m evaluation.accuracy.tcep_programs`` prints Markdown: run times, the share of links that are off, and the
energy of all channels by bits. The paper ran traces that are not public; these are generators, on its 512 nodes.
"""

from collections.abc import Mapping
from typing import Any, Final

from eee_testbed.simulation.description import Description, Energy
from eee_testbed.simulation.replay.replayed import Replayed, replay

_US: Final = 1000
PROGRAMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "3-D stencil, 16 KiB, 20 steps of 100 us": {
        "kind": "stencil", "procs": [8, 8, 8], "steps": 20, "face_byte": 16_384, "grain_ns": 100 * _US
    },
    "Alltoall of 256 B, 5 steps of 200 us": {
        "kind": "alltoall", "ranks": 512, "array_byte": 131_072, "iterations": 5, "grain_ns": 200 * _US
    },
    "Alltoall of 8 KiB along lines, 5 steps of 200 us": {
        "kind": "subcom_a2a", "procs": [8, 8, 8], "block_byte": [8192] * 3, "steps": 5, "grain_ns": 200 * _US
    },
    "miniAMR-like, 1 time step": {"kind": "miniamr", "procs": [8, 8, 8], "time_steps": 1},
}  # fmt: skip


def description(program: Mapping[str, Any]) -> Description:
    """TCEP's 8 by 8 butterfly of 512 nodes: flits of 48 bits, packets of 14 flits, 1 GHz."""
    return Description.model_validate(
        {
            "name": "tcep-programs",
            "network": {"kind": "hyperx", "sizes": [8, 8], "concentration": 8, "link_latency": 10},
            "routing": "pal",
            "router": {
                "vcs": 6,
                "buffer_flits": 224,
                "packet_flits": 14,
                "switching": "cut_through",
                "history_window": 26,
                "speedup": 3,
            },
            "consolidation": {},
            "programs": {"cycle_ns": 1, "flit_byte": 6, "jobs": [{"program": dict(program)}]},
        }
    )


def link_energy(found: Replayed, energy: Energy) -> float:
    """Of a channel over the run time, in any unit: bits of flits, and idle bits while it is on."""
    sending, off = found.shares.transmit, found.shares.off
    return found.run_time_s * (sending * energy.active_pj_per_bit + (1 - sending - off) * energy.idle_pj_per_bit)


def main() -> None:
    """Replay every program both ways."""
    print("| program | always on, ms | TCEP, ms | slower by | links off | energy of links |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, program in PROGRAMS.items():
        own = description(program)
        always, gated = (replay(own, 1, sleeping=sleeping) for sleeping in (False, True))
        slower = gated.run_time_s / always.run_time_s - 1
        energy = link_energy(gated, own.energy) / link_energy(always, own.energy) - 1
        print(
            f"| {name} | {1e3 * always.run_time_s:.3f} | {1e3 * gated.run_time_s:.3f} | {100 * slower:+.1f} % | "
            f"{100 * gated.shares.off:.0f} % | {100 * energy:+.0f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
