"""Fixtures: the twin's M4300, one for a whole module."""

import pytest

from tests.support.switches import m4300_face


@pytest.fixture(scope="module")
def shared_face() -> m4300_face.Face:
    return m4300_face.Face()


@pytest.fixture
def face(shared_face: m4300_face.Face) -> m4300_face.Face:
    shared_face.reset()
    return shared_face
