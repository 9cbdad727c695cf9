"""One virtual machine for all tests here."""

from collections.abc import Iterator

import pytest

from tests.support.qemu import machine as machines
from tests.support.qemu.small_lab import SPARE, SWITCHES, build_script, small_lab


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[machines.Machine]:
    machines.require()
    made = machines.Machine(tmp_path_factory.mktemp("machine"), (*SWITCHES, SPARE))
    try:
        made.run(build_script(small_lab()))
        yield made
    finally:
        made.close()
