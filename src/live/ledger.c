/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of ledger entries, and rebuilding them from the entries. */
#include "live/ledger.h"

#include <string.h>

static void free_all(const struct bli_ledger *ledger) {
    bli_list_init(&ledger->head->free);
    for (uint32_t i = ledger->head->capacity; i-- > 0;)
        if (bli_ledger_get(ledger, i)->state == BLI_ENTRY_FREE)
            ledger_free(ledger, i);
}

void bli_ledger_init(const struct bli_ledger *ledger, uint32_t capacity, size_t stride) {
    *ledger->head = (struct bli_ledger_head){.capacity = capacity, .stride = (uint32_t)stride};
    memset(ledger->entries, 0, (size_t)capacity * stride);
    free_all(ledger);
}

/* Inserts an entry between `before` (BLI_NOBODY: at the front) and its successor. */
static void link_behind(const struct bli_ledger *ledger, struct bli_list *list, uint32_t before, uint32_t i) {
    struct bli_ledger_entry *entry = bli_ledger_get(ledger, i);
    uint32_t *link = before == BLI_NOBODY ? &list->first : &bli_ledger_get(ledger, before)->next;
    entry->before = before;
    entry->next = *link;
    *link = i;
    *(entry->next == BLI_NOBODY ? &list->last : &bli_ledger_get(ledger, entry->next)->before) = i;
    list->count++;
}

void bli_ledger_push(const struct bli_ledger *ledger, struct bli_list *list, uint32_t i) {
    bli_ledger_get(ledger, i)->order = ledger->head->order++;
    link_behind(ledger, list, list->last, i);
}

void bli_ledger_insert_by_order(const struct bli_ledger *ledger, struct bli_list *list, uint32_t i) {
    const uint64_t order = bli_ledger_get(ledger, i)->order;
    uint32_t before = list->last;
    while (before != BLI_NOBODY && bli_ledger_get(ledger, before)->order > order)
        before = bli_ledger_get(ledger, before)->before;
    link_behind(ledger, list, before, i);
}

void bli_ledger_remove(const struct bli_ledger *ledger, struct bli_list *list, uint32_t i) {
    struct bli_ledger_entry *entry = bli_ledger_get(ledger, i);
    *(entry->before == BLI_NOBODY ? &list->first : &bli_ledger_get(ledger, entry->before)->next) =
        entry->next;
    *(entry->next == BLI_NOBODY ? &list->last : &bli_ledger_get(ledger, entry->next)->before) = entry->before;
    entry->next = entry->before = BLI_NOBODY;
    list->count--;
}

/* ---- rebuilding ---- */

static uint64_t order_of(const struct bli_ledger *ledger, uint32_t place) {
    return bli_ledger_get(ledger, ledger->scratch[place])->order;
}

static void swap_numbers(uint32_t *a, uint32_t *b) {
    const uint32_t c = *a;
    *a = *b;
    *b = c;
}

/* Of the first `count` indexes in scratch, the one at `place` sinks below those that are later. */
static void sift_down(const struct bli_ledger *ledger, uint32_t place, uint32_t count) {
    for (;;) {
        uint32_t latest = place;
        for (uint32_t child = 2 * place + 1; child <= 2 * place + 2 && child < count; child++)
            latest = order_of(ledger, child) > order_of(ledger, latest) ? child : latest;
        if (latest == place)
            return;
        swap_numbers(&ledger->scratch[place], &ledger->scratch[latest]);
        place = latest;
    }
}

/* Heapsort: it needs no memory, and no order of the entries makes it slow. */
static void sort_by_order(const struct bli_ledger *ledger, uint32_t count) {
    for (uint32_t place = count / 2; place-- > 0;)
        sift_down(ledger, place, count);
    for (uint32_t left = count; left > 1; left--) {
        swap_numbers(&ledger->scratch[0], &ledger->scratch[left - 1]);
        sift_down(ledger, 0, left - 1);
    }
}

void bli_ledger_rebuild(const struct bli_ledger *ledger, void (*place)(void *user, uint32_t i), void *user) {
    uint32_t used = 0;
    free_all(ledger);
    for (uint32_t i = 0; i < ledger->head->capacity; i++)
        if (bli_ledger_get(ledger, i)->state != BLI_ENTRY_FREE)
            ledger->scratch[used++] = i;
    sort_by_order(ledger, used);
    for (uint32_t k = 0; k < used; k++) {
        struct bli_ledger_entry *entry = bli_ledger_get(ledger, ledger->scratch[k]);
        entry->next = entry->before = BLI_NOBODY;
        if (entry->order >= ledger->head->order)
            ledger->head->order = entry->order + 1;
        place(user, ledger->scratch[k]);
    }
}

const char *bli_ledger_list_fault(const struct bli_ledger *ledger, const struct bli_list *list,
                                  unsigned states, uint32_t owner, uint32_t rank, uint32_t *listed) {
    uint32_t before = BLI_NOBODY, count = 0;
    for (uint32_t i = list->first; i != BLI_NOBODY; before = i, i = bli_ledger_get(ledger, i)->next) {
        const struct bli_ledger_entry *entry = bli_ledger_get(ledger, i);
        if (count++ == list->count || entry->before != before)
            return "a list is broken";
        if (!(states >> entry->state & 1) || (owner != BLI_NOBODY && entry->owner != owner) ||
            (rank != BLI_NOBODY && entry->rank != rank))
            return "a request stands in the wrong list";
        if (before != BLI_NOBODY && bli_ledger_get(ledger, before)->order >= entry->order)
            return "a list is out of order";
    }
    *listed += count;
    return count == list->count && list->last == before ? NULL : "a list has lost its end";
}
