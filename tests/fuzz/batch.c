/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes, as a law of whole numbers and as a fleet: a value or one line of error. And what was
 * read must survive printing, and draw what it may draw. */
#include "ballast/batch.h"
#include "ballast/model.h"

#include <assert.h>
#include <math.h>
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

static bool same_batch(const struct bli_batch *x, const struct bli_batch *y) {
    return x->kind == y->kind && x->open == y->open && (x->mean == y->mean || x->open) && x->low == y->low &&
           x->high == y->high && x->values == y->values && memcmp(x->value, y->value, sizeof x->value) == 0 &&
           memcmp(x->probability, y->probability, sizeof x->probability) == 0;
}

static void check_values(struct bli_batch *batch) {
    if (batch->open)
        assert(bli_batch_set_mean(batch, 0.7, NULL) == BAL_OK);
    assert(batch->mean >= batch->low && batch->mean <= batch->high);
    assert(bli_batch_variance(batch) >= 0);
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    uint32_t many[7];
    bli_batch_sample_many(batch, &rng, many, 7);
    for (int i = 0; i < 7; i++) {
        const uint32_t one = bli_batch_sample(batch, &rng);
        assert(one >= batch->low && one <= batch->high);
        assert(many[i] >= batch->low && many[i] <= batch->high);
    }
}

static void try_batch(const char *text) {
    struct bli_batch batch, back;
    struct bal_error err;
    const enum bal_code code = bli_batch_parse(text, &batch, &err);
    if (code) {
        check_error(&err, code, "law '");
        return;
    }
    char printed[BLI_BATCH_TEXT];
    assert(bli_batch_print(&batch, printed, sizeof printed) < sizeof printed);
    assert(bli_batch_parse(printed, &back, &err) == BAL_OK);
    assert(same_batch(&batch, &back));
    check_values(&batch);
}

static void try_servers(const char *text) {
    static struct bli_servers servers, back;
    struct bal_error err;
    const enum bal_code code = bli_servers_parse(text, &servers, &err);
    if (code) {
        check_error(&err, code, "servers '");
        return;
    }
    const size_t length = bli_servers_print(&servers, NULL, 0);
    char *printed = malloc(length + 1);
    assert(printed && bli_servers_print(&servers, printed, length + 1) == length);
    assert(bli_servers_parse(printed, &back, &err) == BAL_OK);
    assert(servers.groups == back.groups && bli_servers_count(&servers) == bli_servers_count(&back));
    assert(bli_servers_capacity(&servers) == bli_servers_capacity(&back));
    for (unsigned i = 0; i < servers.groups; i++)
        assert(same_batch(&servers.group[i].capacity, &back.group[i].capacity));
    free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    try_batch(text);
    try_servers(text);
    free(text);
    return 0;
}
