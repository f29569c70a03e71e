/* SPDX-License-Identifier: BSD-2-Clause */
/* A recommendation as nginx configuration: an upstream block with the module's directive. */
#ifndef REPORT_NGINX_BLOCK_H
#define REPORT_NGINX_BLOCK_H

#include "ballast/log.h"
#include "ballast/model.h"
#include "ballast/scheme.h"

#include <stdio.h>

struct bli_nginx_block {
    const struct bal_policy_spec *policy; /* one for which bli_nginx_can() */
    const struct bli_servers *servers;
    const struct bli_log_servers *names; /* addresses of the first of them; NULL: unknown */
    uint32_t slots;
    double mean;    /* service time in seconds: rates of policies are per service time, those in nginx are per
                       second */
    double longest; /* seconds that requests may have to wait here, for a policy that holds them */
    double rate;    /* requests a second at most: so many may wait */
    const char *high;    /* pattern of the high class; NULL: one class */
    const char *high_by; /* the field that it is matched with; NULL: the path */
    const char *class;   /* the variable that already gives the class; NULL or no variable: `high` gives it */
    const char *options; /* those that the directive has now, which are kept; NULL: not known */
    const char *upstream; /* its name; NULL, or not a plain word: fleet */
};

/* Can the module run it in front of plain servers (without stations)? */
bool bli_nginx_can(const struct bal_policy_spec *policy);

/* The directive of plain nginx for a policy; NULL: none. "": without a directive, which is round robin. */
const char *bli_nginx_words(const struct bal_policy_spec *policy);

void bli_nginx_block(const struct bli_nginx_block *block, FILE *out);

/* What is to be said for the servers of a model. One that takes all is as fast as it can be with so many. */
static inline uint32_t bli_nginx_slots(const struct bli_model *model) {
    return model->slots == BLI_SLOTS_ALL ? bli_speeds_last(&model->speeds) : model->slots;
}
/* The directive alone, without the line break: where options are known, and give the classes that the policy
 * needs, it is all that changes. */
bool bli_nginx_changes_one_line(const struct bli_nginx_block *block);
void bli_nginx_line(const struct bli_nginx_block *block, FILE *out);

#endif
