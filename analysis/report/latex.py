"""Tables of a report as LaTeX, to be input: package booktabs, values as on the page, units in the heads."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eee_testbed.analysis.report.table import Table, cell_text
from eee_testbed.lab.errors import LabError

_ESCAPES: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "µ": r"\textmu{}",
    "∞": r"$\infty$",
    "²": r"\textsuperscript{2}",
    "–": "--",  # noqa: RUF001 - an en dash
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_UNKNOWN_LETTER: Final = re.compile(r"[^ -~\u00a0-\u024f]")
"""What pdfLaTeX knows no letter for."""


def latex_of(table: Table) -> str:
    """A table environment of a page's width, with label `tab:NAME`; a table without rows has its heads alone."""
    heads = table.heads
    columns = "".join("r" if kind == "number" else "l" for _, kind in heads)
    rows = [[escaped(cell_text(cell)) for cell in row] for row in table.rows]
    lines = [
        f"% \\usepackage{{booktabs}}; from {table.name}.csv",
        r"\begin{table*}",
        r"  \centering\small",
        f"  \\caption{{{escaped(table.title)}}}",
        f"  \\label{{tab:{table.name}}}",
        f"  \\begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        _row([escaped(head) for head, _ in heads]),
        r"    \midrule",
        *map(_row, rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> print(escaped("50 % of sw_1, 3 µs"))
    50 \% of sw\_1, 3 \textmu{}s
    """
    return _UNKNOWN_LETTER.sub("?", "".join(_ESCAPES.get(letter, letter) for letter in text))


def save_latex(tables: Sequence[Table], folder: Path) -> tuple[Path, ...]:
    """Write NAME.tex of each table; LabError if that fails."""
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in tables:
            paths.append(folder / f"{table.name}.tex")
            paths[-1].write_text(latex_of(table), encoding="utf-8")
    except OSError as error:
        raise LabError(
            f"the tables cannot be written to {folder} ({error.strerror}): name another folder with --latex."
        ) from error
    return tuple(paths)


def _row(cells: Sequence[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"
