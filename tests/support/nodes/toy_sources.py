"""Archives of benchmarks' layouts with programs of a few lines, as a user supplies them."""

import hashlib
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_MAKEFILE: Final = """\
include ../config/make.def
CLASS=U
NPROCS=1
$(BINDIR)/PROGRAM.$(CLASS).$(NPROCS): PROGRAM.f
\t$(MPIF77) $(FFLAGS) -o $@ PROGRAM.f
"""
_FORTRAN: Final = """\
      program toy
      include 'mpif.h'
      integer mask, rank, ranks, failed, at
      character*200 path
      mask = '7f'x
      call once(1.0)
      call once(2)
      call MPI_INIT(failed)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, failed)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, failed)
      if (rank .eq. 0) then
        call getarg(0, path)
        at = index(path, '.', .true.) - 1
        print *, mask
        print '(1x,a,a1)', 'Class           = ', path(at:at)
        print '(1x,a,i6)', 'Total processes = ', ranks
        print '(1x,a)', 'Time in seconds =   0.25'
        print '(1x,a)', 'Mop/s total     = 100.00'
        print '(1x,a)', 'Mop/s/process   =  25.00'
        print '(1x,a)', 'Verification    = SUCCESSFUL'
      end if
      call MPI_FINALIZE(failed)
      end
      subroutine once(x)
      real x
      end
"""
"""A hexadecimal constant and mismatched arguments, as NPB 3.3 has them; its last lines as a benchmark's."""


def write_toy_npb(folder: Path, programs: Sequence[str]) -> tuple[Path, str]:
    """An archive of NPB's layout, its programs only say what a benchmark would: (file, its SHA-256)."""
    top = folder / "NPB3.3.9" / "NPB3.3-MPI"
    for program in programs:
        (top / program.upper()).mkdir(parents=True)
        (top / program.upper() / "Makefile").write_text(_MAKEFILE.replace("PROGRAM", program))
        (top / program.upper() / f"{program}.f").write_text(_FORTRAN)
    (top / "config").mkdir()
    rule = "{0}:\n\tcd {1} && $(MAKE) CLASS=$(CLASS) NPROCS=$(NPROCS)\n"
    rules = "".join(rule.format(one, one.upper()) for one in programs)
    (top / "Makefile").write_text(f".PHONY: {' '.join(programs)} clean\n{rules}clean:\n\trm -f */*.o\n")
    return packed(folder / "NPB3.3.9")


def packed(top: Path) -> tuple[Path, str]:
    """A folder as an archive beside it: (file, its SHA-256)."""
    archive = top.parent / f"{top.name}.tar.gz"
    with tarfile.open(archive, "w:gz") as opened:
        opened.add(top, top.name)
    return archive, hashlib.sha256(archive.read_bytes()).hexdigest()
