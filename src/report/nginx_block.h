/* An answer as nginx is told it: an upstream block with the module's line. */
#ifndef REPORT_NGINX_BLOCK_H
#define REPORT_NGINX_BLOCK_H

#include "ballast/log.h"
#include "ballast/model.h"
#include "ballast/scheme.h"

#include <stdio.h>

struct bal_nginx_block {
    const struct bal_policy_spec *policy; /* one for which bal_nginx_can() */
    const struct bal_servers *servers;
    const struct bal_log_servers *names; /* addresses of the first of them; NULL: none is known */
    uint32_t slots;
    double mean;      /* service time in seconds: rates of policies are told in it, and to nginx in seconds */
    double longest;   /* seconds that requests may have to wait here, for a policy that holds them */
    double rate;      /* requests a second at most: so many may wait */
    const char *high; /* pattern of the high class; NULL: one class */
    const char *high_by;  /* the field that it is matched with; NULL: the path */
    const char *class;    /* the variable that tells classes already; NULL or no variable: `high` does */
    const char *upstream; /* its name; NULL, or not a plain word: fleet */
};

/* Can the module run it before plain servers? */
bool bal_nginx_can(const struct bal_policy_spec *policy);

/* What nginx has by itself for a policy; NULL: nothing. Without a word ("") it takes servers in turn. */
const char *bal_nginx_words(const struct bal_policy_spec *policy);

void bal_nginx_block(const struct bal_nginx_block *block, FILE *out);

#endif
