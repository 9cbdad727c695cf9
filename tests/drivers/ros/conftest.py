"""Fixtures: the twin's PowerConnect 5524, one for a whole module, and a small live lab."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import ros_face


@pytest.fixture(scope="module")
def shared_ros() -> Iterator[ros_face.RosFace]:
    face = ros_face.RosFace()
    yield face
    face.close()


@pytest.fixture
def face(shared_ros: ros_face.RosFace) -> ros_face.RosFace:
    shared_ros.reset()
    return shared_ros


_SPEC = importlib.util.spec_from_file_location("small_lab", Path(__file__).parents[2] / "twin" / "conftest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_SMALL_LAB = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_SMALL_LAB)

eeectl = _SMALL_LAB.eeectl
eeectl_environment = _SMALL_LAB.eeectl_environment
running_lab = _SMALL_LAB.running_lab
