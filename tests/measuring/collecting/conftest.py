"""A run's folder that is being written."""

from tests.support.measured.open_run import run

__all__ = ["run"]
