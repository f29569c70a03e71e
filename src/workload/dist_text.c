/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions as text: `name`, `name(number, ...)`, and the three lists of `phase`. The reader accepts any
 * bytes: it returns a distribution or an error of one line that names what would be right. */
#include "ballast/dist.h"

#include "ballast/number.h"
#include "workload/dist_derive.h"
#include "workload/dist_reader.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCALE_MIN 1e-30
#define SCALE_MAX 1e30
#define C2_MAX 1e9
#define STEPS_MAX 1e4  /* phases that a job passes through on average */
#define SUM_SLACK 1e-6 /* by how much probabilities may miss a sum of 1 */

enum {
    NUMBERS = 2 * BLI_DIST_PHASES, /* most numbers of a distribution written as a list */
    ERLANG_MAX = 1000000,
};

struct dist_writer {
    char *text;
    size_t size;
    size_t length; /* what was asked for so far, whether it fits or not */
};

static void append_text(struct dist_writer *w, const char *text) {
    const size_t more = strlen(text);
    if (w->length < w->size) {
        const size_t room = w->size - 1 - w->length;
        const size_t part = more < room ? more : room;
        memcpy(w->text + w->length, text, part);
        w->text[w->length + part] = '\0';
    }
    w->length += more;
}

/* Reading */

static enum bal_code read_name(struct bli_dist_reader *r) {
    bli_dist_reader_skip_spaces(r);
    const size_t length = strcspn(r->at, " \t(");
    for (size_t i = 0; i < bli_dist_count; i++) {
        const struct bli_dist_info *info = &bli_dist_table[i];
        if (strlen(info->name) == length && memcmp(r->at, info->name, length) == 0) {
            r->which = (unsigned)i;
            r->usage = info->usage;
            r->at += length;
            bli_dist_reader_skip_spaces(r);
            return BAL_OK;
        }
    }
    char names[200];
    struct dist_writer w = {.text = names, .size = sizeof names};
    for (size_t i = 0; i < bli_dist_count; i++) {
        append_text(&w, i ? ", " : "");
        append_text(&w, bli_dist_table[i].name);
    }
    return bli_dist_reader_fail(r, BAL_E_UNKNOWN, "no such law; there are %s", names);
}

/* The numbers of `name` (none) or `name(x, y, ...)`, up to the end of the text. */
static enum bal_code read_numbers(struct bli_dist_reader *r, double x[NUMBERS], unsigned *count) {
    *count = 0;
    if (bli_dist_reader_accept(r, '(')) {
        do {
            if (*count == NUMBERS)
                return bli_dist_reader_fail(r, BAL_E_RANGE, "more than %d numbers; write %s", NUMBERS,
                                            r->usage);
            const enum bal_code code = bli_dist_reader_number(r, &x[*count]);
            if (code)
                return code;
            (*count)++;
        } while (bli_dist_reader_accept(r, ','));
        if (!bli_dist_reader_accept(r, ')'))
            return bli_dist_reader_expected(r, "',' or ')'");
    }
    return *r->at ? bli_dist_reader_expected(r, "the end") : BAL_OK;
}

/* Numbers separated by spaces, at least one and at most BLI_DIST_PHASES. */
static enum bal_code read_list(struct bli_dist_reader *r, double x[BLI_DIST_PHASES], unsigned *count) {
    *count = 0;
    for (;;) {
        if (*count == BLI_DIST_PHASES)
            return bli_dist_reader_fail(r, BAL_E_RANGE, "there are more than %d phases", BLI_DIST_PHASES);
        const enum bal_code code = bli_dist_reader_number(r, &x[*count]);
        if (code)
            return code;
        (*count)++;
        if (*r->at == '\0' || strchr(";/)", *r->at))
            return BAL_OK;
        if (r->at[-1] != ' ' && r->at[-1] != '\t')
            return bli_dist_reader_expected(r, "a space, ';', '/' or ')'");
    }
}

/* Checking */

static enum bal_code wrong_count(const struct bli_dist_reader *r) {
    return bli_dist_reader_fail(r, BAL_E_SYNTAX, "wrong number of parameters; write %s", r->usage);
}

static enum bal_code check_range(const struct bli_dist_reader *r, const char *name, double x, double low,
                                 double high) {
    if (x >= low && x <= high)
        return BAL_OK;
    return bli_dist_reader_fail(r, BAL_E_RANGE, "%s = %.9g is out of range; it must lie between %g and %g",
                                name, x, low, high);
}

static enum bal_code check_scale(const struct bli_dist_reader *r, const char *name, double x) {
    return check_range(r, name, x, SCALE_MIN, SCALE_MAX);
}

/* Names like P3 for the i-th (from 0) of several numbers. */
static enum bal_code check_ith(const struct bli_dist_reader *r, char letter, unsigned i, double x, double low,
                               double high) {
    char name[16];
    snprintf(name, sizeof name, "%c%u", letter, i + 1);
    return check_range(r, name, x, low, high);
}

/* Probabilities may miss 1 by what a user rounds away; then they are scaled. A second pass finds nothing to
 * do, so that a distribution that was printed is read back unchanged. */
static void round_to_one(double *p, unsigned n, double sum) {
    if (fabs(sum - 1) <= 2 * BLI_DIST_PHASES * DBL_EPSILON)
        return;
    for (unsigned i = 0; i < n; i++)
        p[i] /= sum;
}

static double sum_of(const double *p, unsigned n) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += p[i];
    return sum;
}

static enum bal_code check_start(const struct bli_dist_reader *r, struct bli_dist *dist) {
    for (unsigned i = 0; i < dist->phases; i++) {
        const enum bal_code code = check_ith(r, 'P', i, dist->start[i], 0, 1);
        if (code)
            return code;
    }
    const double sum = sum_of(dist->start, dist->phases);
    if (fabs(sum - 1) > SUM_SLACK)
        return bli_dist_reader_fail(r, BAL_E_RANGE, "the probabilities sum to %.9g; they must sum to 1", sum);
    round_to_one(dist->start, dist->phases, sum);
    return BAL_OK;
}

static enum bal_code check_rates(const struct bli_dist_reader *r, const struct bli_dist *dist) {
    enum bal_code code = BAL_OK;
    for (unsigned i = 0; i < dist->phases && !code; i++)
        code = check_ith(r, 'R', i, dist->rate[i], SCALE_MIN, SCALE_MAX);
    return code;
}

static enum bal_code check_row(const struct bli_dist_reader *r, double *row, unsigned n, unsigned i) {
    for (unsigned j = 0; j < n; j++)
        if (!(row[j] >= 0 && row[j] <= 1))
            return bli_dist_reader_fail(
                r, BAL_E_RANGE, "row %u of the jumps has %g; it must be a probability", i + 1, row[j]);
    const double sum = sum_of(row, n);
    if (sum > 1 + SUM_SLACK)
        return bli_dist_reader_fail(r, BAL_E_RANGE,
                                    "row %u of the jumps sums to %.9g; it must sum to at most 1", i + 1, sum);
    if (sum > 1)
        round_to_one(row, n, sum);
    return BAL_OK;
}

/* Every phase must lead to the end, and soon enough to be simulated. */
static enum bal_code check_ending(const struct bli_dist_reader *r, const struct bli_dist *dist) {
    double steps[BLI_DIST_PHASES];
    unsigned stuck;
    for (unsigned i = 0; i < dist->phases; i++)
        steps[i] = 1;
    if (!bli_dist_accumulate(dist, steps, &stuck))
        return bli_dist_reader_fail(
            r, BAL_E_RANGE, "from phase %u a job never ends; some row must sum to less than 1", stuck + 1);
    for (unsigned i = 0; i < dist->phases; i++)
        if (!(steps[i] <= STEPS_MAX))
            return bli_dist_reader_fail(r, BAL_E_RANGE,
                                        "from phase %u a job passes %g phases on average; at most %g", i + 1,
                                        steps[i], STEPS_MAX);
    return BAL_OK;
}

/* One function per kind: from the numbers to the fields that bli_dist_derive starts from. */

static enum bal_code build_mean(const struct bli_dist_reader *r, const double *x, unsigned n,
                                struct bli_dist *dist) {
    if (n > 1)
        return wrong_count(r);
    dist->mean = n == 1 ? x[0] : 1;
    return check_scale(r, "M", dist->mean);
}

static enum bal_code build_erlang(const struct bli_dist_reader *r, const double *x, unsigned n,
                                  struct bli_dist *dist) {
    if (n < 1 || n > 2)
        return wrong_count(r);
    if (!(x[0] >= 1 && x[0] <= ERLANG_MAX && x[0] == floor(x[0])))
        return bli_dist_reader_fail(r, BAL_E_RANGE, "K = %g must be a whole number from 1 to %d", x[0],
                                    ERLANG_MAX);
    dist->phases = (unsigned)x[0];
    return build_mean(r, x + 1, n - 1, dist);
}

static enum bal_code build_branches(const struct bli_dist_reader *r, const double *x, unsigned n,
                                    struct bli_dist *dist) {
    dist->phases = n / 2;
    for (unsigned i = 0; i < dist->phases; i++) {
        dist->start[i] = x[2 * i];
        dist->rate[i] = x[2 * i + 1];
    }
    const enum bal_code code = check_start(r, dist);
    return code ? code : check_rates(r, dist);
}

/* C2 and, perhaps, the mean: hyper and lognormal. */
static enum bal_code build_c2(const struct bli_dist_reader *r, const double *x, unsigned n, double c2_min,
                              struct bli_dist *dist) {
    if (n < 1 || n > 2)
        return wrong_count(r);
    dist->a = x[0];
    const enum bal_code code = check_range(r, "C2", dist->a, c2_min, C2_MAX);
    return code ? code : build_mean(r, x + 1, n - 1, dist);
}

static enum bal_code build_hyper(const struct bli_dist_reader *r, const double *x, unsigned n,
                                 struct bli_dist *dist) {
    if (n >= 4 && n % 2 == 0)
        return build_branches(r, x, n, dist);
    return build_c2(r, x, n, 1, dist);
}

static enum bal_code build_lognormal(const struct bli_dist_reader *r, const double *x, unsigned n,
                                     struct bli_dist *dist) {
    return build_c2(r, x, n, 1e-12, dist);
}

static enum bal_code build_pareto(const struct bli_dist_reader *r, const double *x, unsigned n,
                                  struct bli_dist *dist) {
    if (n < 1 || n > 2)
        return wrong_count(r);
    dist->a = x[0];
    if (n == 1 && dist->a <= 1)
        return bli_dist_reader_fail(r, BAL_E_RANGE, "with A = %g the mean is infinite; A must be above 1",
                                    dist->a);
    const enum bal_code code = check_range(r, "A", dist->a, 0.1, 1e6);
    if (code)
        return code;
    dist->b = n == 2 ? x[1] : bli_pareto_unit_scale(dist->a);
    return check_scale(r, "XM", dist->b);
}

static enum bal_code build_bounded(const struct bli_dist_reader *r, const double *x, unsigned n,
                                   struct bli_dist *dist) {
    if (n != 3)
        return wrong_count(r);
    dist->a = x[0];
    dist->b = x[1];
    dist->c = x[2];
    enum bal_code code = check_range(r, "A", dist->a, 1e-6, 1e6);
    if (!code)
        code = check_scale(r, "L", dist->b);
    if (!code)
        code = check_scale(r, "H", dist->c);
    if (!code && dist->b >= dist->c)
        code = bli_dist_reader_fail(r, BAL_E_RANGE, "L = %g must be below H = %g", dist->b, dist->c);
    return code;
}

static enum bal_code build_uniform(const struct bli_dist_reader *r, const double *x, unsigned n,
                                   struct bli_dist *dist) {
    if (n != 2)
        return wrong_count(r);
    dist->a = x[0];
    dist->b = x[1];
    enum bal_code code = check_range(r, "A", dist->a, 0, SCALE_MAX);
    if (!code)
        code = check_scale(r, "B", dist->b);
    if (!code && dist->a >= dist->b)
        code = bli_dist_reader_fail(r, BAL_E_RANGE, "A = %g must be below B = %g", dist->a, dist->b);
    return code;
}

static enum bal_code read_jumps(struct bli_dist_reader *r, struct bli_dist *dist) {
    for (unsigned i = 0; i < dist->phases; i++) {
        if (i > 0 && !bli_dist_reader_accept(r, '/'))
            return bli_dist_reader_expected(r, "'/' and another row");
        unsigned count;
        enum bal_code code = read_list(r, dist->jump[i], &count);
        if (code)
            return code;
        if (count != dist->phases)
            return bli_dist_reader_fail(r, BAL_E_SYNTAX,
                                        "row %u of the jumps has %u numbers; it must have %u", i + 1, count,
                                        dist->phases);
        code = check_row(r, dist->jump[i], dist->phases, i);
        if (code)
            return code;
    }
    return BAL_OK;
}

static enum bal_code read_phase(struct bli_dist_reader *r, struct bli_dist *dist) {
    if (!bli_dist_reader_accept(r, '('))
        return bli_dist_reader_expected(r, "'('");
    enum bal_code code = read_list(r, dist->start, &dist->phases);
    if (code)
        return code;
    if (!bli_dist_reader_accept(r, ';'))
        return bli_dist_reader_expected(r, "';'");
    unsigned rates;
    code = read_list(r, dist->rate, &rates);
    if (code)
        return code;
    if (rates != dist->phases)
        return bli_dist_reader_fail(r, BAL_E_SYNTAX,
                                    "the number of rates is %u; it must be %u, one for each phase", rates,
                                    dist->phases);
    if (!bli_dist_reader_accept(r, ';'))
        return bli_dist_reader_expected(r, "';'");
    code = check_start(r, dist);
    if (!code)
        code = check_rates(r, dist);
    if (!code)
        code = read_jumps(r, dist);
    if (code)
        return code;
    if (!bli_dist_reader_accept(r, ')'))
        return bli_dist_reader_expected(r, "')'");
    if (*r->at)
        return bli_dist_reader_expected(r, "the end");
    return check_ending(r, dist);
}

/* How a distribution of each kind is built from its list of numbers. */
static enum bal_code (*const builders[])(const struct bli_dist_reader *, const double *, unsigned,
                                         struct bli_dist *) = {
    [BLI_DIST_EXP] = build_mean,
    [BLI_DIST_DET] = build_mean,
    [BLI_DIST_ERLANG] = build_erlang,
    [BLI_DIST_HYPER] = build_hyper,
    [BLI_DIST_LOGNORMAL] = build_lognormal,
    [BLI_DIST_PARETO] = build_pareto,
    [BLI_DIST_BOUNDED_PARETO] = build_bounded,
    [BLI_DIST_UNIFORM] = build_uniform,
};

static enum bal_code read_other(struct bli_dist_reader *r, struct bli_dist *dist) {
    double x[NUMBERS];
    unsigned n;
    const enum bal_code code = read_numbers(r, x, &n);
    return code ? code : builders[dist->kind](r, x, n, dist);
}

enum bal_code bli_dist_parse(const char *text, struct bli_dist *dist, struct bal_error *err) {
    struct bli_dist_reader r = {.text = text, .at = text, .err = err};
    enum bal_code code = read_name(&r);
    if (code)
        return code;
    struct bli_dist read = {.kind = (enum bli_dist_kind)r.which};
    code = read.kind == BLI_DIST_PHASE ? read_phase(&r, &read) : read_other(&r, &read);
    if (code)
        return code;
    bli_dist_derive(&read);
    *dist = read;
    return BAL_OK;
}

/* Writing */

/* mark, number, mark, number, ...: the marks are "(" "," and the like. */
static void append_number(struct dist_writer *w, const char *mark, double x) {
    char text[BLI_NUMBER_TEXT];
    bli_number_print(x, text);
    append_text(w, mark);
    append_text(w, text);
}

/* The last parameter, a mean that is left out where it is 1. */
static void append_mean(struct dist_writer *w, const char *mark, double mean) {
    if (mean != 1)
        append_number(w, mark, mean);
}

static void append_list(struct dist_writer *w, const char *mark, const double *x, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        append_number(w, i == 0 ? mark : " ", x[i]);
}

static void append_hyper(struct dist_writer *w, const struct bli_dist *dist) {
    if (dist->a > 0) {
        append_number(w, "(", dist->a);
        append_mean(w, ",", dist->mean);
        return;
    }
    for (unsigned i = 0; i < dist->phases; i++) {
        append_number(w, i == 0 ? "(" : ",", dist->start[i]);
        append_number(w, ",", dist->rate[i]);
    }
}

static void append_phase(struct dist_writer *w, const struct bli_dist *dist) {
    append_list(w, "(", dist->start, dist->phases);
    append_list(w, ";", dist->rate, dist->phases);
    for (unsigned i = 0; i < dist->phases; i++)
        append_list(w, i == 0 ? ";" : "/", dist->jump[i], dist->phases);
}

size_t bli_dist_print(const struct bli_dist *dist, char *text, size_t size) {
    struct dist_writer w = {.text = text, .size = size};
    append_text(&w, bli_dist_table[dist->kind].name);
    const size_t bare = w.length;
    switch (dist->kind) {
    case BLI_DIST_EXP:
    case BLI_DIST_DET:
        append_mean(&w, "(", dist->mean);
        break;
    case BLI_DIST_ERLANG:
        append_number(&w, "(", dist->phases);
        append_mean(&w, ",", dist->mean);
        break;
    case BLI_DIST_HYPER:
        append_hyper(&w, dist);
        break;
    case BLI_DIST_PHASE:
        append_phase(&w, dist);
        break;
    case BLI_DIST_LOGNORMAL:
        append_number(&w, "(", dist->a);
        append_mean(&w, ",", dist->mean);
        break;
    case BLI_DIST_PARETO:
        append_number(&w, "(", dist->a);
        if (dist->b != bli_pareto_unit_scale(dist->a))
            append_number(&w, ",", dist->b);
        break;
    case BLI_DIST_BOUNDED_PARETO:
        append_number(&w, "(", dist->a);
        append_number(&w, ",", dist->b);
        append_number(&w, ",", dist->c);
        break;
    case BLI_DIST_UNIFORM:
        append_number(&w, "(", dist->a);
        append_number(&w, ",", dist->b);
        break;
    }
    if (w.length > bare)
        append_text(&w, ")");
    return w.length;
}
