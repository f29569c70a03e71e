/* SPDX-License-Identifier: BSD-2-Clause */
/* The service times of a log: logged and recovered ones compared, and how certain they are. */
#ifndef REPORT_RECOVERY_REPORT_H
#define REPORT_RECOVERY_REPORT_H

#include "ballast/recover.h"
#include "ballast/speeds_fit.h"
#include "format/json.h"

#include <stdio.h>

struct bli_recovery_report {
    const struct bli_recovery *recovery;
    const char *field;    /* that names the servers; "" when there is none */
    const char *perhaps;  /* one that may name them, where there is none; "" when there is none either */
    uint32_t slots_given; /* 0: none */
    bool spread;          /* times are whole seconds */
    bool kept;            /* the times were to stay as logged */
    const struct bli_speeds_recovery *works; /* sizes are works at these speeds; NULL: they are not */
};

/* Lines of a head. */
void bli_recovery_text(const struct bli_recovery_report *report, FILE *out);
/* The same as an object with that key. */
void bli_recovery_json(struct json *json, const char *key, const struct bli_recovery_report *report);

/* Is the number of slots a guess? It is if it was not given and the log leaves it open. */
bool bli_recovery_slots_are_guessed(const struct bli_recovery_report *report);

/* A warning for each table whose numbers may be wrong: "service times include waiting"; NULL when they are
 * not. */
const char *bli_recovery_mark(const struct bli_recovery *recovery);

#endif
