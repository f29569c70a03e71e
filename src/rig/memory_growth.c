/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of the processes of a fleet over a long block: it must not grow. */
#include "rig/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG_ENOUGH = 30 }; /* seconds */

/* Bytes of a process that are its own: what it shares with others, code of libraries above all, comes and
 * goes. */
static double bytes_of(pid_t pid) {
    char path[60], text[200] = "", *at = text;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *file = pid > 0 ? fopen(path, "re") : NULL;
    if (!file)
        return NAN;
    const bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    strtoull(at, &at, 10);
    const unsigned long long resident = strtoull(at, &at, 10), shared = strtoull(at, &at, 10);
    return read && resident > shared ? (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE) : NAN;
}

static void record_memory(struct rig_block *block, pid_t pid, const char *who, unsigned number,
                          size_t *index) {
    struct rig_memory *memory = &block->memory[(*index)++];
    const double bytes = bytes_of(pid);
    if (block->looks == 0) {
        *memory = (struct rig_memory){.first = bytes, .last = NAN};
        snprintf(memory->name, sizeof memory->name, "%s%u", who, number);
    } else {
        memory->last = bytes;
    }
}

static void record_all_memory(struct rig_block *block) {
    const struct rig *rig = block->rig;
    size_t index = 0;
    for (unsigned i = 0; i < rig->dispatchers; i++) {
        record_memory(block, rig->front[i].pid, "master", i, &index);
        record_memory(block, bli_process_child(&rig->front[i]), "dispatcher", i, &index);
    }
    for (unsigned i = 0; i < bli_rig_stations(rig); i++) {
        record_memory(block, rig->station[i].pid, "station-master", i, &index);
        record_memory(block, bli_process_child(&rig->station[i]), "station", i, &index);
    }
    for (unsigned g = 0; g < rig->groups; g++)
        record_memory(block, rig->keeper[g].pid, "keeper", g, &index);
    block->processes = index;
    block->looks++;
}

double bli_memory_step(struct rig_block *block, double now) {
    const double seconds = block->rig->live->seconds;
    const double times[2] = {0.1 * seconds, 0.99 * seconds};
    if (seconds < LONG_ENOUGH || block->no_memory)
        return INFINITY;
    if (!block->memory)
        block->memory = calloc(RIG_PROCESSES, sizeof *block->memory);
    block->no_memory |= !block->memory;
    while (!block->no_memory && block->looks < 2 && now >= times[block->looks])
        record_all_memory(block);
    return block->looks < 2 ? times[block->looks] : INFINITY;
}

/* In all, and of the one that grew most. */
void bli_memory_record(struct rig_block *block) {
    double most = -INFINITY, first = 0, last = 0;
    for (size_t i = 0; block->looks == 2 && i < block->processes; i++) {
        const struct rig_memory *memory = &block->memory[i];
        bli_block_record(block, memory->first, "memory.first.%s", memory->name);
        bli_block_record(block, memory->last, "memory.last.%s", memory->name);
        if (isnan(memory->first + memory->last))
            continue;
        most = fmax(most, memory->last - memory->first);
        first += memory->first;
        last += memory->last;
    }
    if (most == -INFINITY)
        return;
    bli_block_record(block, first, "memory.first");
    bli_block_record(block, last, "memory.last");
    bli_block_record(block, most, "memory.growth");
}
