"""The same from Python."""

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
right, left = (rank + 1) % ranks, (rank - 1) % ranks
values, sums = bytearray(80), bytearray(80)
requests = [world.Irecv([sums, 80, MPI.BYTE], MPI.ANY_SOURCE, 4), world.Isend([values, 40, MPI.BYTE], right, 4)]
MPI.Request.Waitall(requests)
world.Sendrecv([values, 3, MPI.DOUBLE], left, 5, [sums, 10, MPI.DOUBLE], right, 5)
half = world.Split(rank % 2, -rank)
half.Allreduce(MPI.IN_PLACE, [values, 6, MPI.INT])
