"""The data sheet of a data set, its README: what it is, how it was made, what it is good for and what not."""

from collections.abc import Mapping
from typing import Any, Final

from eee_testbed.dataset.schema import Field, Table

_HEAD: Final = """\
# Power, delay and sleep of Energy-Efficient-Ethernet links

Tables of eee-testbed, made by one command. Nothing in them was measured on hardware: links and networks are simulated,
and the watts are those of models or invented, as the virtual labs' truths say. Times of links are those of IEEE 802.3.

## Licence

Creative Commons Attribution 4.0 (CC-BY-4.0), https://creativecommons.org/licenses/by/4.0/. Name eee-testbed and the
version below. The tables use models of Andújar et al. (2023), Georgakoudis et al. (2019), Miwa et al. (2013) and
Koibuchi et al. (2011).

## Files

| file | rows | what it has |
| --- | --- | --- |
"""

_HEADING: Final = "| column | type | unit | meaning |\n| --- | --- | --- | --- |\n"

_USES: Final = """\
## Uses

* Compare links' modes and holds by power and delay, at any packet interval.
* Test a model of a port's power: `power.parquet` has the time in each state beside the watts.
* Test estimates against `truths.parquet`. Estimate first, and look at the truths afterwards.
* Compare another simulator of interconnects with `booksim2.parquet`, which has each network as a simulation's file.
* Take links' times from `links.parquet`. It says what the standard does not give.
* Compare your own measured files with the tables: `eeectl dataset check FILE` says whether they have the right form.

## Limits

* Frames come at equal intervals. Real traffic comes in bursts, and sleeps longer at the same mean interval.
* A port's watts are those on the supply's output side, without the switch's base and the supply's losses.
* Both directions of a link carry the same load. The far end sleeps as the near end does.
* Where several frames come while a link falls asleep and wakes, shares are known to about 1 % of the time.
* Intervals up to twice a frame's own time are left out, because a link that has to wake falls behind there.
* A saving in the twin's watts confirms nothing: they are invented.
* Latencies beside BookSim2's are of links that never sleep, which BookSim2 does not have.
* The papers' models give fast wake and deep sleep a fixed share of power, without measurement.

"""


def data_sheet(tables: Mapping[Table, int], provenance: Mapping[str, Any]) -> str:
    """As Markdown."""
    files = "".join(f"| `{table.file}` | {rows} | {table.title} |\n" for table, rows in tables.items())
    made = "".join(f"* {key}: {_words(value)}\n" for key, value in provenance.items())
    columns = "".join(_columns(table) for table in tables)
    sums = "`datapackage.json` has the same for programs (Frictionless Data Package), `SHA256SUMS` the checksums.\n"
    return f"{_HEAD}{files}\n{sums}\n## How it was made\n\n{made}\n{_USES}{columns}".rstrip() + "\n"


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {one}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "unknown"


def _columns(table: Table) -> str:
    head = f"## Table `{table.name}`\n\n{table.whence}\n\n{_HEADING}"
    return head + "".join(_column(one) for one in table.fields) + "\n"


def _column(field: Field) -> str:
    return f"| `{field.name}` | {field.kind} | {field.unit} | {field.means} |\n"
