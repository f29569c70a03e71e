/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of whole numbers: text, moments, draws. The reader accepts any bytes: it returns a
 * distribution or an error of one line that names what would be right. */
#include "ballast/batch.h"

#include "ballast/number.h"
#include "workload/dist_reader.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct bli_batch_info bli_batch_table[] = {
    {"poisson", "poisson or poisson(M)", "Poisson of mean M"},
    {"geometric", "geometric or geometric(M)", "geometric from 0 on, of mean M"},
    {"bernoulli", "bernoulli or bernoulli(P)", "one with probability P, else none"},
    {"constant", "constant(K) or K", "always K"},
    {"uniform", "uniform(A,B)", "uniform on the whole numbers from A to B"},
    {"table", "table(V:P ...)", "V with probability P, for each pair V:P"},
};
const size_t bli_batch_count = sizeof bli_batch_table / sizeof *bli_batch_table;

static const struct bli_batch_info *info_of(enum bli_batch_kind kind) {
    return &bli_batch_table[kind - 1];
}

/* Reading */

static enum bal_code read_whole(struct bli_dist_reader *r, const char *name, uint32_t *whole) {
    double value;
    const enum bal_code code = bli_dist_reader_number(r, &value);
    if (code)
        return code;
    if (!(value >= 0 && value <= BLI_BATCH_MAX && value == floor(value)))
        return bli_dist_reader_fail(r, BAL_E_RANGE, "%s = %g is not a whole number from 0 to %d", name, value,
                                    BLI_BATCH_MAX);
    *whole = (uint32_t)value;
    return BAL_OK;
}

static enum bal_code read_name(struct bli_dist_reader *r) {
    bli_dist_reader_skip_spaces(r);
    const size_t length = strcspn(r->at, " \t(");
    for (size_t i = 0; i < bli_batch_count; i++) {
        const char *name = bli_batch_table[i].name;
        if (strlen(name) == length && memcmp(r->at, name, length) == 0) {
            r->which = (unsigned)i;
            r->usage = bli_batch_table[i].usage;
            r->at += length;
            return BAL_OK;
        }
    }
    double value;
    if (bli_number_read(r->at, &value)) {
        r->which = BLI_BATCH_CONSTANT - 1;
        r->usage = info_of(BLI_BATCH_CONSTANT)->usage;
        return BAL_OK;
    }
    char names[200] = "";
    for (size_t i = 0; i < bli_batch_count; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", bli_batch_table[i].name);
    }
    return bli_dist_reader_fail(r, BAL_E_UNKNOWN, "no such law of whole numbers; there are %s", names);
}

/* poisson, geometric, bernoulli: nothing or (mean). */
static enum bal_code read_mean(struct bli_dist_reader *r, struct bli_batch *batch) {
    batch->low = 0;
    batch->high = batch->kind == BLI_BATCH_BERNOULLI ? 1 : UINT32_MAX;
    batch->open = true;
    batch->mean = NAN;
    if (!bli_dist_reader_accept(r, '('))
        return BAL_OK;
    enum bal_code code = bli_dist_reader_number(r, &batch->mean);
    if (code)
        return code;
    batch->open = false;
    const double most = batch->kind == BLI_BATCH_BERNOULLI ? 1 : BLI_BATCH_MAX;
    if (!(batch->mean > 0 && batch->mean <= most))
        return bli_dist_reader_fail(r, BAL_E_RANGE, "the mean %g must be above 0 and at most %.0f",
                                    batch->mean, most);
    return bli_dist_reader_accept(r, ')') ? BAL_OK : bli_dist_reader_expected(r, "')'");
}

static enum bal_code read_constant(struct bli_dist_reader *r, struct bli_batch *batch) {
    const bool bare = r->at == r->text + strspn(r->text, " \t"); /* without its name */
    if (!bare && !bli_dist_reader_accept(r, '('))
        return bli_dist_reader_expected(r, "'('");
    const enum bal_code code = read_whole(r, "K", &batch->low);
    if (code)
        return code;
    batch->high = batch->low;
    batch->mean = batch->low;
    return bare || bli_dist_reader_accept(r, ')') ? BAL_OK : bli_dist_reader_expected(r, "')'");
}

static enum bal_code read_uniform(struct bli_dist_reader *r, struct bli_batch *batch) {
    if (!bli_dist_reader_accept(r, '('))
        return bli_dist_reader_expected(r, "'('");
    enum bal_code code = read_whole(r, "A", &batch->low);
    if (code)
        return code;
    if (!bli_dist_reader_accept(r, ','))
        return bli_dist_reader_expected(r, "','");
    code = read_whole(r, "B", &batch->high);
    if (code)
        return code;
    if (batch->low >= batch->high)
        return bli_dist_reader_fail(r, BAL_E_RANGE, "A = %u must be below B = %u", batch->low, batch->high);
    batch->mean = 0.5 * ((double)batch->low + batch->high);
    return bli_dist_reader_accept(r, ')') ? BAL_OK : bli_dist_reader_expected(r, "')'");
}

/* Adds a pair at its place in the ascending order. */
static enum bal_code add_pair(const struct bli_dist_reader *r, struct bli_batch *batch, uint32_t value,
                              double p) {
    if (batch->values == BLI_BATCH_VALUES)
        return bli_dist_reader_fail(r, BAL_E_RANGE, "there are more than %d values", BLI_BATCH_VALUES);
    uint32_t i = batch->values++;
    for (; i > 0 && batch->value[i - 1] > value; i--) {
        batch->value[i] = batch->value[i - 1];
        batch->probability[i] = batch->probability[i - 1];
    }
    if (i > 0 && batch->value[i - 1] == value)
        return bli_dist_reader_fail(r, BAL_E_SYNTAX, "the value %u is given twice; give it once", value);
    batch->value[i] = value;
    batch->probability[i] = p;
    return BAL_OK;
}

static enum bal_code read_pair(struct bli_dist_reader *r, struct bli_batch *batch) {
    uint32_t value = 0;
    enum bal_code code = read_whole(r, "V", &value);
    if (code)
        return code;
    if (!bli_dist_reader_accept(r, ':'))
        return bli_dist_reader_expected(r, "':'");
    double p;
    code = bli_dist_reader_number(r, &p);
    if (code)
        return code;
    if (!(p > 0 && p <= 1))
        return bli_dist_reader_fail(r, BAL_E_RANGE, "P = %g is not a probability above 0", p);
    return add_pair(r, batch, value, p);
}

/* Probabilities may miss 1 by what a user rounds away; then they are scaled. A second pass finds nothing to
 * do, so that a distribution that was printed is read back unchanged. */
static enum bal_code normalize_table(const struct bli_dist_reader *r, struct bli_batch *batch) {
    double sum = 0;
    for (uint32_t i = 0; i < batch->values; i++)
        sum += batch->probability[i];
    if (fabs(sum - 1) > 1e-5)
        return bli_dist_reader_fail(r, BAL_E_RANGE, "the probabilities sum to %g; they must sum to 1", sum);
    if (fabs(sum - 1) > 2 * BLI_BATCH_VALUES * DBL_EPSILON)
        for (uint32_t i = 0; i < batch->values; i++)
            batch->probability[i] /= sum;
    for (uint32_t i = 0; i < batch->values; i++)
        batch->mean += batch->probability[i] * batch->value[i];
    batch->low = batch->value[0];
    batch->high = batch->value[batch->values - 1];
    return BAL_OK;
}

static enum bal_code read_table(struct bli_dist_reader *r, struct bli_batch *batch) {
    if (!bli_dist_reader_accept(r, '('))
        return bli_dist_reader_expected(r, "'('");
    do {
        const enum bal_code code = read_pair(r, batch);
        if (code)
            return code;
    } while (*r->at != ')' && (r->at[-1] == ' ' || r->at[-1] == '\t'));
    return bli_dist_reader_accept(r, ')') ? normalize_table(r, batch)
                                          : bli_dist_reader_expected(r, "a space or ')'");
}

enum bal_code bli_batch_parse(const char *text, struct bli_batch *batch, struct bal_error *err) {
    struct bli_dist_reader r = {.text = text, .at = text, .err = err};
    enum bal_code code = read_name(&r);
    if (code)
        return code;
    struct bli_batch read = {.kind = (enum bli_batch_kind)(r.which + 1)};
    code = read.kind == BLI_BATCH_CONSTANT  ? read_constant(&r, &read)
           : read.kind == BLI_BATCH_UNIFORM ? read_uniform(&r, &read)
           : read.kind == BLI_BATCH_TABLE   ? read_table(&r, &read)
                                            : read_mean(&r, &read);
    if (code)
        return code;
    bli_dist_reader_skip_spaces(&r);
    if (*r.at)
        return bli_dist_reader_expected(&r, "the end");
    *batch = read;
    return BAL_OK;
}

enum bal_code bli_batch_set_mean(struct bli_batch *batch, double mean, struct bal_error *err) {
    assert(batch->open);
    const double most = batch->kind == BLI_BATCH_BERNOULLI ? 1 : BLI_BATCH_MAX;
    if (!(mean > 0 && mean <= most))
        return bal_fail(err, BAL_E_RANGE, "batch '%s' cannot bring %g jobs a slot; its mean is at most %.0f",
                        info_of(batch->kind)->name, mean, most);
    batch->open = false;
    batch->mean = mean;
    return BAL_OK;
}

/* Writing */

static size_t append_text(char *text, size_t size, size_t length, const char *piece) {
    if (length < size)
        snprintf(text + length, size - length, "%s", piece);
    return length + strlen(piece);
}

static size_t append_number(char *text, size_t size, size_t length, const char *mark, double value) {
    char number[BLI_NUMBER_TEXT];
    bli_number_print(value, number);
    return append_text(text, size, append_text(text, size, length, mark), number);
}

size_t bli_batch_print(const struct bli_batch *batch, char *text, size_t size) {
    assert(batch->kind != BLI_BATCH_NONE);
    size_t length = append_text(text, size, 0, info_of(batch->kind)->name);
    if (batch->open)
        return length;
    switch (batch->kind) {
    case BLI_BATCH_UNIFORM:
        length = append_number(text, size, length, "(", batch->low);
        length = append_number(text, size, length, ",", batch->high);
        break;
    case BLI_BATCH_TABLE:
        for (uint32_t i = 0; i < batch->values; i++) {
            length = append_number(text, size, length, i ? " " : "(", batch->value[i]);
            length = append_number(text, size, length, ":", batch->probability[i]);
        }
        break;
    default:
        length = append_number(text, size, length, "(", batch->mean);
    }
    return append_text(text, size, length, ")");
}

/* Moments */

static double table_variance(const struct bli_batch *batch) {
    double sum = 0;
    for (uint32_t i = 0; i < batch->values; i++)
        sum += batch->probability[i] * (batch->value[i] - batch->mean) * (batch->value[i] - batch->mean);
    return sum;
}

double bli_batch_variance(const struct bli_batch *batch) {
    const double mean = batch->mean;
    switch (batch->kind) {
    case BLI_BATCH_POISSON:
        return mean;
    case BLI_BATCH_GEOMETRIC:
        return mean * (1 + mean);
    case BLI_BATCH_BERNOULLI:
        return mean * (1 - mean);
    case BLI_BATCH_UNIFORM: {
        const double width = (double)batch->high - batch->low;
        return width * (width + 2) / 12;
    }
    case BLI_BATCH_TABLE:
        return table_variance(batch);
    default:
        return 0;
    }
}

/* Sampling */

/* cumulated[i]: probability of at most value[i]; the last value takes whatever rounding left. */
static void cumulate_probabilities(const struct bli_batch *batch, double cumulated[BLI_BATCH_VALUES]) {
    double sum = 0;
    for (uint32_t i = 0; i + 1 < batch->values; i++)
        cumulated[i] = sum += batch->probability[i];
}

static inline uint32_t find_value(const struct bli_batch *batch, const double *cumulated, double u) {
    uint32_t i = 0;
    for (uint32_t j = 0; j + 1 < batch->values; j++)
        i += u >= cumulated[j]; /* no early exit: it could not be predicted */
    return batch->value[i];
}

static uint32_t clamp_count(uint64_t count) {
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

uint32_t bli_batch_sample(const struct bli_batch *batch, struct bal_rng *rng) {
    assert(!batch->open);
    switch (batch->kind) {
    case BLI_BATCH_POISSON:
        return clamp_count(bal_rng_poisson(rng, batch->mean));
    case BLI_BATCH_GEOMETRIC:
        return clamp_count(bal_rng_geometric(rng, 1 / (1 + batch->mean)));
    case BLI_BATCH_BERNOULLI:
        return bal_rng_uniform(rng) < batch->mean;
    case BLI_BATCH_CONSTANT:
        return batch->low;
    case BLI_BATCH_UNIFORM:
        return batch->low + bal_rng_below(rng, batch->high - batch->low + 1);
    case BLI_BATCH_TABLE: {
        double cumulated[BLI_BATCH_VALUES];
        cumulate_probabilities(batch, cumulated);
        return find_value(batch, cumulated, bal_rng_uniform(rng));
    }
    case BLI_BATCH_NONE:
        break;
    }
    assert(false); /* a distribution of no kind */
    return 0;
}

/* Uniform on {low, ..., low + n - 1}, n <= LANES_MAX: four draws from each word, 16 bits each, without bias
 * (the method of Lemire 2019 for short words): x n / 2^16 with x uniform on 16 bits, redrawn where x n mod
 * 2^16 < 2^16 mod n. */
enum { LANES_MAX = 256, LANES = 4, BLOCK = 64 };

static uint32_t redraw_below(uint32_t n, struct bal_rng *rng) {
    uint32_t product;
    do
        product = (uint32_t)(bal_rng_next(rng) >> 48) * n;
    while ((product & 0xffff) < 0x10000 % n);
    return product >> 16;
}

static void fill_block(uint32_t low, uint32_t n, struct bal_rng *rng, uint32_t out[BLOCK], size_t count) {
    uint16_t lane[BLOCK];
    for (size_t i = 0; i < count; i += LANES) {
        const uint64_t word = bal_rng_next(rng);
        for (unsigned j = 0; j < LANES; j++)
            lane[i + j] = (uint16_t)(word >> (16 * j));
    }
    const uint32_t threshold = 0x10000 % n;
    uint32_t rejected = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t product = lane[i] * n;
        out[i] = low + (product >> 16);
        rejected |= (product & 0xffff) < threshold;
    }
    if (__builtin_expect(rejected, 0))
        for (size_t i = 0; i < count; i++)
            if (((lane[i] * n) & 0xffff) < threshold)
                out[i] = low + redraw_below(n, rng);
}

static void fill_uniform(const struct bli_batch *batch, struct bal_rng *rng, uint32_t *out, size_t count) {
    const uint32_t n = batch->high - batch->low + 1;
    struct bal_rng local = *rng; /* in registers */
    if (n <= LANES_MAX)
        for (size_t i = 0; i < count; i += BLOCK)
            fill_block(batch->low, n, &local, out + i, count - i < BLOCK ? count - i : BLOCK);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = batch->low + bal_rng_below(&local, n);
    *rng = local;
}

static void fill_table(const struct bli_batch *batch, struct bal_rng *rng, uint32_t *out, size_t count) {
    double cumulated[BLI_BATCH_VALUES];
    cumulate_probabilities(batch, cumulated);
    for (size_t i = 0; i < count; i++)
        out[i] = find_value(batch, cumulated, bal_rng_uniform(rng));
}

void bli_batch_sample_many(const struct bli_batch *batch, struct bal_rng *rng, uint32_t *out, size_t count) {
    if (batch->kind == BLI_BATCH_UNIFORM)
        fill_uniform(batch, rng, out, count);
    else if (batch->kind == BLI_BATCH_TABLE)
        fill_table(batch, rng, out, count);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = bli_batch_sample(batch, rng);
}
