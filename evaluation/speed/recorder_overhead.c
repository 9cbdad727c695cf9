/* Calls of MPI that take little time by themselves: prints the nanoseconds of processor time of each, kind by kind. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#define TIMED(name, calls, ...) \
    { \
        const double begun = now_ns(); \
        for (long number = 0; number < count; number++) { \
            __VA_ARGS__; \
        } \
        printf("%s: %.3f\n", name, (now_ns() - begun) / (double)count / (calls)); \
    }

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 1000000;
    int flag, value = 0, sum, sizes[1] = {1}, zero[1] = {0};
    MPI_Request request, several[8];
    MPI_Init(&argc, &argv);
    TIMED("Send", 1, MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD))
    TIMED("Recv", 1, MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
    TIMED("Isend, Wait", 2, MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE))
    TIMED("8 Irecv, Waitall", 9, for (int one = 0; one < 8; one++)
          MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, one, MPI_COMM_WORLD, &several[one]);
          MPI_Waitall(8, several, MPI_STATUSES_IGNORE))
    TIMED("Isend, Recv, Wait to oneself", 3, MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
          MPI_Recv(&sum, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE); MPI_Wait(&request, MPI_STATUS_IGNORE))
    TIMED("Iprobe", 1, MPI_Iprobe(0, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE))
    TIMED("Allreduce", 1, MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF))
    TIMED("Allgatherv", 1, MPI_Allgatherv(&value, 1, MPI_INT, &sum, sizes, zero, MPI_INT, MPI_COMM_SELF))
    MPI_Finalize();
    return 0;
}
