/* Makes collective calls and writes what each rank sends in them: `collectives_ompi.py` compiles and runs it, and explains
 * its input. Open MPI's pml monitoring calls `mca_common_monitoring_record_pml` for each message, those of collectives
 * included. The program has a function of this name, which is found before the library's. What a rank sends to itself (5.0
 * in an alltoallv) crosses no link, and is left out.
 *
 * Arguments: file of calls, folder. Rank R writes folder/R: a line a call, of to:bytes in the order of sending. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1 << 20, MOST_RANKS = 1024 };

static int ranks, rank, recording;

void mca_common_monitoring_record_pml(int world_rank, size_t bytes, int tag) {
    (void)tag;
    if (recording && world_rank != rank) {
        printf("%d:%zu ", world_rank, bytes);
    }
}

static void fail(const char *what) {
    fprintf(stderr, "collectives_ompi: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* An operation that does not commute; what it computes does not matter. */
static void in_order(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)in, (void)inout, (void)length, (void)type;
}

static void *vector(size_t bytes) {
    void *memory = calloc(bytes + 8, 1);
    if (memory == NULL) {
        fail("too little memory");
    }
    return memory;
}

/* Counts of blocks in elements, and where they begin; returns their sum. */
static int cut(const long *sizes, int stride, long element, int *counts, int *begins) {
    int sum = 0;
    for (int i = 0; i < ranks; i++) {
        counts[i] = (int)(sizes[i * stride] / element);
        begins[i] = sum;
        sum += counts[i];
    }
    return sum;
}

static void call(const char *kind, int root, long bytes, long element, int commutative, int in_place, const long *sizes) {
    static int counts[MOST_RANKS], begins[MOST_RANKS], theirs[MOST_RANKS], theirs_begin[MOST_RANKS];
    MPI_Datatype type = element == 8 ? MPI_INT64_T : element == 4 ? MPI_INT32_T : MPI_INT8_T;
    MPI_Op op = MPI_SUM;
    MPI_Comm world = MPI_COMM_WORLD;
    int count = (int)(bytes / element);
    /* The parent never asks for more than the program's memory. */
    size_t most = (size_t)bytes * (size_t)ranks;
    if (sizes != NULL) {
        most = 0;
        for (int i = 0; i < ranks * (strcmp(kind, "alltoallv") ? 1 : ranks); i++) {
            most += (size_t)sizes[i];
        }
    }
    char *from = vector(most), *to = vector(most);
    void *sent = in_place ? MPI_IN_PLACE : from;
    if (!commutative) {
        MPI_Op_create(in_order, 0, &op);
    }
    int mine = 0;
    if (sizes != NULL && strcmp(kind, "alltoallv") == 0) {
        cut(sizes + rank * ranks, 1, element, counts, begins);
        cut(sizes + rank, ranks, element, theirs, theirs_begin);
    } else if (sizes != NULL) {
        cut(sizes, 1, element, counts, begins);
        mine = counts[rank];
    }
    recording = 1;
    if (strcmp(kind, "barrier") == 0) {
        MPI_Barrier(world);
    } else if (strcmp(kind, "bcast") == 0) {
        MPI_Bcast(from, count, type, root, world);
    } else if (strcmp(kind, "reduce") == 0) {
        MPI_Reduce(from, to, count, type, op, root, world);
    } else if (strcmp(kind, "allreduce") == 0) {
        MPI_Allreduce(sent, to, count, type, op, world);
    } else if (strcmp(kind, "gather") == 0) {
        MPI_Gather(from, count, type, to, count, type, root, world);
    } else if (strcmp(kind, "gatherv") == 0) {
        MPI_Gatherv(from, mine, type, to, counts, begins, type, root, world);
    } else if (strcmp(kind, "scatter") == 0) {
        MPI_Scatter(from, count, type, to, count, type, root, world);
    } else if (strcmp(kind, "scatterv") == 0) {
        MPI_Scatterv(from, counts, begins, type, to, mine, type, root, world);
    } else if (strcmp(kind, "allgather") == 0) {
        MPI_Allgather(sent, count, type, to, count, type, world);
    } else if (strcmp(kind, "allgatherv") == 0) {
        MPI_Allgatherv(sent, mine, type, to, counts, begins, type, world);
    } else if (strcmp(kind, "alltoall") == 0) {
        MPI_Alltoall(sent, count, type, to, count, type, world);
    } else if (strcmp(kind, "alltoallv") == 0) {
        MPI_Alltoallv(sent, counts, begins, type, to, theirs, theirs_begin, type, world);
    } else if (strcmp(kind, "reducescatter") == 0) {
        MPI_Reduce_scatter(from, to, counts, type, op, world);
    } else if (strcmp(kind, "reducescatterblock") == 0) {
        MPI_Reduce_scatter_block(from, to, count, type, op, world);
    } else if (strcmp(kind, "scan") == 0) {
        MPI_Scan(from, to, count, type, op, world);
    } else if (strcmp(kind, "exscan") == 0) {
        MPI_Exscan(from, to, count, type, op, world);
    } else {
        fail("unknown operation");
    }
    recording = 0;
    printf("\n");
    if (!commutative) {
        MPI_Op_free(&op);
    }
    free(from);
    free(to);
}

int main(int count, char **words) {
    static char line[LINE], path[4096];
    static long sizes[MOST_RANKS * MOST_RANKS];
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count != 3 || ranks > MOST_RANKS) {
        fail("arguments are a file of calls and a folder");
    }
    FILE *calls = fopen(words[1], "r");
    snprintf(path, sizeof path, "%s/%d", words[2], rank);
    if (calls == NULL || freopen(path, "w", stdout) == NULL) {
        fail("no such file or folder");
    }
    while (fgets(line, LINE, calls) != NULL) {
        /* Words: library, kind, ranks, root, bytes, element, commutative, in-place, sizes, nodes, algorithm. */
        char *word[11];
        int found = 0;
        for (char *next = strtok(line, " \n"); next != NULL && found < 11; next = strtok(NULL, " \n")) {
            word[found++] = next;
        }
        if (found != 11) {
            fail("a call has eleven words");
        }
        long *given = strcmp(word[8], "-") ? sizes : NULL;
        if (given != NULL) {
            int i = 0;
            for (char *next = strtok(word[8], ","); next != NULL; next = strtok(NULL, ",")) {
                given[i++] = atol(next);
            }
        }
        call(word[1], atoi(word[3]), atol(word[4]), atol(word[5]), strcmp(word[6], "commutative") == 0,
             strcmp(word[7], "in-place") == 0, given);
    }
    fclose(stdout);
    MPI_Finalize();
    return 0;
}
