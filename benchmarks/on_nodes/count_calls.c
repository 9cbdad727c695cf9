/* Counts a rank's calls of MPI functions that communicate, through MPI's profiling interface (MPI 3.1, section 14.2).

   Loaded before the program, from C, Fortran and Python alike: a function here counts and calls the one of the same
   name with a P in front. At MPI_Finalize the counts go to the file $EEE_CALLS.RANK, a line "MPI_Send 12" for each
   function, and before them "world", the size of MPI_COMM_WORLD, and three lines of when MPI ran: "begun_ns" and
   "ended_ns" in UTC, "took_ns" between them by the monotonic clock. RANK is what the launcher says.

   Fortran's functions call C's: in Open MPI by their P names, in MPICH by those without. None counts twice.

   Simplification: all functions pass on as many words as the longest has arguments, whatever they have: right where
   each argument takes a register or a word of the stack, and the caller clears the stack (x86-64 and AArch64 of Linux).
   A program that has MPI linked in statically is not counted. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FUNCTIONS(X) \
    X(Send, send) X(Bsend, bsend) X(Ssend, ssend) X(Rsend, rsend) X(Isend, isend) X(Ibsend, ibsend) \
    X(Issend, issend) X(Irsend, irsend) X(Recv, recv) X(Irecv, irecv) X(Mrecv, mrecv) X(Imrecv, imrecv) \
    X(Sendrecv, sendrecv) X(Sendrecv_replace, sendrecv_replace) X(Start, start) X(Startall, startall) \
    X(Probe, probe) X(Iprobe, iprobe) X(Mprobe, mprobe) X(Improbe, improbe) X(Wait, wait) X(Waitall, waitall) \
    X(Waitany, waitany) X(Waitsome, waitsome) X(Test, test) X(Testall, testall) X(Testany, testany) \
    X(Testsome, testsome) X(Barrier, barrier) X(Bcast, bcast) X(Gather, gather) X(Gatherv, gatherv) \
    X(Scatter, scatter) X(Scatterv, scatterv) X(Allgather, allgather) X(Allgatherv, allgatherv) \
    X(Alltoall, alltoall) X(Alltoallv, alltoallv) X(Alltoallw, alltoallw) X(Reduce, reduce) \
    X(Allreduce, allreduce) X(Reduce_scatter, reduce_scatter) X(Reduce_scatter_block, reduce_scatter_block) \
    X(Scan, scan) X(Exscan, exscan) X(Ibarrier, ibarrier) X(Ibcast, ibcast) X(Igather, igather) \
    X(Igatherv, igatherv) X(Iscatter, iscatter) X(Iscatterv, iscatterv) X(Iallgather, iallgather) \
    X(Iallgatherv, iallgatherv) X(Ialltoall, ialltoall) X(Ialltoallv, ialltoallv) X(Ialltoallw, ialltoallw) \
    X(Ireduce, ireduce) X(Iallreduce, iallreduce) X(Ireduce_scatter, ireduce_scatter) \
    X(Ireduce_scatter_block, ireduce_scatter_block) X(Iscan, iscan) X(Iexscan, iexscan) \
    X(Neighbor_allgather, neighbor_allgather) X(Neighbor_allgatherv, neighbor_allgatherv) \
    X(Neighbor_alltoall, neighbor_alltoall) X(Neighbor_alltoallv, neighbor_alltoallv) \
    X(Neighbor_alltoallw, neighbor_alltoallw) X(Ineighbor_allgather, ineighbor_allgather) \
    X(Ineighbor_allgatherv, ineighbor_allgatherv) X(Ineighbor_alltoall, ineighbor_alltoall) \
    X(Ineighbor_alltoallv, ineighbor_alltoallv) X(Ineighbor_alltoallw, ineighbor_alltoallw) \
    X(Put, put) X(Get, get) X(Accumulate, accumulate) X(Get_accumulate, get_accumulate) X(Fetch_and_op, fetch_and_op) \
    X(Compare_and_swap, compare_and_swap) X(Rput, rput) X(Rget, rget) X(Raccumulate, raccumulate) \
    X(Rget_accumulate, rget_accumulate) X(Win_lock_all, win_lock_all) X(Win_unlock_all, win_unlock_all) \
    X(Win_flush_all, win_flush_all) X(Win_flush_local, win_flush_local) \
    X(Win_flush_local_all, win_flush_local_all) X(Win_fence, win_fence) X(Win_lock, win_lock) \
    X(Win_unlock, win_unlock) X(Win_flush, win_flush) X(Win_start, win_start) X(Win_complete, win_complete) \
    X(Win_post, win_post) X(Win_wait, win_wait)

#define TAKEN long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m
#define PASSED a, b, c, d, e, f, g, h, i, j, k, l, m

typedef long (*Function)(TAKEN);

enum {
#define X(camel, lower) INDEX_##camel,
    FUNCTIONS(X)
#undef X
        COUNT
};

static const char *const names[COUNT] = {
#define X(camel, lower) "MPI_" #camel,
    FUNCTIONS(X)
#undef X
};

static unsigned long counts[COUNT];

static long begun_ns, begun_steady_ns;

static long now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Open MPI's; MPICH's by the names of Debian and of others, which have one binary interface. */
static const char *const open_mpi = "libmpi.so.40", *const mpich[] = {"libmpich.so.12", "libmpi.so.12"};

static void *loaded(const char *library)
{
    return dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
}

static void *any_mpi(void)
{
    void *library = loaded(open_mpi);
    for (int number = 0; !library && number < 2; number++)
        library = loaded(mpich[number]);
    return library;
}

static Function found(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) { /* Python loads MPI for one of its modules alone */
        void *library = any_mpi();
        function = library ? dlsym(library, name) : NULL;
    }
    if (!function) {
        fprintf(stderr, "count_calls: there is no %s to call: run without counting calls.\n", name);
        abort();
    }
    return (Function)function;
}

/* The rank, by the variable of Open MPI, of MPICH, of PMIx, or of Slurm. */
static const char *own_rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (int number = 0; number < 4; number++)
        if (getenv(variables[number]))
            return getenv(variables[number]);
    return NULL;
}

/* The size of MPI_COMM_WORLD; 0 if this is an MPI whose handles we do not know. */
static int world_size(void)
{
    void *library = loaded(open_mpi), *world = any_mpi() ? (void *)0x44000000L : NULL;
    int size = 0;
    if (library) { /* a program may have its own copy of what the library exports, and MPI means that then */
        world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
        world = world ? world : dlsym(library, "ompi_mpi_comm_world");
    }
    if (world)
        ((int (*)(void *, int *))found("PMPI_Comm_size"))(world, &size);
    return size;
}

static void write_counts(void)
{
    const char *start = getenv("EEE_CALLS"), *rank = own_rank();
    int size = world_size();
    char path[4096];
    FILE *file;
    if (!start || !rank || snprintf(path, sizeof path, "%s.%s", start, rank) >= (int)sizeof path)
        return;
    file = fopen(path, "w");
    if (!file)
        return;
    if (size)
        fprintf(file, "world %d\n", size);
    if (begun_steady_ns) {
        long took_ns = now_ns(CLOCK_MONOTONIC) - begun_steady_ns;
        fprintf(file, "begun_ns %ld\nended_ns %ld\ntook_ns %ld\n", begun_ns, now_ns(CLOCK_REALTIME), took_ns);
    }
    for (int number = 0; number < COUNT; number++)
        if (counts[number])
            fprintf(file, "%s %lu\n", names[number], counts[number]);
    fclose(file);
}

static __thread int in_fortran;

#define COUNTING(symbol, name, number) \
    long symbol(TAKEN) \
    { \
        static Function real; \
        if (!real) \
            real = found(name); \
        if (!in_fortran) \
            __atomic_fetch_add(&counts[number], 1, __ATOMIC_RELAXED); \
        return real(PASSED); \
    }

#define COUNTING_FORTRAN(symbol, name, number) \
    long symbol(TAKEN) \
    { \
        static Function real; \
        if (!real) \
            real = found(name); \
        __atomic_fetch_add(&counts[number], 1, __ATOMIC_RELAXED); \
        in_fortran++; \
        long result = real(PASSED); \
        in_fortran--; \
        return result; \
    }

#define X(camel, lower) \
    COUNTING(MPI_##camel, "PMPI_" #camel, INDEX_##camel) \
    COUNTING_FORTRAN(mpi_##lower##_, "pmpi_" #lower "_", INDEX_##camel) \
    COUNTING_FORTRAN(mpi_##lower##_f08_, "pmpi_" #lower "_f08_", INDEX_##camel)
FUNCTIONS(X)
#undef X

/* Rank by rank, from where MPI_Init returns: what comes before is launching. */
#define BEGINNING(symbol, name) \
    long symbol(TAKEN) \
    { \
        long result = found(name)(PASSED); \
        begun_ns = now_ns(CLOCK_REALTIME); \
        begun_steady_ns = now_ns(CLOCK_MONOTONIC); \
        return result; \
    }

BEGINNING(MPI_Init, "PMPI_Init")
BEGINNING(MPI_Init_thread, "PMPI_Init_thread")
BEGINNING(mpi_init_, "pmpi_init_")
BEGINNING(mpi_init_thread_, "pmpi_init_thread_")
BEGINNING(mpi_init_f08_, "pmpi_init_f08_")
BEGINNING(mpi_init_thread_f08_, "pmpi_init_thread_f08_")

#define FINALIZING(symbol, name) \
    long symbol(TAKEN) \
    { \
        write_counts(); \
        return found(name)(PASSED); \
    }

FINALIZING(MPI_Finalize, "PMPI_Finalize")
FINALIZING(mpi_finalize_, "pmpi_finalize_")
FINALIZING(mpi_finalize_f08_, "pmpi_finalize_f08_")
