"""Values and times of a batch's rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from eee_testbed.record.sample_tables import Batch


class _Time(Protocol):
    def __add__(self, other: Any, /) -> Any: ...
    def __floordiv__(self, other: Any, /) -> Any: ...


_T = TypeVar("_T", bound=_Time)


def values_of(column: object, row_count: int) -> Sequence[Any]:
    """A value for each row, of a column that is a list of them or one value for all rows."""
    return column if isinstance(column, list) else [column] * row_count


def column_of(batch: Batch, name: str) -> Sequence[Any]:
    """A value for each row; None for each where the batch lacks the column."""
    return values_of(batch.columns.get(name), batch.row_count)


def rows_of(batch: Batch, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Each row with its values of some columns; None where the batch lacks the column."""
    columns = [column_of(batch, name) for name in names]
    return (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))


def midpoint(first: _T, last: _T) -> _T:
    """The middle of two times: numbers, arrays or Polars expressions."""
    return (first + last) // 2  # type: ignore[no-any-return]


def midpoint_ns(batch: Batch) -> int | None:
    """The time of a batch: the middle of its question and its answer, UTC; None for a poll that was missed."""
    sent_ns, received_ns = batch.columns.get("sent_ns"), batch.columns.get("received_ns")
    if not isinstance(sent_ns, int) or not isinstance(received_ns, int):
        return None
    return midpoint(sent_ns, received_ns)
