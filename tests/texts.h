/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests read from texts; a text that cannot be read fails the test. Include after <cmocka.h>. */
#ifndef BALLAST_TESTS_TEXTS_H
#define BALLAST_TESTS_TEXTS_H

#include "ballast/scheme.h"

static inline struct bal_policy_spec policy_of(const char *text) {
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bli_scheme_parse(text, &spec, &err))
        fail_msg("%s", err.text);
    return spec;
}

#endif
