"""Fixtures: a switch of each family with its SNMP agent."""

from collections.abc import Callable, Iterator

import pytest

from tests.support.twin import snmp_bench


@pytest.fixture
def make_bench() -> Iterator[Callable[..., snmp_bench.Bench]]:
    made: list[snmp_bench.Bench] = []

    def make(family: str, **engine_options: object) -> snmp_bench.Bench:
        made.append(snmp_bench.make_bench(family, **engine_options))
        return made[-1]

    yield make
    for bench in made:
        bench.face.close()


@pytest.fixture
def ros(make_bench: Callable[..., snmp_bench.Bench]) -> snmp_bench.Bench:
    return make_bench("ros")


@pytest.fixture
def fastpath(make_bench: Callable[..., snmp_bench.Bench]) -> snmp_bench.Bench:
    return make_bench("fastpath")
