"""Finds secrets that stand in an inventory in clear text, for any program."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from eee_testbed.lab.ansible import Variable

_NAME = re.compile(
    r"(^|_)(pass(word|wd|phrase)?|pwd|secret|token|community|(auth|priv|privacy|private|api)_?key)$", re.IGNORECASE
)
IN_CLEAR_REMEDY = (
    "put it into a file of mode 0600 or an environment variable and name that here (password_file, password_env, "
    "community_file and so on); what Ansible needs can be a lookup of it"
)

_SSHPASS = re.compile(r"\bsshpass\s+-p")


def clear_text_secrets(variables: Mapping[str, Variable]) -> Iterator[tuple[str, Variable]]:
    """Variables that hold a secret itself. Templates (`{{ lookup(...) }}`) and Ansible's `!vault` do not.

    Numbers count too: YAML reads an unquoted 123456 as one.
    """
    for key, variable in variables.items():
        for name, value in _leaves(key, variable.value):
            if _is_secret(name, value):
                yield name, variable


def _is_secret(name: str, value: Any) -> bool:
    if isinstance(value, str) and _SSHPASS.search(value):
        return True
    text = isinstance(value, str | int) and not isinstance(value, bool) and str(value)
    return bool(text and _NAME.search(name) and "{{" not in text)


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(str(name), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(key, inner)
    else:
        yield key, value
