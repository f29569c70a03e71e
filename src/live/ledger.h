/* SPDX-License-Identifier: BSD-2-Clause */
/* A ledger of requests in shared memory: the owner and the state of each, and the lists that it is in.
 *
 * The truth is in the entries alone: state, owner, order and what the user keeps with them. A process that
 * changes an entry writes everything else first and its state last, in one store, so that a process that is
 * killed at any instruction leaves every entry as it was before or as it is afterwards. Lists, the free list
 * and all counts follow from the entries and are rebuilt from them (bli_ledger_rebuild) when a process has
 * died in the middle of an operation.
 *
 * An entry is the first member of the user's own struct; all of them lie in one array of `stride` bytes each.
 * Processes may map it at different addresses: a struct bli_ledger is one process's view and points there.
 * Everything is O(1) unless stated otherwise; nothing allocates. */
#ifndef LIVE_LEDGER_H
#define LIVE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLI_NOBODY UINT32_MAX /* no entry, no owner */
enum { BLI_ENTRY_FREE = 0 };  /* the state of an unused entry; other states are the user's */

struct bli_ledger_entry {
    uint32_t state;
    uint32_t generation; /* one more each time that it is used */
    uint32_t owner;
    uint32_t next, before; /* in the list that it stands in */
    uint32_t rank;         /* its class; 0 is the most urgent */
    uint64_t order;        /* in which lists are rebuilt */
};

struct bli_list {
    uint32_t first, last, count;
};

/* The part that lies in shared memory, in front of the entries. */
struct bli_ledger_head {
    uint32_t capacity, stride;
    uint64_t order;       /* of the next entry that is pushed */
    struct bli_list free; /* singly linked */
};

struct bli_ledger {
    struct bli_ledger_head *head;
    char *entries;
    uint32_t *scratch; /* one index for each entry */
};

static inline size_t bli_ledger_size(uint32_t capacity, size_t stride) {
    return sizeof(struct bli_ledger_head) + (size_t)capacity * (stride + sizeof(uint32_t));
}

/* A view of the ledger that lies at `memory`, 8-byte aligned; stride is a multiple of 8. */
static inline struct bli_ledger bli_ledger_at(void *memory, uint32_t capacity, size_t stride) {
    struct bli_ledger ledger = {.head = memory};
    ledger.entries = (char *)memory + sizeof(struct bli_ledger_head);
    ledger.scratch = (uint32_t *)(void *)(ledger.entries + (size_t)capacity * stride);
    return ledger;
}

void bli_ledger_init(const struct bli_ledger *ledger, uint32_t capacity, size_t stride);

static inline struct bli_ledger_entry *bli_ledger_get(const struct bli_ledger *ledger, uint32_t i) {
    return (struct bli_ledger_entry *)(void *)(ledger->entries + (size_t)i * ledger->head->stride);
}

/* The state of an entry, written after everything else. */
static inline void bli_ledger_entry_set(struct bli_ledger_entry *entry, uint32_t state) {
    __atomic_store_n(&entry->state, state, __ATOMIC_RELEASE);
}

/* An unused entry, BLI_NOBODY when all are used. Its state is still free: the user sets it. */
static inline uint32_t bli_ledger_acquire(const struct bli_ledger *ledger, uint32_t owner) {
    struct bli_list *list = &ledger->head->free;
    const uint32_t i = list->first;
    if (i == BLI_NOBODY)
        return BLI_NOBODY;
    struct bli_ledger_entry *entry = bli_ledger_get(ledger, i);
    list->first = entry->next;
    list->count--;
    entry->generation++;
    entry->generation += entry->generation == 0;
    entry->owner = owner;
    entry->next = entry->before = BLI_NOBODY;
    return i;
}

static inline void ledger_free(const struct bli_ledger *ledger, uint32_t i) {
    struct bli_list *list = &ledger->head->free;
    bli_ledger_get(ledger, i)->next = list->first;
    list->first = i;
    list->count++;
}

/* Frees an entry. It must be in no list. */
static inline void bli_ledger_release(const struct bli_ledger *ledger, uint32_t i) {
    bli_ledger_entry_set(bli_ledger_get(ledger, i), BLI_ENTRY_FREE);
    ledger_free(ledger, i);
}

/* The handle of an entry for the process that has acquired it: never 0, and void once the entry is
 * released. */
static inline uint64_t bli_ledger_ticket(const struct bli_ledger *ledger, uint32_t i) {
    return (uint64_t)bli_ledger_get(ledger, i)->generation << 32 | i;
}
/* The entry of a ticket, BLI_NOBODY if it is void. */
static inline uint32_t bli_ledger_find(const struct bli_ledger *ledger, uint64_t ticket) {
    const uint32_t i = (uint32_t)ticket;
    if (i >= ledger->head->capacity)
        return BLI_NOBODY;
    const struct bli_ledger_entry *entry = bli_ledger_get(ledger, i);
    return entry->state != BLI_ENTRY_FREE && entry->generation == ticket >> 32 ? i : BLI_NOBODY;
}

static inline void bli_list_init(struct bli_list *list) {
    *list = (struct bli_list){BLI_NOBODY, BLI_NOBODY, 0};
}

/* Appends the entry; it gets a new order. */
void bli_ledger_push(const struct bli_ledger *ledger, struct bli_list *list, uint32_t i);
/* Inserts the entry by the order that it has. O(entries behind it). */
void bli_ledger_insert_by_order(const struct bli_ledger *ledger, struct bli_list *list, uint32_t i);
void bli_ledger_remove(const struct bli_ledger *ledger, struct bli_list *list, uint32_t i);

/* Rebuilds the free list and calls `place` for every entry that is used, in their order, which puts it into
 * its list by bli_ledger_insert_by_order(), or drops it. The caller has emptied its lists before. O(capacity
 * log capacity). */
void bli_ledger_rebuild(const struct bli_ledger *ledger, void (*place)(void *user, uint32_t i), void *user);

/* Checks that a list is linked both ways and in order, and that its entries are in one of the states (bits),
 * of that owner and that rank (BLI_NOBODY for any). Returns NULL, or what is wrong. Adds its length to
 * *listed. O(its length). */
const char *bli_ledger_list_fault(const struct bli_ledger *ledger, const struct bli_list *list,
                                  unsigned states, uint32_t owner, uint32_t rank, uint32_t *listed);

#endif
