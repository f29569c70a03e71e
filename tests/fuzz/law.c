/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes: a law or one line of error. And a law must survive printing, and draw what a law may
 * draw. */
#include "ballast/dist.h"

#include "../same_law.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct bal_error *err, enum bal_code code) {
    assert(err->code == code);
    assert(strncmp(err->text, "law '", 5) == 0);
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_text(const struct bli_dist *dist) {
    char text[BLI_DIST_TEXT];
    assert(bli_dist_print(dist, text, sizeof text) < sizeof text);
    struct bli_dist back;
    struct bal_error err;
    assert(bli_dist_parse(text, &back, &err) == BAL_OK);
    assert(same_law(dist, &back));
}

static void check_values(const struct bli_dist *dist) {
    const double m1 = bli_dist_moment(dist, 1), m2 = bli_dist_moment(dist, 2), m3 = bli_dist_moment(dist, 3);
    assert(dist->mean > 0 && m1 > 0 && m2 > 0 && m3 > 0);
    assert(m1 == dist->mean || fabs(m1 - dist->mean) <= 1e-9 * m1);
    if (isfinite(m3)) {
        /* Jensen, Cauchy and Schwarz: E[S^2] >= E[S]^2, E[S] E[S^3] >= E[S^2]^2 */
        assert(m2 >= m1 * m1 * (1 - 1e-9));
        assert(m1 * m3 >= m2 * m2 * (1 - 1e-9));
    }
    assert(bli_dist_cdf(dist, 0) == 0 && bli_dist_cdf(dist, HUGE_VAL) == 1);
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (int i = 0; i < 4; i++) {
        const double x = bli_dist_sample(dist, &rng);
        assert(x >= 0 && isfinite(x));
        const double below = bli_dist_cdf(dist, x), later = bli_dist_cdf(dist, 2 * x);
        assert(below >= 0 && below <= later + 1e-12 && later <= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    struct bli_dist dist;
    struct bal_error err;
    const enum bal_code code = bli_dist_parse(text, &dist, &err);
    if (code) {
        check_error(&err, code);
    } else {
        check_text(&dist);
        check_values(&dist);
        bli_dist_scale(&dist, 0.3);
        check_values(&dist);
        if (bli_dist_is_exponential(&dist))
            assert(fabs(bli_dist_cdf(&dist, dist.mean) + expm1(-1)) < 1e-9);
    }
    free(text);
    return 0;
}
