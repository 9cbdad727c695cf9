"""Rows of a batch, for views."""

from collections.abc import Sequence
from typing import Any

from record.sample_tables import Batch


def column_of(batch: Batch, name: str) -> Sequence[Any]:
    """A value for each row; None for each where the batch lacks the column."""
    column = batch.columns.get(name)
    return column if isinstance(column, list) else [column] * batch.row_count


def middle_ns(batch: Batch) -> int | None:
    """The middle of asking and answering, UTC ns; None for a beat that was missed."""
    sent_ns, received_ns = batch.columns.get("sent_ns"), batch.columns.get("received_ns")
    if not isinstance(sent_ns, int) or not isinstance(received_ns, int):
        return None
    return (sent_ns + received_ns) // 2
