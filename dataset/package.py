"""The folder of a data set: Parquet tables, a description, a data sheet, checksums. Equal inputs give equal bytes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.dataset.schema import Table
from eee_testbed.dataset.sheet import data_sheet
from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError

DESCRIPTION: Final = "datapackage.json"
SHEET: Final = "README.md"
SUMS: Final = "SHA256SUMS"
LICENCE: Final = {
    "name": "CC-BY-4.0",
    "title": "Creative Commons Attribution 4.0",
    "path": "https://creativecommons.org/licenses/by/4.0/",
}
_SCHEMA: Final = "https://datapackage.org/profiles/2.0/datapackage.json"
_MEDIA_TYPE: Final = "application/vnd.apache.parquet"
Provenance = Mapping[str, Any]
"""What the data were made from: version, commit, seeds, studies."""


def write_data_set(folder: Path, name: str, tables: Mapping[Table, pl.DataFrame], provenance: Provenance) -> list[Path]:
    """Write all files of a data set, and return them; LabError if the folder has something else, or no room.

    The description is written last, so that a folder with one is whole. A data set that is there already is replaced.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / DESCRIPTION).is_file():
        raise LabError(f"{folder} holds something that is not a data set: name another folder, or empty this one.")
    contents = {table.file: _parquet(frame) for table, frame in tables.items()}
    resources = [_resource(table, tables[table].height, contents[table.file]) for table in tables]
    description = {
        "$schema": _SCHEMA,
        "name": name,
        "title": "Power, delay and sleep of Energy-Efficient-Ethernet links",
        "licenses": [LICENCE],
        "provenance": dict(provenance),
        "resources": resources,
    }
    heights = {table: frame.height for table, frame in tables.items()}
    contents[SHEET] = data_sheet(heights, provenance).encode()
    contents[DESCRIPTION] = (json.dumps(description, indent=1, ensure_ascii=False) + "\n").encode()
    contents[SUMS] = "".join(f"{_digest(contents[one])}  {one}\n" for one in sorted(contents)).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DESCRIPTION).unlink(missing_ok=True)
        for one in sorted(contents, key=lambda file: file == DESCRIPTION):
            durable.replace(folder / one, contents[one])
    except OSError as error:
        raise LabError(f"{folder}: {error.strerror}; name another folder, or make room.") from error
    return [folder / one for one in sorted(contents)]


def _parquet(frame: pl.DataFrame) -> bytes:
    out = BytesIO()
    frame.write_parquet(out, compression="zstd", compression_level=9)
    return out.getvalue()


def _resource(table: Table, height: int, content: bytes) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "description": table.whence,
        "path": table.file,
        "format": "parquet",
        "mediatype": _MEDIA_TYPE,
        "bytes": len(content),
        "rows": height,
        "hash": f"sha256:{_digest(content)}",
        "schema": {"fields": [one.form() for one in table.fields]},
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wrong_sums(folder: Path) -> Sequence[str]:
    """A sentence for each file that is missing or is not what the checksums say; LabError without checksums."""
    path = folder / SUMS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"{path} cannot be read: build the data set again.") from error
    found = []
    for number, line in enumerate(lines, 1):
        digest, _, file = line.partition("  ")
        if not file or Path(file).name != file:
            found.append(f"{path}, line {number}: is not a checksum of a file of this folder.")
        elif not (folder / file).is_file():
            found.append(f"{folder / file} is missing: build the data set again, or copy it anew.")
        elif _digest((folder / file).read_bytes()) != digest:
            found.append(f"{folder / file} differs from its checksum: build the data set again, or copy it anew.")
    return found
