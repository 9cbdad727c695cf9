"""A plugin of pytest: properties are tested with the same examples each time, kept nowhere, and not shrunk.

Whether a test fails is all that counts here; to shrink a failing example may take minutes.
"""

import pytest
from hypothesis import Phase, settings


def pytest_configure(config: pytest.Config) -> None:  # noqa: ARG001 - pytest gives it by this name
    """Before tests are collected, as their own settings take over what they do not set."""
    settings.register_profile(
        "mutants", database=None, derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate)
    )
    settings.load_profile("mutants")
