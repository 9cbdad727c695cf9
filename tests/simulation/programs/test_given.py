"""Parameters of generated programs from texts."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.programs.given import parameters_of
from eee_testbed.simulation.programs.table import GENERATORS, Generator
from tests.support.laws import law


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_what_a_program_has_by_itself_is_read_back_from_texts(generator: Generator) -> None:
    parameters = generator.parameters()
    texts = {name: value for name, value in _texts(parameters.model_dump_json()).items() if name != "kind"}
    assert parameters_of(parameters.kind, texts) == parameters


def _texts(dumped: str) -> dict[str, str]:
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in json.loads(dumped).items()}


@law(50)
@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(LabError):
        assert parameters_of("stencil", {"procs": text}).kind == "stencil"
