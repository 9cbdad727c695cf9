"""What a sampler reads: series with names as Prometheus wants them, and sources that are read again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Union

PREFIX = "eee_node_"

Value = Union[int, float, None]
Read = Callable[[], Sequence[Value]]


@dataclass(frozen=True)
class Series:
    """One number over time. A counter's name ends in `_total`; units are base units (seconds, bytes, joules)."""

    name: str
    unit: str
    means: str
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """As Prometheus calls it."""
        return "counter" if self.name.endswith("_total") else "gauge"


@dataclass(frozen=True)
class Source:
    """Series that are read together. `read` gives a value for each, in their order; OSError if it cannot now.

    `facts` are for the header. A source without series only says that something is absent.
    """

    name: str
    series: tuple[Series, ...] = ()
    read: Read | None = None
    absent: str = ""
    facts: dict[str, object] = field(default_factory=dict)
