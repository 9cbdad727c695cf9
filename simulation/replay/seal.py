"""A digest in a Parquet file, so that damage is found before a library decodes it.

Readers of Parquet find the columns by their offsets from the start and the footer from the end. So what stands between
columns and footer is of no interest to them: a mark of 8 bytes, and the SHA-256 of all other bytes. The digest is no
signature: it shows damage, not malice.
"""

import hashlib
from typing import Final

_MAGIC: Final = b"PAR1"
_MARK: Final = b"sha256->"
_LENGTH: Final = len(_MARK) + 32
_END: Final = 8
"""Length of the footer, magic."""


def sealed(parquet: bytes) -> bytes:
    """The file with its digest."""
    at = _footer(parquet)
    return b"".join((parquet[:at], _MARK, hashlib.sha256(parquet).digest(), parquet[at:]))


def unsealed(data: bytes) -> bytes:
    """The Parquet file inside; ValueError says whether it is another kind of file or a damaged one."""
    try:
        at = _footer(data) - _LENGTH
    except ValueError:
        at = -1
    if not data.startswith(_MAGIC) or at < 0 or data[at : at + len(_MARK)] != _MARK:
        raise ValueError("is not a replay file, or is damaged")
    parquet = data[:at] + data[at + _LENGTH :]
    if hashlib.sha256(parquet).digest() != data[at + len(_MARK) : at + _LENGTH]:
        raise ValueError("is damaged")
    return parquet


def _footer(parquet: bytes) -> int:
    """Where the footer begins."""
    length = int.from_bytes(parquet[-_END:-4], "little")
    if not parquet.endswith(_MAGIC) or len(_MAGIC) + length + _END > len(parquet):
        raise ValueError("is not Parquet")
    return len(parquet) - _END - length
