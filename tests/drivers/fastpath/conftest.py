"""Fixtures: the twin's M4300, one for a whole module."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import m4300_face


@pytest.fixture(scope="module")
def shared_face() -> m4300_face.Face:
    return m4300_face.Face()


@pytest.fixture
def face(shared_face: m4300_face.Face) -> m4300_face.Face:
    shared_face.reset()
    return shared_face
