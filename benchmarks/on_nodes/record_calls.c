/* Records a rank's calls of MPI functions, with their times, into the file $EEE_TRACE.RANK (docs/reference/recorded-traces.md).

   It is loaded before the program, for C, C++, Fortran and Python alike, and stands between program and MPI under both
   names of a function, MPI_Send and PMPI_Send: Open MPI's Fortran functions call C's by their P names, with C's handles.
   What MPI calls inside one of its own functions is not recorded, nor recorded twice.

   The wrappers in record_wrappers.h are generated from the table of functions (benchmarks/recorder/). A wrapper reads
   the clock before and after the call, and writes one record. The buffer is the part of the file where it goes on,
   mapped into memory: so the records of a program that is killed are kept up to the last whole one. A record whose first
   byte is 0 is none. How long it takes to map the next part is recorded. With MPI_THREAD_MULTIPLE records are whole, and
   in the order in which calls ended.

   Simplification: a program that has MPI linked in statically is not recorded. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
/* MPICH 4.0 declares this one otherwise than MPI 4.0 (section 4.2.3), which has const. */
#define MPI_Pready_list MPI_Pready_list_of_mpich
#define PMPI_Pready_list PMPI_Pready_list_of_mpich
#include <mpi.h>
#undef MPI_Pready_list
#undef PMPI_Pready_list
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "record_wrappers.h" /* the numbers of functions and records */

#define ROOM ((size_t)1 << 20)
#define MOST_VARINT ((size_t)10)
#define LIKELY(x) __builtin_expect(!!(x), 1)

typedef struct communicator {
    uintptr_t handle;
    unsigned id;
    int inter, rank, size, sources, targets; /* sizes and neighbours are 0 on an intercommunicator */
    struct communicator *next;
} Communicator;

typedef struct request {
    uintptr_t handle;
    unsigned id;
    unsigned char receives, persistent, active, told, cancelling;
    MPI_Comm *made; /* of MPI_Comm_idup: where its communicator will be */
    Communicator *communicator;
    struct request *next;
} Request;

typedef struct {
    Request *first, *last;
} Bucket;

static __thread int inside __attribute__((tls_model("initial-exec")));
static int recording, several_threads, file = -1;
static pid_t owner;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffer, *at, *limit;
static off_t buffer_at; /* in the file */
static uint64_t last_ns;
static struct {
    unsigned function;
    uint64_t times, spent_ns, until_ns;
} asking;
static uint64_t *values;
static size_t values_room;

static void *found(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "record_calls: this MPI has no %s: run without --trace.\n", name);
        abort();
    }
    return function;
}

static void *grown(void *memory, size_t size)
{
    memory = realloc(memory, size);
    if (!memory) {
        fprintf(stderr, "record_calls: no memory for %zu bytes: run without --trace.\n", size);
        abort();
    }
    return memory;
}

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void lock(void)
{
    if (several_threads)
        pthread_mutex_lock(&mutex);
}

static inline void unlock(void)
{
    if (several_threads)
        pthread_mutex_unlock(&mutex);
}

/* -- records */

static inline uint8_t *put(uint8_t *to, uint64_t value)
{
    while (value >= 128) {
        *to++ = (uint8_t)(value | 128);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* Map the file from the page on that `at` is in. A disk that is full ends the recording, not the program. */
static int map_part(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), done = buffer ? (size_t)(at - buffer) : 0, within = done % page;
    const off_t part_at = buffer_at + (off_t)(done - within);
    const size_t room = ((size > ROOM ? size : ROOM) / page + 2) * page;
    if (buffer)
        munmap(buffer, (size_t)(limit - buffer));
    buffer = at = limit = NULL;
    errno = posix_fallocate(file, part_at, (off_t)room);
    if (errno)
        return 0;
    void *part = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, part_at);
    if (part == MAP_FAILED)
        return 0;
    buffer = part;
    buffer_at = part_at;
    at = buffer + within;
    limit = buffer + room;
    return 1;
}

static inline void put_record(unsigned kind, uint64_t begun, uint64_t ended, const uint64_t *from, size_t count)
{
    uint8_t *to = at + 1;
    if (ended < last_ns)
        ended = last_ns; /* another thread was first */
    if (count + 3 >= 128)
        to = put(to, (count + 3) >> 7);
    to = put(to, kind);
    to = put(to, ended - last_ns);
    to = put(to, begun < ended ? ended - begun : 0);
    for (size_t number = 0; number < count; number++)
        to = put(to, from[number]);
    last_ns = ended;
    __atomic_store_n(at, (uint8_t)((count + 3) | (count + 3 >= 128 ? 128 : 0)), __ATOMIC_RELEASE);
    at = to;
}

static __attribute__((noinline)) int make_room(size_t size)
{
    const uint64_t begun = now_ns();
    if (!recording || !map_part(size + 8 * MOST_VARINT))
        return recording = 0;
    put_record(FLUSHED, begun, now_ns(), NULL, 0);
    return 1;
}

static void write_record(unsigned kind, uint64_t begun, uint64_t ended, const uint64_t *from, size_t count);

static void write_asked(void)
{
    const uint64_t of[] = {asking.function, asking.times};
    asking.times = 0;
    write_record(ASKED, asking.until_ns - asking.spent_ns, asking.until_ns, of, 2);
}

static void write_record(unsigned kind, uint64_t begun, uint64_t ended, const uint64_t *from, size_t count)
{
    if (asking.times)
        write_asked();
    const size_t most = (count + 4) * MOST_VARINT;
    if (!LIKELY(most <= (size_t)(limit - at)) && !make_room(most))
        return;
    put_record(kind, begun, ended, from, count);
}

/* A test that found nothing: those of one function in a row are one record. */
static void asked(unsigned function, uint64_t begun, uint64_t ended)
{
    if (asking.times && asking.function != function)
        write_asked();
    if (!asking.times)
        asking.spent_ns = 0;
    asking.function = function;
    asking.times++;
    asking.spent_ns += ended - begun;
    asking.until_ns = ended;
}

static void failed(unsigned function, uint64_t begun, uint64_t ended)
{
    const uint64_t which = function;
    write_record(FAILED, begun, ended, &which, 1);
}

static uint64_t *room_for(size_t count)
{
    if (count > values_room) {
        values_room = 2 * count;
        values = grown(values, values_room * sizeof *values);
    }
    return values;
}

/* -- what a record says */

static inline uint64_t peer(int rank)
{
    return rank == MPI_ANY_SOURCE ? 1 : rank == MPI_PROC_NULL ? 0 : (uint64_t)rank + 2;
}

static inline uint64_t tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? 0 : (uint64_t)tag + 1;
}

static inline uint64_t bytes(int count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return 0;
    PMPI_Type_size_x(type, &size);
    return (uint64_t)count * (uint64_t)size;
}

static inline uint64_t bytes_in(const MPI_Status *status)
{
    MPI_Count count = 0;
    if (status->MPI_SOURCE == MPI_PROC_NULL)
        return 0;
    PMPI_Get_elements_x((MPI_Status *)status, MPI_BYTE, &count);
    return count > 0 ? (uint64_t)count : 0;
}

static inline uint64_t flags_of(int in_place, MPI_Op op)
{
    int commutes = 1;
    PMPI_Op_commutative(op, &commutes);
    return (in_place ? 1u : 0u) | (commutes ? 0u : 2u);
}

/* -- communicators */

static Communicator *communicators[256], *last_used;
static unsigned communicators_made;
static MPI_Group world;

static unsigned slot(uintptr_t handle)
{
    return (unsigned)((handle ^ handle >> 6 ^ handle >> 14) & 255);
}

/* Their number, twice, plus 1 if they follow each other by one step; then first and step, or all of them. */
static size_t add_ranks(size_t at_value, const int *ranks, int count, int shift)
{
    uint64_t *to = room_for(at_value + (size_t)count + 3);
    int step = count > 1 ? ranks[1] - ranks[0] : 1, regular = count > 0 && step > 0;
    for (int number = 0; number < count; number++)
        if (ranks[number] < 0 || ranks[number] != ranks[0] + number * step)
            regular = 0;
    to[at_value++] = 2 * (uint64_t)count + (uint64_t)regular;
    if (regular) {
        to[at_value++] = (uint64_t)(ranks[0] + shift);
        to[at_value++] = (uint64_t)step;
        return at_value;
    }
    for (int number = 0; number < count; number++)
        to[at_value++] = ranks[number] < 0 ? 0 : (uint64_t)(ranks[number] + shift);
    return at_value;
}

static size_t add_group(size_t at_value, MPI_Group group)
{
    int size = 0;
    PMPI_Group_size(group, &size);
    int *own = grown(NULL, 2 * sizeof(int) * (size_t)(size + 1)), *ranks = own + size;
    for (int rank = 0; rank < size; rank++)
        own[rank] = rank;
    PMPI_Group_translate_ranks(group, size, own, world, ranks);
    for (int rank = 0; rank < size; rank++)
        if (ranks[rank] == MPI_UNDEFINED)
            ranks[rank] = -1;
    at_value = add_ranks(at_value, ranks, size, 1);
    free(own);
    return at_value;
}

static size_t add_neighbours(size_t at_value, MPI_Comm comm, Communicator *one, int topology)
{
    int weighted, *ranks, *weights;
    switch (topology) {
    case MPI_CART: {
        int dimensions = 0;
        PMPI_Cartdim_get(comm, &dimensions);
        one->sources = one->targets = 2 * dimensions;
        break;
    }
    case MPI_GRAPH:
        PMPI_Graph_neighbors_count(comm, one->rank, &one->sources);
        one->targets = one->sources;
        break;
    case MPI_DIST_GRAPH:
        PMPI_Dist_graph_neighbors_count(comm, &one->sources, &one->targets, &weighted);
    }
    ranks = grown(NULL, 2 * sizeof(int) * (size_t)(one->sources + one->targets + 1));
    weights = ranks + one->sources + one->targets + 1;
    int *targets = ranks + one->sources;
    switch (topology) {
    case MPI_CART:
        for (int number = 0; number < one->sources; number += 2)
            PMPI_Cart_shift(comm, number / 2, 1, &ranks[number], &ranks[number + 1]);
        memcpy(targets, ranks, sizeof(int) * (size_t)one->targets);
        break;
    case MPI_GRAPH:
        PMPI_Graph_neighbors(comm, one->rank, one->sources, ranks);
        memcpy(targets, ranks, sizeof(int) * (size_t)one->targets);
        break;
    case MPI_DIST_GRAPH:
        PMPI_Dist_graph_neighbors(comm, one->sources, ranks, weights, one->targets, targets, weights + one->sources);
    }
    uint64_t *to = room_for(at_value + (size_t)(one->sources + one->targets) + 2);
    to[at_value++] = (uint64_t)one->sources;
    for (int number = 0; number < one->sources; number++)
        to[at_value++] = peer(ranks[number]);
    to[at_value++] = (uint64_t)one->targets;
    for (int number = 0; number < one->targets; number++)
        to[at_value++] = peer(targets[number]);
    free(ranks);
    return at_value;
}

/* A communicator like `comm`, which gets a number and a record; `made_by` is the function that made it, 0 if unknown. */
static Communicator *communicator_like(MPI_Comm comm, unsigned made_by)
{
    Communicator *one = grown(NULL, sizeof *one);
    MPI_Group group;
    int topology = MPI_UNDEFINED;
    memset(one, 0, sizeof *one);
    one->id = communicators_made++;
    PMPI_Comm_test_inter(comm, &one->inter);
    PMPI_Comm_rank(comm, &one->rank);
    uint64_t *to = room_for(4);
    to[0] = one->id;
    to[1] = made_by;
    to[2] = (uint64_t)one->inter;
    PMPI_Comm_group(comm, &group);
    size_t count = add_group(4, group);
    PMPI_Group_free(&group);
    if (one->inter) {
        PMPI_Comm_remote_group(comm, &group);
        count = add_group(count, group);
        PMPI_Group_free(&group);
    } else {
        PMPI_Comm_size(comm, &one->size);
        PMPI_Topo_test(comm, &topology);
        count = add_neighbours(count, comm, one, topology);
    }
    values[3] = topology == MPI_CART ? 1 : topology == MPI_GRAPH ? 2 : topology == MPI_DIST_GRAPH ? 3 : 0;
    write_record(COMMUNICATOR, last_ns, last_ns, values, count);
    return one;
}

static void know(Communicator *one, MPI_Comm comm)
{
    one->handle = (uintptr_t)comm;
    one->next = communicators[slot(one->handle)];
    communicators[slot(one->handle)] = one;
}

static __attribute__((noinline)) Communicator *looked_up(MPI_Comm comm)
{
    Communicator *one = communicators[slot((uintptr_t)comm)];
    while (one && one->handle != (uintptr_t)comm)
        one = one->next;
    if (!one)
        know(one = communicator_like(comm, 0), comm);
    return last_used = one;
}

static inline Communicator *communicator(MPI_Comm comm)
{
    return LIKELY(last_used && last_used->handle == (uintptr_t)comm) ? last_used : looked_up(comm);
}

static void made(MPI_Comm comm, unsigned made_by)
{
    if (comm != MPI_COMM_NULL)
        know(communicator_like(comm, made_by), comm);
}

static void forget(MPI_Comm comm)
{
    Communicator **one = &communicators[slot((uintptr_t)comm)];
    while (*one && (*one)->handle != (uintptr_t)comm)
        one = &(*one)->next;
    if (*one) {
        Communicator *old = *one;
        *one = old->next;
        free(old);
    }
    last_used = NULL;
}

/* -- requests: several with one handle (Open MPI's empty request) end in the order in which they began */

static Bucket *buckets;
static size_t bucket_count, request_count, spare_ids;
static Request *spare;
static unsigned *spare_id, ids;
static size_t spare_id_room;

static Bucket *bucket(uintptr_t handle)
{
    return &buckets[(handle >> 4 ^ handle >> 11) & (bucket_count - 1)];
}

static void append(Request *one)
{
    Bucket *own = bucket(one->handle);
    one->next = NULL;
    if (own->last)
        own->last->next = one;
    else
        own->first = one;
    own->last = one;
}

static void grow_buckets(void)
{
    Bucket *old = buckets;
    const size_t count = bucket_count;
    bucket_count = count ? 4 * count : 1024;
    buckets = grown(NULL, bucket_count * sizeof *buckets);
    memset(buckets, 0, bucket_count * sizeof *buckets);
    for (size_t number = 0; number < count; number++)
        for (Request *one = old[number].first, *next; one; one = next) {
            next = one->next;
            append(one);
        }
    free(old);
}

static Request *request_of(uintptr_t handle)
{
    if (request_count >= 2 * bucket_count)
        grow_buckets();
    Request *one = spare;
    if (one)
        spare = one->next;
    else
        one = grown(NULL, sizeof *one);
    memset(one, 0, sizeof *one);
    one->handle = handle;
    one->id = spare_ids ? spare_id[--spare_ids] : ids++;
    request_count++;
    append(one);
    return one;
}

static Request *search(uintptr_t handle)
{
    Request *one = bucket_count ? bucket(handle)->first : NULL;
    while (one && one->handle != handle)
        one = one->next;
    return one;
}

static void give_back(unsigned id)
{
    if (spare_ids == spare_id_room) {
        spare_id_room = 2 * spare_id_room + 64;
        spare_id = grown(spare_id, spare_id_room * sizeof *spare_id);
    }
    spare_id[spare_ids++] = id;
}

static void drop(Request *one, int keep_id)
{
    Bucket *own = bucket(one->handle);
    Request *before = NULL, *other = own->first;
    while (other != one) {
        before = other;
        other = other->next;
    }
    if (before)
        before->next = one->next;
    else
        own->first = one->next;
    if (own->last == one)
        own->last = before;
    if (!keep_id)
        give_back(one->id);
    one->next = spare;
    spare = one;
    request_count--;
}

#define MESSAGE(message) ((uintptr_t)(message) ^ (uintptr_t)1 << (8 * sizeof(uintptr_t) - 2))

static Request *latest;

static inline uint64_t begun_request(MPI_Request request, int receives)
{
    Request *one = latest = request_of((uintptr_t)request);
    one->receives = (unsigned char)receives;
    one->active = 1;
    return one->id;
}

static uint64_t persistent_request(MPI_Request request, int receives)
{
    Request *one = request_of((uintptr_t)request);
    one->receives = (unsigned char)receives;
    one->persistent = 1;
    return one->id;
}

static uint64_t message_id(MPI_Message message)
{
    return request_of(MESSAGE(message))->id;
}

static uint64_t taken_message(MPI_Message message, int keep_id)
{
    Request *one = search(MESSAGE(message));
    if (!one)
        return 0;
    const uint64_t id = one->id;
    drop(one, keep_id);
    return id + 1;
}

/* MPI_Imrecv goes on with the message's id. */
static void request_with_id(MPI_Request request, uint64_t id_and_1)
{
    Request *one = request_of((uintptr_t)request);
    if (id_and_1) {
        give_back(one->id);
        one->id = (unsigned)id_and_1 - 1;
    }
    one->receives = 1;
    one->active = 1;
}

/* The numbers of a request that was found complete, from values[at_value] on; none if it has been recorded already. */
static size_t done(size_t at_value, MPI_Request request, const MPI_Status *status, int stays)
{
    Request *one = request == MPI_REQUEST_NULL ? NULL : search((uintptr_t)request);
    if (!one || (one->persistent && !one->active))
        return at_value;
    if (!one->told) {
        int cancelled = 0;
        if (one->cancelling)
            PMPI_Test_cancelled((MPI_Status *)status, &cancelled);
        uint64_t *to = room_for(at_value + 4);
        const int receives = one->receives && !cancelled;
        to[at_value++] = (uint64_t)one->id << 2 | (cancelled ? 2u : 0u) | (receives ? 1u : 0u);
        if (receives) {
            to[at_value++] = peer(status->MPI_SOURCE);
            to[at_value++] = tag_of(status->MPI_TAG);
            to[at_value++] = bytes_in(status);
        }
    }
    one->told = (unsigned char)stays;
    if (stays)
        return at_value;
    one->active = one->cancelling = 0;
    if (one->made && *one->made != MPI_COMM_NULL)
        know(one->communicator, *one->made);
    if (!one->persistent)
        drop(one, 0);
    return at_value;
}

static uint64_t started(MPI_Request request)
{
    Request *one = search((uintptr_t)request);
    if (!one)
        return 0; /* of a kind that is left out */
    one->active = 1;
    return (uint64_t)one->id + 1;
}

static uint64_t freed(MPI_Request request)
{
    Request *one = search((uintptr_t)request);
    if (!one)
        return 0;
    const uint64_t id = one->id;
    drop(one, !one->persistent); /* one that is under way keeps its id until the end */
    return id + 1;
}

static uint64_t cancelling(MPI_Request request)
{
    Request *one = search((uintptr_t)request);
    if (!one)
        return 0;
    one->cancelling = 1;
    return (uint64_t)one->id + 1;
}

/* Behind MPI_Comm_idup: its communicator has its number from now on, and its handle when the request ends. */
static void duplicate(MPI_Comm comm, MPI_Comm *newcomm, unsigned made_by)
{
    latest->made = newcomm;
    latest->communicator = communicator_like(comm, made_by);
}

/* Arrays of the caller that MPI changes: kept on the stack if they are short. */
#define SPACE(type, name, count) \
    type name##_few[32], *const name = (count) <= 32 ? name##_few : grown(NULL, (size_t)(count) * sizeof(type));
#define COPY(type, name, from, count) \
    SPACE(type, name, count) \
    if ((count) > 0) \
        memcpy(name, (from), (size_t)(count) * sizeof(type));
#define RELEASE(name) \
    if (name != name##_few) \
        free(name);

/* -- blocks of v-collectives */

static size_t add_blocks(size_t at_value, int count, const int *counts, MPI_Datatype type)
{
    MPI_Count size = 0;
    uint64_t *to = room_for(at_value + (size_t)count);
    if (count && type != MPI_DATATYPE_NULL)
        PMPI_Type_size_x(type, &size);
    for (int number = 0; number < count; number++)
        to[at_value++] = counts[number] > 0 ? (uint64_t)counts[number] * (uint64_t)size : 0;
    return at_value;
}

static size_t add_typed_blocks(size_t at_value, int count, const int *counts, const MPI_Datatype *types)
{
    uint64_t *to = room_for(at_value + (size_t)count);
    for (int number = 0; number < count; number++)
        to[at_value++] = bytes(counts[number], types[number]);
    return at_value;
}

static size_t add_equal_blocks(size_t at_value, int count, uint64_t size)
{
    uint64_t *to = room_for(at_value + (size_t)count);
    for (int number = 0; number < count; number++)
        to[at_value++] = size;
    return at_value;
}

/* -- begin and end */

static void begin(int threads)
{
    const char *start = getenv("EEE_TRACE");
    char path[4096];
    int rank = 0, ranks = 0;
    struct timespec wall;
    if (file >= 0 || !start)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (snprintf(path, sizeof path, "%s.%d", start, rank) >= (int)sizeof path)
        return;
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return; /* it is there already in programs that this one spawned */
    if (!map_part(ROOM)) {
        perror("record_calls: nothing is recorded");
        return;
    }
    owner = getpid();
    several_threads = threads == MPI_THREAD_MULTIPLE;
    grow_buckets();
    room_for(64);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    clock_gettime(CLOCK_REALTIME, &wall);
    memcpy(at, MAGIC, sizeof MAGIC - 1);
    at += sizeof MAGIC - 1;
    const uint64_t head[] = {FORMAT, (uint64_t)rank, (uint64_t)ranks, (uint64_t)several_threads,
                             (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec};
    last_ns = now_ns();
    write_record(BEGIN, last_ns, last_ns, head, 5);
    recording = 1;
    made(MPI_COMM_WORLD, 0);
    made(MPI_COMM_SELF, 0);
    last_ns = now_ns();
}

static void finish(int whole)
{
    if (file < 0 || getpid() != owner)
        return;
    lock();
    if (recording) {
        const uint64_t now = now_ns();
        if (whole)
            write_record(END, now, now, NULL, 0);
        else if (asking.times)
            write_asked();
    }
    if (buffer) {
        const off_t length = buffer_at + (at - buffer);
        munmap(buffer, (size_t)(limit - buffer));
        if (ftruncate(file, length))
            perror("record_calls: the file keeps its empty end");
    }
    recording = 0;
    close(file);
    file = -1;
    unlock();
}

static __attribute__((destructor)) void leave(void)
{
    finish(0); /* it ended without MPI_Finalize */
}

int MPI_Init(int *argc, char ***argv)
{
    int (*real)(int *, char ***) = found("PMPI_Init");
    int provided = MPI_THREAD_SINGLE;
    inside++;
    const int result = real(argc, argv);
    if (result == MPI_SUCCESS) {
        PMPI_Query_thread(&provided);
        begin(provided);
    }
    inside--;
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*real)(int *, char ***, int, int *) = found("PMPI_Init_thread");
    inside++;
    const int result = real(argc, argv, required, provided);
    if (result == MPI_SUCCESS)
        begin(*provided);
    inside--;
    return result;
}

int MPI_Finalize(void)
{
    int (*real)(void) = found("PMPI_Finalize");
    inside++;
    if (recording)
        PMPI_Group_free(&world);
    finish(1);
    const int result = real();
    inside--;
    return result;
}

int MPI_Abort(MPI_Comm comm, int code)
{
    int (*real)(MPI_Comm, int) = found("PMPI_Abort");
    finish(0);
    return real(comm, code);
}

int PMPI_Init(int *, char ***) __attribute__((alias("MPI_Init")));
int PMPI_Init_thread(int *, char ***, int, int *) __attribute__((alias("MPI_Init_thread")));
int PMPI_Finalize(void) __attribute__((alias("MPI_Finalize")));
int PMPI_Abort(MPI_Comm, int) __attribute__((alias("MPI_Abort")));

#define WRAPPERS
#include "record_wrappers.h"
