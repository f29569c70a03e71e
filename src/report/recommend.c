/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the policy to recommend, and explains the choice. */
#include "report/recommend.h"

#include "report/nginx_block.h"
#include "report/replay_report.h"

#include <math.h>

/* Percentiles are not more exact than that. */
#define LEAST_APART 0.004

static bool is_possible(const struct bli_candidate *c) {
    return c->servers > 0 && !isnan(c->time.mean) && bli_nginx_can(c->policy);
}

static bool is_better(const struct bli_candidate *a, const struct bli_candidate *b) {
    return a->servers != b->servers ? a->servers < b->servers : a->time.mean < b->time.mean;
}

/* Two means of independent draws: their difference has the root of the sum of squares as its half-width. */
static bool is_alike(const struct bli_candidate *a, const struct bli_candidate *b) {
    const double x = isnan(a->time.half_width) ? 0 : a->time.half_width,
                 y = isnan(b->time.half_width) ? 0 : b->time.half_width;
    return a->servers == b->servers &&
           fabs(a->time.mean - b->time.mean) <= fmax(hypot(x, y), LEAST_APART * b->time.mean);
}

static bool is_simpler(const struct bli_candidate *a, const struct bli_candidate *b) {
    const bool a_plain = bli_nginx_words(a->policy), b_plain = bli_nginx_words(b->policy);
    return a_plain != b_plain ? a_plain : a->messages < b->messages;
}

size_t bli_recommend(const struct bli_candidate *candidate, size_t count, bool *as_good) {
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        as_good[i] = false;
        if (is_possible(&candidate[i]) && (best == count || is_better(&candidate[i], &candidate[best])))
            best = i;
    }
    if (best == count)
        return count;
    size_t taken = best;
    for (size_t i = 0; i < count; i++) {
        as_good[i] = is_possible(&candidate[i]) && is_alike(&candidate[i], &candidate[best]);
        if (as_good[i] && is_simpler(&candidate[i], &candidate[taken]))
            taken = i;
    }
    return taken;
}

static void print_names(const struct bli_candidate *candidate, size_t count, const bool *as_good,
                        size_t alike, FILE *out) {
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        if (!as_good[i])
            continue;
        fprintf(out, "%s%s",
                named == 0           ? ""
                : named + 1 == alike ? " and "
                                     : ", ",
                bli_replay_name(candidate[i].policy).text);
        named++;
    }
}

void bli_recommend_explain(const struct bli_candidate *candidate, size_t count, const bool *as_good,
                           size_t taken, bool keep, FILE *out) {
    char label[BLI_REPLAY_LABEL];
    bli_replay_label(candidate[taken].policy, label);
    size_t alike = 0;
    for (size_t i = 0; i < count; i++)
        alike += as_good[i];
    const char *s = candidate[taken].servers == 1 ? "" : "s";
    if (alike == 1) {
        fprintf(out, "# %s on %u server%s: the best of the policies asked that the module can run.\n", label,
                candidate[taken].servers, s);
        return;
    }
    fputs("# ", out);
    print_names(candidate, count, as_good, alike, out);
    fprintf(out, " cannot be told apart on this log.\n# %s is taken, on %u server%s: %s.\n", label,
            candidate[taken].servers, s,
            keep                                       ? "it runs now"
            : bli_nginx_words(candidate[taken].policy) ? "nginx has it by itself"
                                                       : "it needs the fewest messages");
}
