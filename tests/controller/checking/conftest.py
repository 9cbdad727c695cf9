"""A switch of each family with a face of its own, without a network."""

from collections.abc import Iterator

import pytest

from eee_testbed.lab.model import Switch
from tests.support.switches import m4300_face, ros_face


@pytest.fixture(params=["ros", "fastpath"])
def scene(request: pytest.FixtureRequest) -> Iterator[tuple[ros_face.RosFace | m4300_face.Face, Switch]]:
    if request.param == "ros":
        face = ros_face.RosFace()
        yield face, ros_face.SWITCH
        face.close()
    else:
        yield m4300_face.Face(), m4300_face.SWITCH
