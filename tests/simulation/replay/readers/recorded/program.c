/* Programs whose MPI calls the tests know: one for each class of calls, named by the first argument. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD
#define NO MPI_STATUS_IGNORE

static int rank, ranks, right, left;
static char out[1 << 16], in[1 << 16];

/* Every way to send and receive around a ring; sizes are 100 times the tag. */
static void messages(void)
{
    char attached[1 << 16];
    void *detached;
    int size;
    MPI_Request sends[4];
    MPI_Buffer_attach(attached, sizeof attached);
    if (rank % 2 == 0)
        MPI_Send(out, 25, MPI_INT, right, 1, WORLD);
    MPI_Recv(in, sizeof in, MPI_BYTE, left, 1, WORLD, NO);
    if (rank % 2 == 1)
        MPI_Send(out, 25, MPI_INT, right, 1, WORLD);
    MPI_Bsend(out, 200, MPI_BYTE, right, 2, WORLD);
    MPI_Recv(in, sizeof in, MPI_BYTE, left, 2, WORLD, NO);
    if (rank == 0)
        MPI_Ssend(out, 300, MPI_BYTE, right, 3, WORLD);
    MPI_Recv(in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, 3, WORLD, NO);
    if (rank != 0)
        MPI_Ssend(out, 300, MPI_BYTE, right, 3, WORLD);
    MPI_Isend(out, 400, MPI_BYTE, right, 4, WORLD, &sends[0]);
    MPI_Ibsend(out, 500, MPI_BYTE, right, 5, WORLD, &sends[1]);
    MPI_Issend(out, 600, MPI_BYTE, right, 6, WORLD, &sends[2]);
    MPI_Recv(in, sizeof in, MPI_BYTE, left, 4, WORLD, NO);
    MPI_Recv(in, sizeof in, MPI_BYTE, left, 5, WORLD, NO);
    MPI_Recv(in, sizeof in, MPI_BYTE, left, MPI_ANY_TAG, WORLD, NO);
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, sizeof in, MPI_BYTE, left, 7, WORLD, &sends[0]);
    MPI_Barrier(WORLD);
    MPI_Rsend(out, 700, MPI_BYTE, right, 7, WORLD);
    MPI_Wait(&sends[0], NO);
    MPI_Sendrecv(out, 100, MPI_DOUBLE, right, 8, in, sizeof in, MPI_BYTE, left, 8, WORLD, NO);
    MPI_Sendrecv_replace(out, 900, MPI_BYTE, right, 9, left, 9, WORLD, NO);
    MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, 10, WORLD);
    MPI_Recv(in, 5, MPI_INT, MPI_PROC_NULL, 10, WORLD, NO);
    MPI_Isend(out, 0, MPI_BYTE, rank, 11, MPI_COMM_WORLD, &sends[0]);
    MPI_Recv(in, 0, MPI_BYTE, rank, 11, MPI_COMM_WORLD, NO);
    MPI_Wait(&sends[0], NO);
    MPI_Buffer_detach(&detached, &size);
}

/* Requests that end in every way, in another order than they began. */
static void requests(void)
{
    MPI_Request some[6], persistent[2], cancelled;
    MPI_Status status;
    MPI_Message message;
    int index, indices[6], count, flag, left_over;
    for (int tag = 0; tag < 6; tag++)
        MPI_Irecv(in + 1000 * tag, 1000, MPI_BYTE, MPI_ANY_SOURCE, tag, WORLD, &some[tag]);
    for (int tag = 5; tag >= 0; tag--)
        MPI_Send(out, 10 + tag, MPI_BYTE, right, tag, WORLD);
    MPI_Waitany(6, some, &index, NO);
    for (left_over = 5; left_over > 3; left_over -= count)
        MPI_Waitsome(6, some, &count, indices, MPI_STATUSES_IGNORE);
    for (flag = 0; !flag;)
        MPI_Testall(6, some, &flag, MPI_STATUSES_IGNORE);

    MPI_Recv_init(in, 1000, MPI_BYTE, MPI_ANY_SOURCE, 20, WORLD, &persistent[0]);
    MPI_Send_init(out, 33, MPI_BYTE, right, 20, WORLD, &persistent[1]);
    for (int pass = 0; pass < 3; pass++) {
        MPI_Startall(2, persistent);
        MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
        MPI_Wait(&persistent[0], NO); /* inactive: nothing */
    }
    MPI_Start(&persistent[1]);
    MPI_Recv(in, 1000, MPI_BYTE, left, 20, WORLD, NO);
    for (flag = 0; !flag;)
        MPI_Test(&persistent[1], &flag, NO);
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);

    MPI_Irecv(in, 10, MPI_BYTE, left, 99, WORLD, &cancelled);
    MPI_Cancel(&cancelled);
    MPI_Wait(&cancelled, &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag)
        MPI_Abort(WORLD, 3);

    MPI_Isend(out, 44, MPI_BYTE, right, 30, WORLD, &some[0]);
    for (flag = 0; !flag;)
        MPI_Improbe(MPI_ANY_SOURCE, 30, WORLD, &flag, &message, &status);
    MPI_Mrecv(in, 1000, MPI_BYTE, &message, NO);
    MPI_Isend(out, 45, MPI_BYTE, right, 31, WORLD, &some[1]);
    MPI_Mprobe(left, MPI_ANY_TAG, WORLD, &message, NO);
    MPI_Imrecv(in, 1000, MPI_BYTE, &message, &some[2]);
    for (flag = 0; !flag;)
        MPI_Testany(3, some, &index, &flag, NO);
    for (flag = 0; !flag;)
        MPI_Testsome(3, some, &flag, indices, MPI_STATUSES_IGNORE);
    MPI_Waitall(3, some, MPI_STATUSES_IGNORE);

    MPI_Isend(out, 46, MPI_BYTE, right, 32, WORLD, &some[0]);
    MPI_Request_free(&some[0]);
    MPI_Probe(left, 32, WORLD, &status);
    MPI_Recv(in, 1000, MPI_BYTE, left, 32, WORLD, NO);
    MPI_Isend(out, 47, MPI_BYTE, right, 33, WORLD, &some[0]);
    MPI_Irecv(in, 1000, MPI_BYTE, left, 33, WORLD, &some[1]);
    for (flag = 0; !flag;)
        MPI_Request_get_status(some[1], &flag, NO);
    MPI_Waitall(2, some, MPI_STATUSES_IGNORE);
}

static void multiply(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int number = 0; number < *count; number++)
        ((int *)to)[number] = ((int *)from)[number] - ((int *)to)[number];
}

/* Collective calls, blocking and not, in place and not; blocks of rank r are 4 (r + 1) bytes where they differ. */
static void collectives(void)
{
    int counts[16], displacements[16], twos[16];
    MPI_Datatype types[16];
    MPI_Op op;
    MPI_Request request;
    for (int number = 0; number < ranks; number++) {
        counts[number] = number + 1;
        twos[number] = rank + 1;
        displacements[number] = 16 * number;
        types[number] = MPI_INT;
    }
    MPI_Op_create(multiply, 0, &op);
    MPI_Barrier(WORLD);
    MPI_Bcast(out, 7, MPI_INT, 1, WORLD);
    MPI_Gather(rank ? out : MPI_IN_PLACE, 3, MPI_INT, in, 3, MPI_INT, 0, WORLD);
    MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, 1, WORLD);
    MPI_Scatter(out, 5, MPI_INT, in, 5, MPI_INT, 2, WORLD);
    MPI_Scatterv(out, counts, displacements, MPI_INT, rank ? in : MPI_IN_PLACE, rank + 1, MPI_INT, 0, WORLD);
    MPI_Allgather(out, 2, MPI_INT, in, 8, MPI_BYTE, WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, displacements, MPI_INT, WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 6, MPI_INT, WORLD);
    MPI_Alltoallv(out, counts, displacements, MPI_INT, in, twos, displacements, MPI_INT, WORLD);
    MPI_Alltoallw(out, counts, displacements, types, in, twos, displacements, types, WORLD);
    MPI_Reduce(rank ? out : MPI_IN_PLACE, rank ? in : out, 9, MPI_INT, op, 0, WORLD);
    MPI_Allreduce(out, in, 10, MPI_DOUBLE, MPI_SUM, WORLD);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, op, WORLD);
    MPI_Scan(out, in, 3, MPI_INT, MPI_MAX, WORLD);
    MPI_Exscan(out, in, 4, MPI_INT, MPI_MAX, WORLD);
    MPI_Ibarrier(WORLD, &request);
    MPI_Wait(&request, NO);
    MPI_Ibcast(out, 7, MPI_INT, 1, WORLD, &request);
    MPI_Wait(&request, NO);
    MPI_Igatherv(out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, 1, WORLD, &request);
    MPI_Wait(&request, NO);
    MPI_Ialltoallv(out, counts, displacements, MPI_INT, in, twos, displacements, MPI_INT, WORLD, &request);
    MPI_Wait(&request, NO);
    MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, WORLD, &request);
    MPI_Wait(&request, NO);
    MPI_Op_free(&op);
}

/* Communicators made in every way: a message of as many bytes as its tag goes around each. */
static void around(MPI_Comm comm, int tag)
{
    int own, size;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(out, tag, MPI_BYTE, (own + 1) % size, tag, in, 1000, MPI_BYTE, (own + size - 1) % size, tag, comm, NO);
    MPI_Barrier(comm);
}

static void communicators(void)
{
    MPI_Comm one, two, joined, merged;
    MPI_Group all, some;
    MPI_Request request, crossed;
    const int dims[1] = {ranks}, yes[1] = {1}, keep[1] = {1}, first[2] = {0, 2};
    MPI_Comm_dup(WORLD, &one);
    MPI_Comm_idup(WORLD, &two, &request);
    MPI_Wait(&request, NO);
    /* Messages of one tag and other sizes, taken in another order: only their communicators keep them apart. */
    MPI_Isend(out, 11, MPI_BYTE, right, 1, one, &request);
    MPI_Isend(out, 12, MPI_BYTE, right, 1, two, &crossed);
    MPI_Recv(in, 1000, MPI_BYTE, left, 1, two, NO);
    MPI_Recv(in, 1000, MPI_BYTE, left, 1, one, NO);
    MPI_Wait(&request, NO);
    MPI_Wait(&crossed, NO);
    MPI_Comm_free(&one);
    MPI_Comm_split(WORLD, rank % 2, -rank, &one);
    around(one, 21);
    MPI_Comm_free(&one);
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 2, first, &some);
    MPI_Comm_create(WORLD, some, &one);
    around(one, 22);
    if (rank == 0 || rank == 2) {
        MPI_Comm_create_group(WORLD, some, 5, &joined);
        around(joined, 23);
    }
    MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &one);
    around(one, 24);
    MPI_Cart_create(WORLD, 1, dims, yes, 0, &one);
    around(one, 25);
    MPI_Cart_sub(one, keep, &one);
    around(one, 26);
    around(MPI_COMM_SELF, 27);
    MPI_Comm_split(WORLD, rank % 2, rank, &one);
    MPI_Intercomm_create(one, 0, WORLD, 1 - rank % 2, 9, &joined);
    MPI_Intercomm_merge(joined, rank % 2, &merged);
    around(merged, 28);
}

/* On a torus of 2 x ranks / 2, and on a graph where each rank sends to all ranks above. */
static void neighbours(void)
{
    const int dims[2] = {2, ranks / 2}, periods[2] = {1, 0};
    int sources[16], targets[16], below = 0, above = 0;
    const int sizes[4] = {1, 2, 3, 4}, from[4] = {2, 1, 4, 3}, at[4] = {0, 4, 8, 12};
    const MPI_Aint far[4] = {0, 4, 8, 12};
    const MPI_Datatype types[4] = {MPI_BYTE, MPI_BYTE, MPI_BYTE, MPI_BYTE};
    MPI_Comm torus, graph;
    MPI_Request request;
    MPI_Cart_create(WORLD, 2, dims, periods, 0, &torus);
    MPI_Neighbor_alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, torus);
    MPI_Neighbor_alltoallv(out, sizes, at, MPI_BYTE, in, from, at, MPI_BYTE, torus);
    MPI_Neighbor_alltoallw(out, sizes, far, types, in, from, far, types, torus);
    for (int other = 0; other < rank; other++)
        sources[below++] = other;
    for (int other = rank + 1; other < ranks; other++)
        targets[above++] = other;
    MPI_Dist_graph_create_adjacent(WORLD, below, sources, MPI_UNWEIGHTED, above, targets, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &graph);
    MPI_Neighbor_allgather(out, 5, MPI_BYTE, in, 5, MPI_BYTE, graph);
    MPI_Ineighbor_allgather(out, 6, MPI_BYTE, in, 6, MPI_BYTE, graph, &request);
    MPI_Wait(&request, NO);
}

/* Two threads of each rank that talk to those of the next one, in turns that one thread alone could not keep. */
static void *talk(void *with)
{
    const MPI_Comm comm = *(MPI_Comm *)with;
    for (int turn = 0; turn < 20; turn++) {
        if (rank % 2 == 0) {
            MPI_Ssend(out, 100, MPI_BYTE, right, turn, comm);
            MPI_Recv(in, 0, MPI_BYTE, right, turn, comm, NO);
        } else {
            MPI_Recv(out + 5000, 100, MPI_BYTE, left, turn, comm, NO);
            MPI_Ssend(out, 0, MPI_BYTE, left, turn, comm);
        }
        MPI_Barrier(comm);
    }
    return NULL;
}

static void threads(void)
{
    MPI_Comm comms[2];
    pthread_t thread;
    MPI_Comm_dup(WORLD, &comms[0]);
    MPI_Comm_dup(WORLD, &comms[1]);
    pthread_create(&thread, NULL, talk, &comms[0]);
    talk(&comms[1]);
    pthread_join(thread, NULL);
}

/* What is not replayed, and is said. */
static void left_out(void)
{
    MPI_Win win;
    MPI_File file;
    MPI_Request request;
    char name[] = "written";
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, 8, MPI_BYTE, right, 0, 8, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 100 * rank, out, 100, MPI_BYTE, NO);
    MPI_File_iwrite_at(file, 100 * rank, out, 100, MPI_BYTE, &request);
    MPI_Wait(&request, NO);
    MPI_File_close(&file);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Send(out, 1, MPI_BYTE, ranks + 5, 0, WORLD);
    MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, WORLD);
}

static void across(void)
{
    MPI_Comm half, joined;
    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 9, &joined);
    MPI_Barrier(joined);
}

/* Computing between calls, and a rank that leaves without MPI_Finalize. */
static void pauses(void)
{
    for (int turn = 0; turn < 3; turn++) {
        usleep(20000);
        MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, WORLD);
    }
}

static void killed(void)
{
    for (int turn = 0; turn < 50; turn++)
        MPI_Sendrecv(out, 10, MPI_BYTE, right, 1, in, 1000, MPI_BYTE, left, 1, WORLD, NO);
    MPI_Barrier(WORLD);
    if (rank == 1)
        exit(0);
    sleep(1);
    MPI_Abort(WORLD, 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"messages", messages}, {"requests", requests}, {"collectives", collectives},
               {"communicators", communicators}, {"neighbours", neighbours}, {"threads", threads},
               {"left_out", left_out}, {"across", across}, {"pauses", pauses}, {"killed", killed}};
    int provided;
    if (argc > 1 && !strcmp(argv[1], "threads")) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        if (provided != MPI_THREAD_MULTIPLE)
            return 4;
    } else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    for (size_t number = 0; number < sizeof all / sizeof *all; number++)
        if (argc > 1 && !strcmp(argv[1], all[number].name))
            all[number].run();
    MPI_Finalize();
    return 0;
}
