/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes, as arrivals: a value or one line of error. And what was read must survive printing, and
 * draw what it may draw. */
#include "ballast/arrivals.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct bal_error *err, enum bal_code code) {
    assert(err->code == code);
    assert(strncmp(err->text, "arrivals '", 10) == 0);
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_draws(const struct bli_arrivals *arrivals) {
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    /* gaps that are not too short for the states, as a model makes sure */
    const double changes = bli_arrivals_changes(arrivals), mean_gap = changes > 1 ? 1 / changes : 1;
    struct bli_arrival_source source;
    bli_arrival_source_init(&source, arrivals, mean_gap, &rng);
    double now = 0;
    for (int i = 0; i < 20; i++) {
        const double next = bli_arrival_source_next(&source, now);
        assert(next >= now && isfinite(next));
        assert(source.first || next == now);
        now = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    static struct bli_arrivals arrivals, back;
    static char printed[BLI_ARRIVALS_TEXT], again[BLI_ARRIVALS_TEXT];
    struct bal_error err;
    const enum bal_code code = bli_arrivals_parse(text, &arrivals, &err);
    if (code) {
        check_error(&err, code);
    } else {
        assert(bli_arrivals_print(&arrivals, printed, sizeof printed) < sizeof printed);
        assert(bli_arrivals_parse(printed, &back, &err) == BAL_OK);
        assert(bli_arrivals_print(&back, again, sizeof again) < sizeof again);
        assert(strcmp(printed, again) == 0);
        assert(memcmp(arrivals.rate, back.rate, sizeof back.rate) == 0);
        assert(memcmp(arrivals.stay, back.stay, sizeof back.stay) == 0);
        assert(bli_arrivals_are_poisson(&arrivals) == bli_arrivals_are_poisson(&back));
        check_draws(&arrivals);
    }
    free(text);
    return 0;
}
