/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that fail and are repaired: reading and writing the text. */
#include "ballast/failures.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const jobs_names[] = {"resume", "restart", "lost"};

static enum bal_code bad_failures(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(
        err, BAL_E_SYNTAX,
        "'%.80s': %s; write none, or mtbf=1000,mttr=10 (means or laws), and if wanted jobs=resume, "
        "restart or lost, and seen=yes or no",
        text, why);
}

/* Up to the next comma that stands in no parentheses. */
static size_t part_length(const char *text) {
    size_t length = 0;
    for (int depth = 0; text[length] && (depth > 0 || text[length] != ','); length++)
        depth += (text[length] == '(') - (text[length] == ')');
    return length;
}

/* A distribution, or the mean of an exponential one. */
static bool read_time(const char *text, struct bli_dist *dist) {
    double mean;
    if (bli_number_parse(text, strlen(text), &mean)) {
        if (!(mean >= 1e-9 && mean <= 1e12))
            return false;
        *dist = bli_dist_exponential(mean);
        return true;
    }
    return bli_dist_parse(text, dist, NULL) == BAL_OK && dist->mean > 0 && isfinite(dist->mean);
}

static const char *read_part(char *part, struct bli_failures *failures) {
    char *value = strchr(part, '=');
    if (!value)
        return "a part is KEY=VALUE";
    *value++ = 0;
    if (strcmp(part, "mtbf") == 0)
        return read_time(value, &failures->up) ? NULL : "mtbf is a mean above 0 or a law of finite mean";
    if (strcmp(part, "mttr") == 0)
        return read_time(value, &failures->down) ? NULL : "mttr is a mean above 0 or a law of finite mean";
    if (strcmp(part, "seen") == 0) {
        failures->unseen = strcmp(value, "no") == 0;
        return failures->unseen || strcmp(value, "yes") == 0 ? NULL : "seen is yes or no";
    }
    if (strcmp(part, "jobs") != 0)
        return "the keys are mtbf, mttr, jobs and seen";
    for (int i = 0; i <= BLI_JOBS_LOST; i++)
        if (strcmp(value, jobs_names[i]) == 0) {
            failures->jobs = (enum bli_failed_jobs)i;
            return NULL;
        }
    return "jobs is resume, restart or lost";
}

enum bal_code bli_failures_parse(const char *text, struct bli_failures *failures, struct bal_error *err) {
    struct bli_failures read = {.jobs = BLI_JOBS_RESUME};
    if (strcmp(text, "none") == 0) {
        *failures = read;
        return BAL_OK;
    }
    for (const char *at = text;; at++) {
        char part[BLI_DIST_TEXT + 8];
        const size_t length = part_length(at);
        if (length >= sizeof part)
            return bad_failures(text, "a part of it is too long", err);
        memcpy(part, at, length);
        part[length] = 0;
        const char *why = read_part(part, &read);
        if (why)
            return bad_failures(text, why, err);
        at += length;
        if (!*at)
            break;
    }
    if (!(read.up.mean > 0) || !(read.down.mean > 0))
        return bad_failures(text, "both mtbf and mttr are needed", err);
    *failures = read;
    return BAL_OK;
}

size_t bli_failures_print(const struct bli_failures *failures, char *text, size_t size) {
    if (!bli_failures_happen(failures))
        return (size_t)snprintf(text, size, "none");
    char up[BLI_DIST_TEXT], down[BLI_DIST_TEXT];
    bli_dist_print(&failures->up, up, sizeof up);
    bli_dist_print(&failures->down, down, sizeof down);
    return (size_t)snprintf(text, size, "mtbf=%s,mttr=%s%s%s%s", up, down,
                            failures->jobs != BLI_JOBS_RESUME ? ",jobs=" : "",
                            failures->jobs != BLI_JOBS_RESUME ? jobs_names[failures->jobs] : "",
                            failures->unseen ? ",seen=no" : "");
}
