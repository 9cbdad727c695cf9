"""A small machine with programs on it, as a description."""

from typing import Any

from eee_testbed.simulation.description import Description


def described(*jobs: dict[str, Any], links: dict[str, Any] | None = None, **changes: Any) -> Description:
    """Sixteen nodes at four switches; two ranks that exchange messages unless jobs are given."""
    programs = {"cycle_ns": 1.0, "flit_byte": 16, "jobs": list(jobs or (stencil(2),))} | changes.pop("programs", {})
    plain = {
        "name": "small",
        "network": {"kind": "hyperx", "sizes": [4], "concentration": 4},
        "routing": "dor",
        "router": {"vcs": 2, "buffer_flits": 64, "packet_flits": 8, "switching": "cut_through"},
        "links": links or {},
        "programs": programs,
    }
    return Description.model_validate(plain | changes)


def stencil(ranks: int, **changes: Any) -> dict[str, Any]:
    """A job of ranks in a row."""
    program = {"kind": "stencil", "procs": [ranks, 1], "steps": 2, "face_byte": 1000, "grain_ns": 10_000}
    return {"program": program} | changes


DEEP = {"mode": "deep", "hold": 100, "sleep": 50, "wake": 80, "wake_during_sleep": 80}
"""Links that sleep while a stencil's ranks compute."""
