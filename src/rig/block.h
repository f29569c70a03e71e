/* A block: requests to a fleet of real processes by one replication of the lab's arrivals, and what became of
 * them. */
#ifndef RIG_BLOCK_H
#define RIG_BLOCK_H

#include "ballast/load.h"
#include "ballast/store.h"
#include "rig/rig.h"

struct rig_fate {
    double time, ended; /* seconds from the start */
    unsigned class_;
    unsigned served; /* how often servers have answered it well */
    bool good, resent;
};

/* A visit of a request to a server. */
struct rig_visit {
    double from, to;
    unsigned server;
};

/* What a process held when it was looked at first and last, in bytes. */
struct rig_memory {
    char name[32];
    double first, last;
};

struct rig_block {
    struct rig *rig;
    struct rig_fate *fate; /* by number */
    size_t fates, room;
    struct rig_visit *visit;
    size_t visits;
    bool no_memory;
    double start; /* of the schedule, on bal_clock */
    double overslept;
    struct bal_load_result *load;
    /* faults */
    size_t next; /* of the list of what is to happen */
    struct bal_error fault;
    /* memory */
    struct rig_memory *memory;
    size_t processes;
    unsigned looks;
    /* facts */
    struct bal_fact *fact;
    size_t facts, fact_room;
};

/* Runs it. the histograms of response and waiting times must be set. BAL_E_STOPPED where it was told to stop.
 */
enum bal_code bal_block_run(struct rig_block *block, struct rig *rig, uint64_t replication,
                            const volatile int *stop, void (*progress)(void *context, double part),
                            void *context, struct bal_trial *trial, struct bal_error *err);
void bal_block_fini(struct rig_block *block);

/* Was the machine so busy that the block says little, and is it short enough to be measured again? By how
 * late generator and servers were, whatever the answers. Not with `urgent: no`, which is to measure what
 * disturbs. */
bool bal_block_is_disturbed(const struct rig_block *block);

__attribute__((format(printf, 3, 4))) void bal_block_note(struct rig_block *block, double value,
                                                          const char *name, ...);

/* What is to happen now; returns when the next thing is. */
double bal_fault_step(struct rig_block *block, double now);
/* Notes, for each fault, what was lost and doubled, by how much slots were exceeded, and for how long. */
void bal_recovery_note(struct rig_block *block);
/* The most visits at a time of any server between two times. */
unsigned bal_most_present(const struct rig_block *block, double from, double to);

/* Looks at the memory of each process at a tenth of a block that is long enough, and at its end; returns when
 * it is to look again. Then notes by how much it grew. */
double bal_memory_step(struct rig_block *block, double now);
void bal_memory_note(struct rig_block *block);

#endif
