"""Fixtures: the twin's PowerConnect 5524, one for a whole module."""

from collections.abc import Iterator

import pytest

from tests.support.switches import ros_face


@pytest.fixture(scope="module")
def shared_ros() -> Iterator[ros_face.RosFace]:
    face = ros_face.RosFace()
    yield face
    face.close()


@pytest.fixture
def face(shared_ros: ros_face.RosFace) -> ros_face.RosFace:
    shared_ros.reset()
    return shared_ros
