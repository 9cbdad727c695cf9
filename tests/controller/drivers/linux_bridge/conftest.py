"""One virtual machine for the tests of a file: it takes processor time as long as it runs, also for nothing."""

from collections.abc import Iterator

import pytest

from tests.support.qemu import machine as machines
from tests.support.qemu.small_lab import SPARE, SWITCHES, build_script, small_lab


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[machines.Machine]:
    machines.require()
    made = machines.Machine(tmp_path_factory.mktemp("machine"), (*SWITCHES, SPARE))
    try:
        made.run(build_script(small_lab()))
        yield made
    finally:
        made.close()
