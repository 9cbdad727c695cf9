"""Sizes and diameter of a network, found once a process: of a large one they take some seconds."""

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from eee_engine import network_facts

from eee_testbed.simulation.part import Form

if TYPE_CHECKING:
    from eee_engine import NetworkFacts


def facts_of(form: Form) -> "NetworkFacts":
    """Routers, nodes, links and diameter of a network's form; SimulationError if it is none."""
    return _facts(json.dumps(form, sort_keys=True))


@lru_cache(maxsize=128)
def _facts(form: str) -> "NetworkFacts":
    return network_facts(json.loads(form))
