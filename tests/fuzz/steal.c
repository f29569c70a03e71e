/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes, as a steal function and as a placement: a value or one line of error. What was read
 * must survive printing, and a steal function must not take more than half or less of a longer queue. */
#include "ballast/stealing.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct bal_error *err, enum bal_code code, const char *start) {
    assert(err->code == code);
    assert(strncmp(err->text, start, strlen(start)) == 0);
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void try_steal(const char *text) {
    struct bal_steal steal, back;
    struct bal_error err;
    const enum bal_code code = bal_steal_parse(text, &steal, &err);
    if (code) {
        check_error(&err, code, "steal '");
        return;
    }
    char printed[BAL_STEAL_TEXT];
    assert(bal_steal_print(&steal, printed, sizeof printed) < sizeof printed);
    assert(bal_steal_parse(printed, &back, &err) == BAL_OK);
    assert(steal.kind == back.kind && steal.amount == back.amount && steal.entries == back.entries);
    assert(memcmp(steal.table, back.table, sizeof steal.table) == 0);
    uint32_t before = 0;
    for (uint32_t length = 0; length < 0x80000000u; length += length / 4 + 1) {
        const uint32_t amount = bal_steal_amount(&steal, length);
        assert(amount >= before && amount <= length / 2);
        before = amount;
    }
}

static void try_placement(const char *text) {
    struct bal_placement placement, back;
    struct bal_error err;
    const enum bal_code code = bal_placement_parse(text, &placement, &err);
    if (code) {
        check_error(&err, code, "placement '");
        return;
    }
    char printed[BAL_PLACEMENT_TEXT];
    assert(bal_placement_print(&placement, printed, sizeof printed) < sizeof printed);
    assert(bal_placement_parse(printed, &back, &err) == BAL_OK);
    assert(placement.kind == back.kind && placement.hosts == back.hosts && placement.entries == back.entries);
    assert(memcmp(placement.host, back.host, sizeof placement.host) == 0);
    assert(memcmp(placement.count, back.count, sizeof placement.count) == 0);
    static const uint32_t servers[] = {1, 2, 7, 64, 100000000};
    for (int i = 0; i < 5; i++) {
        const enum bal_code fits = bal_placement_check(&placement, servers[i], &err);
        if (fits)
            check_error(&err, fits, "placement '");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    try_steal(text);
    try_placement(text);
    free(text);
    return 0;
}
