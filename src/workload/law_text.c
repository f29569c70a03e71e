/* Laws as text: `name`, `name(number, ...)`, and the three lists of `phase`. The reader is total: whatever
 * the bytes, it ends with a law or with one line that says what would be right. */
#include "ballast/law.h"

#include "ballast/number.h"
#include "workload/law_derive.h"
#include "workload/law_reader.h"

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
    NUMBERS = 2 * BAL_LAW_PHASES, /* most numbers of a law written as a list */
    ERLANG_MAX = 1000000,
};

struct writer {
    char *text;
    size_t size;
    size_t length; /* what was asked for so far, whether it fits or not */
};

static void put(struct writer *w, const char *text) {
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

static enum bal_code read_name(struct bal_law_reader *r) {
    bal_law_reader_skip_spaces(r);
    const size_t length = strcspn(r->at, " \t(");
    for (size_t i = 0; i < bal_law_count; i++) {
        const struct bal_law_info *info = &bal_law_table[i];
        if (strlen(info->name) == length && memcmp(r->at, info->name, length) == 0) {
            r->which = (unsigned)i;
            r->usage = info->usage;
            r->at += length;
            bal_law_reader_skip_spaces(r);
            return BAL_OK;
        }
    }
    char names[200];
    struct writer w = {.text = names, .size = sizeof names};
    for (size_t i = 0; i < bal_law_count; i++) {
        put(&w, i ? ", " : "");
        put(&w, bal_law_table[i].name);
    }
    return bal_law_reader_fail(r, BAL_E_UNKNOWN, "no such law; there are %s", names);
}

/* The numbers of `name` (none) or `name(x, y, ...)`, up to the end of the text. */
static enum bal_code read_numbers(struct bal_law_reader *r, double x[NUMBERS], unsigned *count) {
    *count = 0;
    if (bal_law_reader_take(r, '(')) {
        do {
            if (*count == NUMBERS)
                return bal_law_reader_fail(r, BAL_E_RANGE, "more than %d numbers; write %s", NUMBERS,
                                           r->usage);
            const enum bal_code code = bal_law_reader_number(r, &x[*count]);
            if (code)
                return code;
            (*count)++;
        } while (bal_law_reader_take(r, ','));
        if (!bal_law_reader_take(r, ')'))
            return bal_law_reader_expected(r, "',' or ')'");
    }
    return *r->at ? bal_law_reader_expected(r, "the end") : BAL_OK;
}

/* Numbers separated by spaces, at least one and at most BAL_LAW_PHASES. */
static enum bal_code read_list(struct bal_law_reader *r, double x[BAL_LAW_PHASES], unsigned *count) {
    *count = 0;
    for (;;) {
        if (*count == BAL_LAW_PHASES)
            return bal_law_reader_fail(r, BAL_E_RANGE, "there are more than %d phases", BAL_LAW_PHASES);
        const enum bal_code code = bal_law_reader_number(r, &x[*count]);
        if (code)
            return code;
        (*count)++;
        if (*r->at == '\0' || strchr(";/)", *r->at))
            return BAL_OK;
        if (r->at[-1] != ' ' && r->at[-1] != '\t')
            return bal_law_reader_expected(r, "a space, ';', '/' or ')'");
    }
}

/* Checking */

static enum bal_code wrong_count(const struct bal_law_reader *r) {
    return bal_law_reader_fail(r, BAL_E_SYNTAX, "wrong number of parameters; write %s", r->usage);
}

static enum bal_code check(const struct bal_law_reader *r, const char *name, double x, double low,
                           double high) {
    if (x >= low && x <= high)
        return BAL_OK;
    return bal_law_reader_fail(r, BAL_E_RANGE, "%s = %.9g is out of range; it must lie between %g and %g",
                               name, x, low, high);
}

static enum bal_code check_scale(const struct bal_law_reader *r, const char *name, double x) {
    return check(r, name, x, SCALE_MIN, SCALE_MAX);
}

/* Names like P3 for the i-th (from 0) of several numbers. */
static enum bal_code check_ith(const struct bal_law_reader *r, char letter, unsigned i, double x, double low,
                               double high) {
    char name[16];
    snprintf(name, sizeof name, "%c%u", letter, i + 1);
    return check(r, name, x, low, high);
}

/* Probabilities may miss 1 by what a user rounds away; then they are scaled. A second pass finds nothing to
 * do, so that a law that was printed is read back unchanged. */
static void round_to_one(double *p, unsigned n, double sum) {
    if (fabs(sum - 1) <= 2 * BAL_LAW_PHASES * DBL_EPSILON)
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

static enum bal_code check_start(const struct bal_law_reader *r, struct bal_law *law) {
    for (unsigned i = 0; i < law->phases; i++) {
        const enum bal_code code = check_ith(r, 'P', i, law->start[i], 0, 1);
        if (code)
            return code;
    }
    const double sum = sum_of(law->start, law->phases);
    if (fabs(sum - 1) > SUM_SLACK)
        return bal_law_reader_fail(r, BAL_E_RANGE, "the probabilities sum to %.9g; they must sum to 1", sum);
    round_to_one(law->start, law->phases, sum);
    return BAL_OK;
}

static enum bal_code check_rates(const struct bal_law_reader *r, const struct bal_law *law) {
    enum bal_code code = BAL_OK;
    for (unsigned i = 0; i < law->phases && !code; i++)
        code = check_ith(r, 'R', i, law->rate[i], SCALE_MIN, SCALE_MAX);
    return code;
}

static enum bal_code check_row(const struct bal_law_reader *r, double *row, unsigned n, unsigned i) {
    for (unsigned j = 0; j < n; j++)
        if (!(row[j] >= 0 && row[j] <= 1))
            return bal_law_reader_fail(r, BAL_E_RANGE, "row %u of the jumps has %g; it must be a probability",
                                       i + 1, row[j]);
    const double sum = sum_of(row, n);
    if (sum > 1 + SUM_SLACK)
        return bal_law_reader_fail(r, BAL_E_RANGE,
                                   "row %u of the jumps sums to %.9g; it must sum to at most 1", i + 1, sum);
    if (sum > 1)
        round_to_one(row, n, sum);
    return BAL_OK;
}

/* Every phase must lead to the end, and soon enough to be simulated. */
static enum bal_code check_ending(const struct bal_law_reader *r, const struct bal_law *law) {
    double steps[BAL_LAW_PHASES];
    unsigned stuck;
    for (unsigned i = 0; i < law->phases; i++)
        steps[i] = 1;
    if (!bal_law_accumulate(law, steps, &stuck))
        return bal_law_reader_fail(
            r, BAL_E_RANGE, "from phase %u a job never ends; some row must sum to less than 1", stuck + 1);
    for (unsigned i = 0; i < law->phases; i++)
        if (!(steps[i] <= STEPS_MAX))
            return bal_law_reader_fail(r, BAL_E_RANGE,
                                       "from phase %u a job passes %g phases on average; at most %g", i + 1,
                                       steps[i], STEPS_MAX);
    return BAL_OK;
}

/* One function per kind: from the numbers to the fields that bal_law_derive starts from. */

static enum bal_code build_mean(const struct bal_law_reader *r, const double *x, unsigned n,
                                struct bal_law *law) {
    if (n > 1)
        return wrong_count(r);
    law->mean = n == 1 ? x[0] : 1;
    return check_scale(r, "M", law->mean);
}

static enum bal_code build_erlang(const struct bal_law_reader *r, const double *x, unsigned n,
                                  struct bal_law *law) {
    if (n < 1 || n > 2)
        return wrong_count(r);
    if (!(x[0] >= 1 && x[0] <= ERLANG_MAX && x[0] == floor(x[0])))
        return bal_law_reader_fail(r, BAL_E_RANGE, "K = %g must be a whole number from 1 to %d", x[0],
                                   ERLANG_MAX);
    law->phases = (unsigned)x[0];
    return build_mean(r, x + 1, n - 1, law);
}

static enum bal_code build_branches(const struct bal_law_reader *r, const double *x, unsigned n,
                                    struct bal_law *law) {
    law->phases = n / 2;
    for (unsigned i = 0; i < law->phases; i++) {
        law->start[i] = x[2 * i];
        law->rate[i] = x[2 * i + 1];
    }
    const enum bal_code code = check_start(r, law);
    return code ? code : check_rates(r, law);
}

/* C2 and, perhaps, the mean: hyper and lognormal. */
static enum bal_code build_c2(const struct bal_law_reader *r, const double *x, unsigned n, double c2_min,
                              struct bal_law *law) {
    if (n < 1 || n > 2)
        return wrong_count(r);
    law->a = x[0];
    const enum bal_code code = check(r, "C2", law->a, c2_min, C2_MAX);
    return code ? code : build_mean(r, x + 1, n - 1, law);
}

static enum bal_code build_hyper(const struct bal_law_reader *r, const double *x, unsigned n,
                                 struct bal_law *law) {
    if (n >= 4 && n % 2 == 0)
        return build_branches(r, x, n, law);
    return build_c2(r, x, n, 1, law);
}

static enum bal_code build_lognormal(const struct bal_law_reader *r, const double *x, unsigned n,
                                     struct bal_law *law) {
    return build_c2(r, x, n, 1e-12, law);
}

static enum bal_code build_pareto(const struct bal_law_reader *r, const double *x, unsigned n,
                                  struct bal_law *law) {
    if (n < 1 || n > 2)
        return wrong_count(r);
    law->a = x[0];
    if (n == 1 && law->a <= 1)
        return bal_law_reader_fail(r, BAL_E_RANGE, "with A = %g the mean is infinite; A must be above 1",
                                   law->a);
    const enum bal_code code = check(r, "A", law->a, 0.1, 1e6);
    if (code)
        return code;
    law->b = n == 2 ? x[1] : bal_pareto_unit_scale(law->a);
    return check_scale(r, "XM", law->b);
}

static enum bal_code build_bounded(const struct bal_law_reader *r, const double *x, unsigned n,
                                   struct bal_law *law) {
    if (n != 3)
        return wrong_count(r);
    law->a = x[0];
    law->b = x[1];
    law->c = x[2];
    enum bal_code code = check(r, "A", law->a, 1e-6, 1e6);
    if (!code)
        code = check_scale(r, "L", law->b);
    if (!code)
        code = check_scale(r, "H", law->c);
    if (!code && law->b >= law->c)
        code = bal_law_reader_fail(r, BAL_E_RANGE, "L = %g must be below H = %g", law->b, law->c);
    return code;
}

static enum bal_code build_uniform(const struct bal_law_reader *r, const double *x, unsigned n,
                                   struct bal_law *law) {
    if (n != 2)
        return wrong_count(r);
    law->a = x[0];
    law->b = x[1];
    enum bal_code code = check(r, "A", law->a, 0, SCALE_MAX);
    if (!code)
        code = check_scale(r, "B", law->b);
    if (!code && law->a >= law->b)
        code = bal_law_reader_fail(r, BAL_E_RANGE, "A = %g must be below B = %g", law->a, law->b);
    return code;
}

static enum bal_code read_jumps(struct bal_law_reader *r, struct bal_law *law) {
    for (unsigned i = 0; i < law->phases; i++) {
        if (i > 0 && !bal_law_reader_take(r, '/'))
            return bal_law_reader_expected(r, "'/' and another row");
        unsigned count;
        enum bal_code code = read_list(r, law->jump[i], &count);
        if (code)
            return code;
        if (count != law->phases)
            return bal_law_reader_fail(r, BAL_E_SYNTAX, "row %u of the jumps has %u numbers; it must have %u",
                                       i + 1, count, law->phases);
        code = check_row(r, law->jump[i], law->phases, i);
        if (code)
            return code;
    }
    return BAL_OK;
}

static enum bal_code read_phase(struct bal_law_reader *r, struct bal_law *law) {
    if (!bal_law_reader_take(r, '('))
        return bal_law_reader_expected(r, "'('");
    enum bal_code code = read_list(r, law->start, &law->phases);
    if (code)
        return code;
    if (!bal_law_reader_take(r, ';'))
        return bal_law_reader_expected(r, "';'");
    unsigned rates;
    code = read_list(r, law->rate, &rates);
    if (code)
        return code;
    if (rates != law->phases)
        return bal_law_reader_fail(r, BAL_E_SYNTAX,
                                   "the number of rates is %u; it must be %u, one for each phase", rates,
                                   law->phases);
    if (!bal_law_reader_take(r, ';'))
        return bal_law_reader_expected(r, "';'");
    code = check_start(r, law);
    if (!code)
        code = check_rates(r, law);
    if (!code)
        code = read_jumps(r, law);
    if (code)
        return code;
    if (!bal_law_reader_take(r, ')'))
        return bal_law_reader_expected(r, "')'");
    if (*r->at)
        return bal_law_reader_expected(r, "the end");
    return check_ending(r, law);
}

/* How a law of each kind is built from its list of numbers. */
static enum bal_code (*const builders[])(const struct bal_law_reader *, const double *, unsigned,
                                         struct bal_law *) = {
    [BAL_LAW_EXP] = build_mean,
    [BAL_LAW_DET] = build_mean,
    [BAL_LAW_ERLANG] = build_erlang,
    [BAL_LAW_HYPER] = build_hyper,
    [BAL_LAW_LOGNORMAL] = build_lognormal,
    [BAL_LAW_PARETO] = build_pareto,
    [BAL_LAW_BOUNDED_PARETO] = build_bounded,
    [BAL_LAW_UNIFORM] = build_uniform,
};

static enum bal_code read_other(struct bal_law_reader *r, struct bal_law *law) {
    double x[NUMBERS];
    unsigned n;
    const enum bal_code code = read_numbers(r, x, &n);
    return code ? code : builders[law->kind](r, x, n, law);
}

enum bal_code bal_law_parse(const char *text, struct bal_law *law, struct bal_error *err) {
    struct bal_law_reader r = {.text = text, .at = text, .err = err};
    enum bal_code code = read_name(&r);
    if (code)
        return code;
    struct bal_law read = {.kind = (enum bal_law_kind)r.which};
    code = read.kind == BAL_LAW_PHASE ? read_phase(&r, &read) : read_other(&r, &read);
    if (code)
        return code;
    bal_law_derive(&read);
    *law = read;
    return BAL_OK;
}

/* Writing */

/* mark, number, mark, number, ...: the marks are "(" "," and the like. */
static void put_number(struct writer *w, const char *mark, double x) {
    char text[BAL_NUMBER_TEXT];
    bal_number_print(x, text);
    put(w, mark);
    put(w, text);
}

/* The last parameter, a mean that is left out where it is 1. */
static void put_mean(struct writer *w, const char *mark, double mean) {
    if (mean != 1)
        put_number(w, mark, mean);
}

static void put_list(struct writer *w, const char *mark, const double *x, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        put_number(w, i == 0 ? mark : " ", x[i]);
}

static void put_hyper(struct writer *w, const struct bal_law *law) {
    if (law->a > 0) {
        put_number(w, "(", law->a);
        put_mean(w, ",", law->mean);
        return;
    }
    for (unsigned i = 0; i < law->phases; i++) {
        put_number(w, i == 0 ? "(" : ",", law->start[i]);
        put_number(w, ",", law->rate[i]);
    }
}

static void put_phase(struct writer *w, const struct bal_law *law) {
    put_list(w, "(", law->start, law->phases);
    put_list(w, ";", law->rate, law->phases);
    for (unsigned i = 0; i < law->phases; i++)
        put_list(w, i == 0 ? ";" : "/", law->jump[i], law->phases);
}

size_t bal_law_print(const struct bal_law *law, char *text, size_t size) {
    struct writer w = {.text = text, .size = size};
    put(&w, bal_law_table[law->kind].name);
    const size_t bare = w.length;
    switch (law->kind) {
    case BAL_LAW_EXP:
    case BAL_LAW_DET:
        put_mean(&w, "(", law->mean);
        break;
    case BAL_LAW_ERLANG:
        put_number(&w, "(", law->phases);
        put_mean(&w, ",", law->mean);
        break;
    case BAL_LAW_HYPER:
        put_hyper(&w, law);
        break;
    case BAL_LAW_PHASE:
        put_phase(&w, law);
        break;
    case BAL_LAW_LOGNORMAL:
        put_number(&w, "(", law->a);
        put_mean(&w, ",", law->mean);
        break;
    case BAL_LAW_PARETO:
        put_number(&w, "(", law->a);
        if (law->b != bal_pareto_unit_scale(law->a))
            put_number(&w, ",", law->b);
        break;
    case BAL_LAW_BOUNDED_PARETO:
        put_number(&w, "(", law->a);
        put_number(&w, ",", law->b);
        put_number(&w, ",", law->c);
        break;
    case BAL_LAW_UNIFORM:
        put_number(&w, "(", law->a);
        put_number(&w, ",", law->b);
        break;
    }
    if (w.length > bare)
        put(&w, ")");
    return w.length;
}
