"""`eeectl dataset ...`: build a data set, check files that others measured, and make such a file from a run."""

import json
import sys
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from eee_testbed.eeectl.exit_status import DONE, REFUSED
from eee_testbed.eeectl.output_file import require_place
from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError
from eee_testbed.record.checkout import described

dataset_app = App(
    name="dataset", help="Build a data set of power against packet interval; check and export measured files for it."
)

Json = Annotated[bool, Parameter(name="--json", negative="")]


@dataset_app.command
def build(
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    study: Annotated[list[Path] | None, Parameter(negative="")] = None,
    reduced: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Build a data set: power by packet interval, points of studies, truths of virtual labs, latencies and links.

    Tables are Parquet files beside a Frictionless datapackage.json, a data sheet and checksums. Equal inputs give equal
    bytes.

    Parameters
    ----------
    output
        Folder of the data set; an existing one is replaced.
    study
        Folder of a study's results, such as simulations/NAME: add its points. Give the option once for each.
    reduced
        Build a smaller data set, with fewer intervals, holds and sizes.
    as_json
        Print JSON.

    """
    from eee_testbed.dataset.package import write_data_set
    from eee_testbed.dataset.power import LABS, REDUCED, WHOLE, power_rows, truth_of
    from eee_testbed.dataset.published import booksim2, link_rows
    from eee_testbed.dataset.schema import BOOKSIM2, LINKS, POINTS, POWER, TRUTHS
    from eee_testbed.dataset.sources import frame, points, truth_rows

    folders = study or []
    given = frame(points(folders), POINTS.types)  # first, as a wrong folder is soon told
    tables = {
        POWER: frame(power_rows(REDUCED if reduced else WHOLE), POWER.types),
        POINTS: given,
        TRUTHS: frame(truth_rows(), TRUTHS.types),
        BOOKSIM2: booksim2(),
        LINKS: frame(link_rows(), LINKS.types),
    }
    provenance = {
        "software": f"eee-testbed {metadata.version('eee-testbed')}",
        "commit": described(),
        "set": "reduced" if reduced else "whole",
        "seeds": {"engine": 0} | {f"truth of {lab}": truth_of(lab).seed for lab in LABS},
        "studies": [folder.resolve().name for folder in folders],
    }
    written = write_data_set(output, "eee-testbed-reduced" if reduced else "eee-testbed", tables, provenance)
    if as_json:
        rows = {table.name: found.height for table, found in tables.items()}
        print(json.dumps({"folder": str(output), "rows": rows, "files": [path.name for path in written]}, indent=1))
        return DONE
    for table, found in tables.items():
        print(f"{output / table.file}: {found.height} rows, {table.title[0].lower()}{table.title[1:]}")
    print(f"data sheet: {output / 'README.md'}")
    return DONE


@dataset_app.command
def check(place: Path, /, *, as_json: Json = False) -> int:
    """Check tables against their schema: columns, types, units' bounds, order of time, empty cells.

    A file that has the name of a table of the data set is checked against that table, any other file against the
    schema of measured files. For a whole data set the checksums are checked, too.

    Parameters
    ----------
    place
        A .parquet or .csv file, or a folder of some.
    as_json
        Print JSON.

    """
    from eee_testbed.dataset.check import checked
    from eee_testbed.dataset.package import DESCRIPTION, wrong_sums

    found = checked(place)
    sums = wrong_sums(place) if place.is_dir() and (place / DESCRIPTION).is_file() else []
    faults = [*sums, *(fault for own in found.values() for fault in own)]
    if as_json:
        print(json.dumps({"files": [str(path) for path in found], "faults": faults}, indent=1))
    else:
        for fault in faults:
            print(fault)
        if not faults:
            print(f"{place}: {len(found)} {'table has' if len(found) == 1 else 'tables have'} the right form.")
    return REFUSED if faults else DONE


@dataset_app.command
def export(run: str, /, *, output: Annotated[Path, Parameter(name=("--output", "-o"))], as_json: Json = False) -> int:
    """Make a measured file from a run: each trial's watts by switch, with EEE, links, intervals and run time.

    Parameters
    ----------
    run
        A run's folder, or its name below runs/.
    output
        The file to write, .parquet or .csv; it must not exist.
    as_json
        Print JSON.

    """
    from eee_testbed.dataset.measured import measured_of
    from eee_testbed.eeectl.runs_of import runs_of

    if output.suffix not in (".parquet", ".csv"):
        raise LabError(f"{output} is neither .parquet nor .csv: name the file so.")
    if output.exists():
        raise LabError(f"{output} exists: name another file, or remove it.")
    require_place(output, "the rows", "rows.parquet")
    folders = runs_of(run)
    if len(folders) > 1:
        raise LabError(f"{run} is a study of {len(folders)} runs: name one of them, such as {folders[0]}.")
    found = measured_of(folders[0])
    content = BytesIO()
    if output.suffix == ".csv":
        found.frame.write_csv(content)
    else:
        found.frame.write_parquet(content)
    try:
        durable.replace(output, content.getvalue())
    except OSError as error:
        raise LabError(f"{output}: {error.strerror}; name another file.") from error
    plain: dict[str, Any] = {"file": str(output), "rows": found.frame.height, "trials": found.trials}
    plain |= {"trials_without_watts": found.without_watts}
    if as_json:
        print(json.dumps(plain, indent=1))
    else:
        print(f"{output}: {found.frame.height} rows")
    if found.without_watts:
        words = f"{found.without_watts} of {found.trials} trials are left out: they have no watts, as they are shorter"
        print(f"eeectl: {words} than the meters' period, or have no readings.", file=sys.stderr)
    return DONE
