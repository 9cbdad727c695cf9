"""An MPI program that needs no compiler: an all-to-all exchange, checked, through libmpi of Open MPI itself.

``python3 alltoall.py COUNT``: every rank sends COUNT integers to every other, ten times; rank 0 prints one line.
"""

import ctypes
import socket
import sys


def handle(name: str) -> ctypes.c_void_p:
    """Give the address of one of Open MPI's predefined objects: that is what its handles are."""
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))


mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
count = int(sys.argv[1])
mpi.MPI_Init(None, None)
world, integer, total = handle("ompi_mpi_comm_world"), handle("ompi_mpi_int"), handle("ompi_mpi_op_sum")
rank, size = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
mine, theirs = (ctypes.c_int * (count * size.value))(), (ctypes.c_int * (count * size.value))()
wrong = 0
for turn in range(10):
    for index in range(count * size.value):
        mine[index] = turn * 1000 + rank.value * 100 + index // count
    mpi.MPI_Alltoall(mine, count, integer, theirs, count, integer, world)
    for index in range(count * size.value):
        wrong += theirs[index] != turn * 1000 + index // count * 100 + rank.value
sent, summed = ctypes.c_int(wrong), ctypes.c_int(-1)
mpi.MPI_Allreduce(ctypes.byref(sent), ctypes.byref(summed), 1, integer, total, world)
print(f"rank {rank.value} of {size.value} at {socket.gethostname()}: {summed.value} wrong", flush=True)
mpi.MPI_Finalize()
