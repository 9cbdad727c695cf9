"""Every test keeps its journals and locks in a folder of its own."""

from tests.support.labs.kept import state_folder

__all__ = ["state_folder"]
