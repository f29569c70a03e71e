/* SPDX-License-Identifier: BSD-2-Clause */
/* A sweep spread over MPI processes: rank 0 hands out trials and stores results, the other ranks compute. */
#include "mpi_sweep.h"

#include "ballast/version.h"
#include "cli.h"

#include <stdlib.h>

/* A number that a launcher of MPI programs sets, in the first of two variables that is there; -1: none. */
static long launch_number(const char *open_mpi, const char *pmi, const char *slurm) {
    const char *text = getenv(open_mpi);
    if (!text)
        text = getenv(pmi);
    if (!text && getenv("PMIX_RANK")) /* srun */
        text = getenv(slurm);
    return text ? strtol(text, NULL, 10) : -1;
}

int cli_mpi_check_alone(const char *command) {
    const long size = launch_number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS");
    if (size <= 1)
        return -1;
    if (launch_number("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK") > 0)
        return CLI_BAD_INPUT; /* one line is enough */
    return cli_fail("%s: started %ld times by mpirun, but only run and paper divide their work; leave out "
                    "mpirun: it uses all processors of one machine by itself",
                    command, size);
}

#ifdef BALLAST_MPI

#include "store/serialize.h"
#include "store/sweep.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

/* Messages. A worker sends READY, RESULT or FAILED and is answered with TASK or END. */
enum { READY = 1, RESULT, FAILED, TASK, END };

/* How long rank 0 sleeps when there is no message. Open MPI would otherwise spin, and take a processor from
 * the work. */
static const struct timespec rest = {0, 200000};

static int rank, ranks = 1;

/* Every MPI sets variables in the environment; only then is MPI started. */
static bool is_under_mpirun(void) {
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i]))
            return true;
    return false;
}

bool cli_is_mpi(void) {
    return ranks > 1;
}

/* ---- the other ranks ---- */

/* What rank 0 broadcasts in front of each sweep; without an experiment there are no more. */
struct announcement {
    int64_t length; /* of the text that follows; -1: none */
    int64_t mode;
    char version[32];
};

static void receive_experiment(struct bli_experiment **experiment) {
    struct announcement announcement;
    MPI_Bcast(&announcement, sizeof announcement, MPI_BYTE, 0, MPI_COMM_WORLD);
    *experiment = NULL;
    if (announcement.length < 0)
        return;
    char *text = malloc((size_t)announcement.length + 1);
    if (!text)
        MPI_Abort(MPI_COMM_WORLD, CLI_BAD_INPUT);
    MPI_Bcast(text, (int)announcement.length, MPI_BYTE, 0, MPI_COMM_WORLD);
    struct bal_error err = {0};
    int status = CLI_OK;
    if (strcmp(announcement.version, BALLAST_VERSION) != 0)
        status = cli_fail("rank %d runs version " BALLAST_VERSION ", rank 0 version %.31s; use the same",
                          rank, announcement.version);
    else if (bli_experiment_parse(text, (size_t)announcement.length, "experiment",
                                  (enum bli_mode)announcement.mode, experiment, &err))
        status = cli_fail("rank %d: %s", rank, err.text);
    free(text);
    if (status)
        MPI_Abort(MPI_COMM_WORLD, status);
}

struct buffers {
    struct bli_histogram histogram[BLI_DISTRIBUTIONS];
    uint8_t bytes[BLI_PACKED_TRIAL];
};

/* Does a task and reports it. */
static void run_task(const struct bli_experiment *e, const struct bli_task *task, struct buffers *buffers) {
    memset(buffers->histogram, 0, sizeof buffers->histogram);
    struct bli_trial trial = {.jobs = 0};
    bli_trial_keep(&trial, buffers->histogram);
    struct bal_error err = {0};
    if (bli_task_run(e, task, cli_stop_flag(), &trial, &err))
        MPI_Send(&err, sizeof err, MPI_BYTE, 0, FAILED, MPI_COMM_WORLD);
    else
        MPI_Send(buffers->bytes, (int)bli_pack_trial(&trial, buffers->bytes), MPI_BYTE, 0, RESULT,
                 MPI_COMM_WORLD);
}

/* Does what rank 0 hands out of one sweep. */
static void run_tasks(const struct bli_experiment *e, struct buffers *buffers) {
    MPI_Send(NULL, 0, MPI_BYTE, 0, READY, MPI_COMM_WORLD);
    for (;;) {
        struct bli_task task;
        MPI_Status about;
        MPI_Recv(&task, sizeof task, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &about);
        if (about.MPI_TAG != TASK)
            return;
        run_task(e, &task, buffers);
    }
}

/* A paper has several experiments. */
static void run_worker(void) {
    struct bli_experiment *e;
    struct buffers *buffers = malloc(sizeof *buffers);
    if (!buffers)
        MPI_Abort(MPI_COMM_WORLD, CLI_BAD_INPUT);
    for (receive_experiment(&e); e; receive_experiment(&e)) {
        run_tasks(e, buffers);
        bli_experiment_free(e);
    }
    free(buffers);
}

int cli_mpi_join(void) {
    if (!is_under_mpirun())
        return -1;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        return -1;
    cli_catch_signals();
    run_worker();
    MPI_Finalize();
    return CLI_OK;
}

/* ---- rank 0 ---- */

static void broadcast_experiment(const struct bli_experiment *e) {
    struct announcement announcement = {.length = e ? (int64_t)strlen(e->spec) : -1, .mode = e ? e->mode : 0};
    strncpy(announcement.version, BALLAST_VERSION, sizeof announcement.version - 1);
    MPI_Bcast(&announcement, sizeof announcement, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (e)
        MPI_Bcast((void *)e->spec, (int)announcement.length, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void cli_mpi_leave(void) {
    if (!is_under_mpirun())
        return;
    broadcast_experiment(NULL);
    MPI_Finalize();
}

struct coordinator {
    struct bli_sweep *sweep;
    struct bli_task *task; /* of each rank */
    bool *waiting;         /* for something to do */
    int active;            /* ranks that have not been told to exit */
    struct buffers buffers;
};

/* Sends the rank its next task or the message to exit, or leaves it waiting. */
static void send_next_task(struct coordinator *coordinator, int worker) {
    const enum bli_next next = bli_sweep_next(coordinator->sweep, &coordinator->task[worker]);
    coordinator->waiting[worker] = next == BLI_NEXT_WAIT;
    if (next == BLI_NEXT_WAIT)
        return;
    const bool task = next == BLI_NEXT_TASK;
    MPI_Send(&coordinator->task[worker], task ? (int)sizeof coordinator->task[worker] : 0, MPI_BYTE, worker,
             task ? TASK : END, MPI_COMM_WORLD);
    coordinator->active -= !task;
}

static void add_result(struct coordinator *coordinator, int worker, size_t size) {
    struct buffers *buffers = &coordinator->buffers;
    memset(buffers->histogram, 0, sizeof buffers->histogram);
    struct bli_trial trial = {.jobs = 0};
    bli_trial_keep(&trial, buffers->histogram);
    struct bal_error err = {0};
    const bool good = bli_unpack_trial(buffers->bytes, size, &trial);
    if (!good)
        bal_fail(&err, BAL_E_FORMAT, "rank %d sent a result that cannot be read", worker);
    bli_sweep_add_trial(coordinator->sweep, &coordinator->task[worker], good ? &trial : NULL, &err);
}

static void receive_message(struct coordinator *coordinator, const MPI_Status *about) {
    struct buffers *buffers = &coordinator->buffers;
    const int worker = about->MPI_SOURCE;
    int size = 0;
    MPI_Get_count(about, MPI_BYTE, &size);
    MPI_Recv(buffers->bytes, sizeof buffers->bytes, MPI_BYTE, worker, about->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (about->MPI_TAG == RESULT) {
        add_result(coordinator, worker, (size_t)size);
    } else if (about->MPI_TAG == FAILED) {
        struct bal_error err;
        memcpy(&err, buffers->bytes, sizeof err);
        bli_sweep_add_trial(coordinator->sweep, &coordinator->task[worker], NULL, &err);
    }
    send_next_task(coordinator, worker);
}

static void coordinate(struct coordinator *coordinator) {
    for (coordinator->active = ranks - 1; coordinator->active > 0;) {
        int there = 0;
        MPI_Status about;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &about);
        if (there) {
            receive_message(coordinator, &about);
            continue;
        }
        for (int worker = 1; worker < ranks; worker++)
            if (coordinator->waiting[worker])
                send_next_task(coordinator, worker);
        nanosleep(&rest, NULL);
    }
}

static void *compute_trials(void *sweep) {
    bli_sweep_work(sweep);
    return NULL;
}

enum bal_code cli_mpi_sweep(const struct bli_experiment *experiment, struct bli_store *store,
                            const struct bli_sweep_options *options, struct bal_error *err) {
    struct coordinator *coordinator = calloc(1, sizeof *coordinator);
    enum bal_code code = BAL_E_MEMORY;
    if (!coordinator)
        return bal_fail(err, code, "not enough memory");
    coordinator->task = calloc((size_t)ranks, sizeof *coordinator->task);
    coordinator->waiting = calloc((size_t)ranks, sizeof *coordinator->waiting);
    code = coordinator->task && coordinator->waiting
               ? bli_sweep_new(experiment, store, options, &coordinator->sweep, err)
               : bal_fail(err, code, "not enough memory");
    if (!code) {
        broadcast_experiment(experiment);
        pthread_t thread;
        const bool started = pthread_create(&thread, NULL, compute_trials, coordinator->sweep) == 0;
        coordinate(coordinator);
        if (started)
            pthread_join(thread, NULL);
        else
            bli_sweep_work(coordinator->sweep);
        code = bli_sweep_finish(coordinator->sweep, err);
    }
    bli_sweep_free(coordinator->sweep);
    free(coordinator->task);
    free(coordinator->waiting);
    free(coordinator);
    return code;
}

#else

int cli_mpi_join(void) {
    if (getenv("OMPI_COMM_WORLD_SIZE") && strtol(getenv("OMPI_COMM_WORLD_SIZE"), NULL, 10) > 1)
        return cli_fail("started by mpirun, but built without MPI; install libopenmpi-dev and build again");
    return -1;
}

bool cli_is_mpi(void) {
    return false;
}

enum bal_code cli_mpi_sweep(const struct bli_experiment *experiment, struct bli_store *store,
                            const struct bli_sweep_options *options, struct bal_error *err) {
    return bli_sweep_run(experiment, store, options, err);
}

void cli_mpi_leave(void) {
}

#endif
