"""Nodes of their own for agents, and ways to run agents there."""

import subprocess
from collections.abc import Callable, Iterator, Sequence

import pytest

from eee_testbed.agents.pack import packed
from tests.support.needs import needs_root
from tests.support.nodes.agent_nodes import PATIENCE_S, Ended, Node, Pair, Run, Running, agent_argv, nodes


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two nodes for the tests of one module, which leave them as they were."""
    needs_root("a network namespace")
    with nodes() as made:
        yield made


@pytest.fixture
def own_pair() -> Iterator[Pair]:
    """Two nodes for one test."""
    needs_root("a network namespace")
    with nodes() as made:
        yield made


@pytest.fixture
def run_agent() -> Run:
    """Run an agent on a node until it ends."""

    def run(node: Node, agent: str, *words: str, prefix: Sequence[str] = ()) -> Ended:
        done = subprocess.run(
            agent_argv(node, words, prefix),
            input=packed(agent), capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def start_agent() -> Iterator[Callable[..., Running]]:
    """Start an agent on a node; whatever still runs at the test's end is killed."""
    started: list[Running] = []

    def start(node: Node, agent: str, *words: str, listens: bool = False) -> Running:
        started.append(Running(node, agent, *words, listens=listens))
        return started[-1]

    yield start
    for running in started:
        running.close()
