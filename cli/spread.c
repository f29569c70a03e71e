#include "spread.h"

#include "ballast/version.h"
#include "cli.h"

#include <stdlib.h>

#ifdef BALLAST_MPI

#include "store/pack.h"
#include "store/sweep.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

/* Messages. A worker sends READY, RESULT or FAILED and is answered with TASK or END. */
enum { READY = 1, RESULT, FAILED, TASK, END };

/* How long rank 0 rests when no message is there. Open MPI would otherwise spin, and take a processor from
 * the work. */
static const struct timespec rest = {0, 200000};

static int rank, ranks = 1;
static bool announced; /* the other ranks know what to do */

/* Any MPI says so in the environment; only then is it worth starting. */
static bool is_under_mpirun(void) {
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i]))
            return true;
    return false;
}

bool cli_is_spread(void) {
    return ranks > 1;
}

/* ---- the other ranks ---- */

/* What rank 0 tells everyone at the start; without an experiment there is nothing to do. */
struct announcement {
    int64_t length; /* of the text that follows; -1: none */
    int64_t mode;
    char version[32];
};

static int learn(struct bal_experiment **experiment) {
    struct announcement said;
    MPI_Bcast(&said, sizeof said, MPI_BYTE, 0, MPI_COMM_WORLD);
    *experiment = NULL;
    if (said.length < 0)
        return CLI_OK;
    char *text = malloc((size_t)said.length + 1);
    if (!text)
        MPI_Abort(MPI_COMM_WORLD, CLI_BAD_INPUT);
    MPI_Bcast(text, (int)said.length, MPI_BYTE, 0, MPI_COMM_WORLD);
    struct bal_error err = {0};
    int status = CLI_OK;
    if (strcmp(said.version, BALLAST_VERSION) != 0)
        status = cli_fail("rank %d runs version " BALLAST_VERSION ", rank 0 version %.31s; use the same",
                          rank, said.version);
    else if (bal_experiment_parse(text, (size_t)said.length, "experiment", (enum bal_mode)said.mode,
                                  experiment, &err))
        status = cli_fail("rank %d: %s", rank, err.text);
    free(text);
    if (status)
        MPI_Abort(MPI_COMM_WORLD, status);
    return status;
}

struct desk {
    struct bal_histogram histogram[BAL_DISTRIBUTIONS];
    uint8_t bytes[BAL_PACKED_TRIAL];
};

/* Does a task and reports it. */
static void do_task(const struct bal_experiment *e, const struct bal_task *task, struct desk *desk) {
    memset(desk->histogram, 0, sizeof desk->histogram);
    struct bal_trial trial = {.jobs = 0};
    bal_trial_keep(&trial, desk->histogram);
    struct bal_error err = {0};
    if (bal_task_run(e, task, cli_stop_flag(), &trial, &err))
        MPI_Send(&err, sizeof err, MPI_BYTE, 0, FAILED, MPI_COMM_WORLD);
    else
        MPI_Send(desk->bytes, (int)bal_pack_trial(&trial, desk->bytes), MPI_BYTE, 0, RESULT, MPI_COMM_WORLD);
}

static int serve(void) {
    struct bal_experiment *e;
    const int status = learn(&e);
    struct desk *desk = malloc(sizeof *desk);
    if (!desk)
        MPI_Abort(MPI_COMM_WORLD, CLI_BAD_INPUT);
    if (e)
        MPI_Send(NULL, 0, MPI_BYTE, 0, READY, MPI_COMM_WORLD);
    for (bool more = e != NULL; more;) {
        struct bal_task task;
        MPI_Status about;
        MPI_Recv(&task, sizeof task, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &about);
        more = about.MPI_TAG == TASK;
        if (more)
            do_task(e, &task, desk);
    }
    free(desk);
    bal_experiment_free(e);
    return status;
}

int cli_spread_join(void) {
    if (!is_under_mpirun())
        return -1;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        return -1;
    cli_catch_signals();
    const int status = serve();
    MPI_Finalize();
    return status;
}

/* ---- rank 0 ---- */

static void announce(const struct bal_experiment *e) {
    struct announcement said = {.length = e ? (int64_t)strlen(e->spec) : -1, .mode = e ? e->mode : 0};
    strncpy(said.version, BALLAST_VERSION, sizeof said.version - 1);
    MPI_Bcast(&said, sizeof said, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (e)
        MPI_Bcast((void *)e->spec, (int)said.length, MPI_BYTE, 0, MPI_COMM_WORLD);
    announced = true;
}

void cli_spread_leave(void) {
    if (!is_under_mpirun())
        return;
    if (!announced)
        announce(NULL);
    MPI_Finalize();
}

struct office {
    struct bal_sweep *sweep;
    struct bal_task *task; /* of each rank */
    bool *waiting;         /* for something to do */
    int active;            /* ranks that have not been sent home */
    struct desk desk;
};

/* Gives the rank its next task, sends it home, or leaves it waiting. */
static void answer(struct office *office, int worker) {
    const enum bal_next next = bal_sweep_next(office->sweep, &office->task[worker]);
    office->waiting[worker] = next == BAL_NEXT_WAIT;
    if (next == BAL_NEXT_WAIT)
        return;
    const bool task = next == BAL_NEXT_TASK;
    MPI_Send(&office->task[worker], task ? (int)sizeof office->task[worker] : 0, MPI_BYTE, worker,
             task ? TASK : END, MPI_COMM_WORLD);
    office->active -= !task;
}

static void take_result(struct office *office, int worker, size_t size) {
    struct desk *desk = &office->desk;
    memset(desk->histogram, 0, sizeof desk->histogram);
    struct bal_trial trial = {.jobs = 0};
    bal_trial_keep(&trial, desk->histogram);
    struct bal_error err = {0};
    const bool good = bal_unpack_trial(desk->bytes, size, &trial);
    if (!good)
        bal_fail(&err, BAL_E_FORMAT, "rank %d sent a result that cannot be read", worker);
    bal_sweep_take(office->sweep, &office->task[worker], good ? &trial : NULL, &err);
}

static void receive(struct office *office, const MPI_Status *about) {
    struct desk *desk = &office->desk;
    const int worker = about->MPI_SOURCE;
    int size = 0;
    MPI_Get_count(about, MPI_BYTE, &size);
    MPI_Recv(desk->bytes, sizeof desk->bytes, MPI_BYTE, worker, about->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (about->MPI_TAG == RESULT) {
        take_result(office, worker, (size_t)size);
    } else if (about->MPI_TAG == FAILED) {
        struct bal_error err;
        memcpy(&err, desk->bytes, sizeof err);
        bal_sweep_take(office->sweep, &office->task[worker], NULL, &err);
    }
    answer(office, worker);
}

static void preside(struct office *office) {
    for (office->active = ranks - 1; office->active > 0;) {
        int there = 0;
        MPI_Status about;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &about);
        if (there) {
            receive(office, &about);
            continue;
        }
        for (int worker = 1; worker < ranks; worker++)
            if (office->waiting[worker])
                answer(office, worker);
        nanosleep(&rest, NULL);
    }
}

static void *compute(void *sweep) {
    bal_sweep_work(sweep);
    return NULL;
}

enum bal_code cli_spread_sweep(const struct bal_experiment *experiment, struct bal_store *store,
                               const struct bal_sweep_options *options, struct bal_error *err) {
    struct office *office = calloc(1, sizeof *office);
    enum bal_code code = BAL_E_MEMORY;
    if (!office)
        return bal_fail(err, code, "not enough memory");
    office->task = calloc((size_t)ranks, sizeof *office->task);
    office->waiting = calloc((size_t)ranks, sizeof *office->waiting);
    code = office->task && office->waiting ? bal_sweep_new(experiment, store, options, &office->sweep, err)
                                           : bal_fail(err, code, "not enough memory");
    if (!code) {
        announce(experiment);
        pthread_t thread;
        const bool started = pthread_create(&thread, NULL, compute, office->sweep) == 0;
        preside(office);
        if (started)
            pthread_join(thread, NULL);
        else
            bal_sweep_work(office->sweep);
        code = bal_sweep_finish(office->sweep, err);
    }
    bal_sweep_free(office->sweep);
    free(office->task);
    free(office->waiting);
    free(office);
    return code;
}

#else

int cli_spread_join(void) {
    if (getenv("OMPI_COMM_WORLD_SIZE") && strtol(getenv("OMPI_COMM_WORLD_SIZE"), NULL, 10) > 1)
        return cli_fail("started by mpirun, but built without MPI; install libopenmpi-dev and build again");
    return -1;
}

bool cli_is_spread(void) {
    return false;
}

enum bal_code cli_spread_sweep(const struct bal_experiment *experiment, struct bal_store *store,
                               const struct bal_sweep_options *options, struct bal_error *err) {
    return bal_sweep_run(experiment, store, options, err);
}

void cli_spread_leave(void) {
}

#endif
